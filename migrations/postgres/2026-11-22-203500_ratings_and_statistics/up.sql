-- What end users think of replies.
CREATE TABLE ratings (
    conversation_id TEXT COLLATE "C" NOT NULL,
    position BIGINT NOT NULL,
    account_id TEXT COLLATE "C" NOT NULL,
    value TEXT NOT NULL,
    comment TEXT,
    rated_at BIGINT NOT NULL,
    PRIMARY KEY (conversation_id, position),
    FOREIGN KEY (conversation_id, position) REFERENCES messages (conversation_id, position) ON DELETE CASCADE
);

-- Through which interface a conversation began, and how many of its replies cite nothing, are rated up and are rated down.
ALTER TABLE conversations ADD COLUMN channel TEXT NOT NULL DEFAULT 'api';
ALTER TABLE conversations ADD COLUMN unanswered BIGINT NOT NULL DEFAULT 0;
ALTER TABLE conversations ADD COLUMN rated_up BIGINT NOT NULL DEFAULT 0;
ALTER TABLE conversations ADD COLUMN rated_down BIGINT NOT NULL DEFAULT 0;
UPDATE conversations SET unanswered = (
    SELECT count(*) FROM messages
    WHERE messages.conversation_id = conversations.id AND messages.role = 'assistant' AND messages.sources_used IS NULL
);
CREATE INDEX conversations_unanswered ON conversations (agent_id, created_at, id) WHERE unanswered > 0;
CREATE INDEX conversations_rated_up ON conversations (agent_id, created_at, id) WHERE rated_up > 0;
CREATE INDEX conversations_rated_down ON conversations (agent_id, created_at, id) WHERE rated_down > 0;

-- What became of an agent's messages on a day: `latency_1` and the others count the replies that took up to 50, 100, 200, 500,
-- 1,000, 2,000, 5,000, 10,000 and 30,000 ms, and more.
ALTER TABLE usage_days ADD COLUMN conversations BIGINT NOT NULL DEFAULT 0;
ALTER TABLE usage_days ADD COLUMN answered BIGINT NOT NULL DEFAULT 0;
ALTER TABLE usage_days ADD COLUMN unanswered BIGINT NOT NULL DEFAULT 0;
ALTER TABLE usage_days ADD COLUMN rated_up BIGINT NOT NULL DEFAULT 0;
ALTER TABLE usage_days ADD COLUMN rated_down BIGINT NOT NULL DEFAULT 0;
ALTER TABLE usage_days ADD COLUMN latency_ms BIGINT NOT NULL DEFAULT 0;
ALTER TABLE usage_days ADD COLUMN latency_1 BIGINT NOT NULL DEFAULT 0;
ALTER TABLE usage_days ADD COLUMN latency_2 BIGINT NOT NULL DEFAULT 0;
ALTER TABLE usage_days ADD COLUMN latency_3 BIGINT NOT NULL DEFAULT 0;
ALTER TABLE usage_days ADD COLUMN latency_4 BIGINT NOT NULL DEFAULT 0;
ALTER TABLE usage_days ADD COLUMN latency_5 BIGINT NOT NULL DEFAULT 0;
ALTER TABLE usage_days ADD COLUMN latency_6 BIGINT NOT NULL DEFAULT 0;
ALTER TABLE usage_days ADD COLUMN latency_7 BIGINT NOT NULL DEFAULT 0;
ALTER TABLE usage_days ADD COLUMN latency_8 BIGINT NOT NULL DEFAULT 0;
ALTER TABLE usage_days ADD COLUMN latency_9 BIGINT NOT NULL DEFAULT 0;
ALTER TABLE usage_days ADD COLUMN latency_10 BIGINT NOT NULL DEFAULT 0;
