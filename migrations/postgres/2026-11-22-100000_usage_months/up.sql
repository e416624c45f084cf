-- What an account used in a month of UTC, which begins on `month`, a day since 1970: added up as it is
-- used, so that checking a quota reads one row.
CREATE TABLE usage_months (
    account_id TEXT COLLATE "C" NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    month BIGINT NOT NULL,
    messages BIGINT NOT NULL,
    tokens BIGINT NOT NULL,
    PRIMARY KEY (account_id, month)
);
INSERT INTO usage_months (account_id, month, messages, tokens)
SELECT account_id, date_trunc('month', DATE '1970-01-01' + day::int)::date - DATE '1970-01-01',
    sum(messages), sum(prompt_tokens + completion_tokens)
FROM usage_days GROUP BY 1, 2;
CREATE INDEX usage_days_by_age ON usage_days (day);
