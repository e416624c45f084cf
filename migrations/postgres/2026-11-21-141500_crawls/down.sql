DROP TABLE crawl_pages;
DROP TABLE crawls;
CREATE TABLE source_pages (
    source_id TEXT COLLATE "C" NOT NULL REFERENCES sources (id) ON DELETE CASCADE,
    position BIGINT NOT NULL,
    account_id TEXT COLLATE "C" NOT NULL,
    url TEXT NOT NULL,
    status TEXT NOT NULL,
    title TEXT,
    character_count BIGINT,
    http_status BIGINT,
    reason TEXT,
    fetched_at BIGINT,
    PRIMARY KEY (source_id, position)
);

-- What a crawl under way has brought in is dropped with it.
DELETE FROM documents WHERE version IS NULL;
DROP INDEX passages_of_document;
ALTER TABLE passages
    DROP COLUMN document,
    ADD FOREIGN KEY (source_id) REFERENCES sources (id) ON DELETE CASCADE;
ALTER TABLE documents ADD COLUMN text TEXT;
UPDATE documents d SET text = t.text
FROM document_texts t WHERE t.source_id = d.source_id AND t.position = d.position;
ALTER TABLE documents ALTER COLUMN text SET NOT NULL, DROP COLUMN version, DROP COLUMN character_count;
DROP TABLE document_texts;
