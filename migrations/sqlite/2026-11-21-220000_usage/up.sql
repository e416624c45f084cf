-- Days after which a conversation without a new message is removed; null for never.
ALTER TABLE agents ADD COLUMN retention_days INTEGER;

-- What an account may use in a calendar month of UTC: null is what the settings say, -1 any number.
ALTER TABLE accounts ADD COLUMN messages_per_month INTEGER;
ALTER TABLE accounts ADD COLUMN tokens_per_month INTEGER;

-- What was used, by days of UTC since 1970. Without a reference to the agent: it counts also when that
-- is gone.
CREATE TABLE usage_days (
    account_id TEXT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    day INTEGER NOT NULL,
    agent_id TEXT NOT NULL,
    messages INTEGER NOT NULL,
    prompt_tokens INTEGER NOT NULL,
    completion_tokens INTEGER NOT NULL,
    PRIMARY KEY (account_id, day, agent_id)
) STRICT;
