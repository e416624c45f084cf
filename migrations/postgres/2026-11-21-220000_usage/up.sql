-- Days after which a conversation without a new message is removed; null for never.
ALTER TABLE agents ADD COLUMN retention_days BIGINT;

-- What an account may use in a calendar month of UTC: null is what the settings say, -1 any number.
ALTER TABLE accounts ADD COLUMN messages_per_month BIGINT;
ALTER TABLE accounts ADD COLUMN tokens_per_month BIGINT;

-- What was used, by days of UTC since 1970. Without a reference to the agent: it counts also when that
-- is gone.
CREATE TABLE usage_days (
    account_id TEXT COLLATE "C" NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    day BIGINT NOT NULL,
    agent_id TEXT COLLATE "C" NOT NULL,
    messages BIGINT NOT NULL,
    prompt_tokens BIGINT NOT NULL,
    completion_tokens BIGINT NOT NULL,
    PRIMARY KEY (account_id, day, agent_id)
);
