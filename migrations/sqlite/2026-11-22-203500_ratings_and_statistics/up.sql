-- What end users think of replies.
CREATE TABLE ratings (
    conversation_id TEXT NOT NULL,
    position INTEGER NOT NULL,
    account_id TEXT NOT NULL,
    value TEXT NOT NULL,
    comment TEXT,
    rated_at INTEGER NOT NULL,
    PRIMARY KEY (conversation_id, position),
    FOREIGN KEY (conversation_id, position) REFERENCES messages (conversation_id, position) ON DELETE CASCADE
) STRICT;

-- Through which interface a conversation began, and how many of its replies cite nothing, are rated up and are rated down.
ALTER TABLE conversations ADD COLUMN channel TEXT NOT NULL DEFAULT 'api';
ALTER TABLE conversations ADD COLUMN unanswered INTEGER NOT NULL DEFAULT 0;
ALTER TABLE conversations ADD COLUMN rated_up INTEGER NOT NULL DEFAULT 0;
ALTER TABLE conversations ADD COLUMN rated_down INTEGER NOT NULL DEFAULT 0;
UPDATE conversations SET unanswered = (
    SELECT count(*) FROM messages
    WHERE messages.conversation_id = conversations.id AND messages.role = 'assistant' AND messages.sources_used IS NULL
);
CREATE INDEX conversations_unanswered ON conversations (agent_id, created_at, id) WHERE unanswered > 0;
CREATE INDEX conversations_rated_up ON conversations (agent_id, created_at, id) WHERE rated_up > 0;
CREATE INDEX conversations_rated_down ON conversations (agent_id, created_at, id) WHERE rated_down > 0;

-- What became of an agent's messages on a day: `latency_1` and the others count the replies that took up to 50, 100, 200, 500,
-- 1,000, 2,000, 5,000, 10,000 and 30,000 ms, and more.
ALTER TABLE usage_days ADD COLUMN conversations INTEGER NOT NULL DEFAULT 0;
ALTER TABLE usage_days ADD COLUMN answered INTEGER NOT NULL DEFAULT 0;
ALTER TABLE usage_days ADD COLUMN unanswered INTEGER NOT NULL DEFAULT 0;
ALTER TABLE usage_days ADD COLUMN rated_up INTEGER NOT NULL DEFAULT 0;
ALTER TABLE usage_days ADD COLUMN rated_down INTEGER NOT NULL DEFAULT 0;
ALTER TABLE usage_days ADD COLUMN latency_ms INTEGER NOT NULL DEFAULT 0;
ALTER TABLE usage_days ADD COLUMN latency_1 INTEGER NOT NULL DEFAULT 0;
ALTER TABLE usage_days ADD COLUMN latency_2 INTEGER NOT NULL DEFAULT 0;
ALTER TABLE usage_days ADD COLUMN latency_3 INTEGER NOT NULL DEFAULT 0;
ALTER TABLE usage_days ADD COLUMN latency_4 INTEGER NOT NULL DEFAULT 0;
ALTER TABLE usage_days ADD COLUMN latency_5 INTEGER NOT NULL DEFAULT 0;
ALTER TABLE usage_days ADD COLUMN latency_6 INTEGER NOT NULL DEFAULT 0;
ALTER TABLE usage_days ADD COLUMN latency_7 INTEGER NOT NULL DEFAULT 0;
ALTER TABLE usage_days ADD COLUMN latency_8 INTEGER NOT NULL DEFAULT 0;
ALTER TABLE usage_days ADD COLUMN latency_9 INTEGER NOT NULL DEFAULT 0;
ALTER TABLE usage_days ADD COLUMN latency_10 INTEGER NOT NULL DEFAULT 0;
