-- A stored answer is one text of the adapter that gave it: status and media type in a line, then the body.
ALTER TABLE idempotency ADD COLUMN is_refusal INTEGER NOT NULL DEFAULT 0;
UPDATE idempotency SET is_refusal = 1 WHERE status >= 400;
UPDATE idempotency SET
    body = CAST(status || ' ' || coalesce(content_type, '') || char(10) || CAST(body AS TEXT) AS BLOB)
    WHERE body IS NOT NULL;
ALTER TABLE idempotency DROP COLUMN content_type;
ALTER TABLE idempotency DROP COLUMN status;
