-- Whether a crawl of a website replaces its content only if all checks that pass now pass with the new content too.
ALTER TABLE sources ADD COLUMN guarded INTEGER NOT NULL DEFAULT 0;
