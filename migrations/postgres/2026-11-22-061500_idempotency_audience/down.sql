ALTER TABLE idempotency DROP COLUMN holds_secret;
ALTER TABLE idempotency DROP COLUMN answer_agents;
ALTER TABLE idempotency DROP COLUMN maker_agents;
