-- `maker_agents` are the only agents that existed for the key that made the request, `answer_agents` those
-- that the answer names; null is the account as a whole.
ALTER TABLE idempotency ADD COLUMN maker_agents TEXT;
ALTER TABLE idempotency ADD COLUMN answer_agents TEXT;
ALTER TABLE idempotency ADD COLUMN holds_secret INTEGER NOT NULL DEFAULT 0;
UPDATE idempotency SET answer_agents = '["' || subject_agent_id || '"]'
WHERE subject_agent_id IS NOT NULL;
-- Who made a request of before is not known. A refusal had no effect and may be carried out again; an
-- answer about a key or a webhook endpoint is not given again.
DELETE FROM idempotency WHERE state = 'completed' AND status >= 400;
UPDATE idempotency SET state = 'erased', status = NULL, content_type = NULL, body = NULL,
    subject_id = NULL, subject_agent_id = NULL, answer_agents = NULL
WHERE subject_id LIKE 'key_%' OR subject_id LIKE 'whep_%';
