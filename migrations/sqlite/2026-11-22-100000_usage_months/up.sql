-- What an account used in a month of UTC, which begins on `month`, a day since 1970: added up as it is
-- used, so that checking a quota reads one row.
CREATE TABLE usage_months (
    account_id TEXT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    month INTEGER NOT NULL,
    messages INTEGER NOT NULL,
    tokens INTEGER NOT NULL,
    PRIMARY KEY (account_id, month)
) STRICT;
INSERT INTO usage_months (account_id, month, messages, tokens)
SELECT account_id, CAST(julianday(date(day * 86400, 'unixepoch', 'start of month')) - 2440587.5 AS INTEGER),
    sum(messages), sum(prompt_tokens + completion_tokens)
FROM usage_days GROUP BY 1, 2;
CREATE INDEX usage_days_by_age ON usage_days (day);
