-- Documents that nobody sees: those of running jobs, and those that are to be removed after their job.
CREATE INDEX documents_unseen ON documents (source_id, position) WHERE version IS NULL;
