-- A stored answer is one text of the adapter that gave it: status and media type in a line, then the body.
ALTER TABLE idempotency ADD COLUMN is_refusal BOOLEAN NOT NULL DEFAULT FALSE;
UPDATE idempotency SET is_refusal = TRUE WHERE status >= 400;
UPDATE idempotency SET
    body = convert_to(status || ' ' || coalesce(content_type, '') || chr(10), 'UTF8') || body
    WHERE body IS NOT NULL;
ALTER TABLE idempotency DROP COLUMN content_type;
ALTER TABLE idempotency DROP COLUMN status;
