ALTER TABLE idempotency ADD COLUMN status INTEGER;
ALTER TABLE idempotency ADD COLUMN content_type TEXT;
UPDATE idempotency SET
    status = CAST(substr(CAST(body AS TEXT), 1, 3) AS INTEGER),
    content_type = nullif(
        substr(CAST(body AS TEXT), 5, instr(CAST(body AS TEXT), char(10)) - 5), ''
    ),
    body = CAST(substr(CAST(body AS TEXT), instr(CAST(body AS TEXT), char(10)) + 1) AS BLOB)
    WHERE body IS NOT NULL;
ALTER TABLE idempotency DROP COLUMN is_refusal;
