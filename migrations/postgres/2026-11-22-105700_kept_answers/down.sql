ALTER TABLE idempotency ADD COLUMN status BIGINT;
ALTER TABLE idempotency ADD COLUMN content_type TEXT;
UPDATE idempotency SET
    status = CAST(convert_from(substring(body FROM 1 FOR 3), 'UTF8') AS BIGINT),
    content_type = nullif(
        convert_from(substring(body FROM 5 FOR position('\x0a'::bytea IN body) - 5), 'UTF8'), ''
    ),
    body = substring(body FROM position('\x0a'::bytea IN body) + 1)
    WHERE body IS NOT NULL;
ALTER TABLE idempotency DROP COLUMN is_refusal;
