-- Work that waits apart, and the order of its accounts: the next job is that of the account with the
-- fewest running ones.
ALTER TABLE jobs ADD COLUMN lane TEXT COLLATE "C" NOT NULL DEFAULT 'quick';
UPDATE jobs SET lane = (SELECT source_type FROM sources WHERE sources.id = jobs.source_id)
    WHERE source_id IN (SELECT id FROM sources WHERE source_type IN ('file', 'website'));
DROP INDEX jobs_due;
CREATE INDEX jobs_due ON jobs (state, lane, due_at, queued_at, id, account_id);
CREATE INDEX jobs_of_account ON jobs (state, lane, account_id, due_at, queued_at, id);
