DROP INDEX jobs_of_account;
DROP INDEX jobs_due;
ALTER TABLE jobs DROP COLUMN lane;
CREATE INDEX jobs_due ON jobs (state, due_at, queued_at, id);
