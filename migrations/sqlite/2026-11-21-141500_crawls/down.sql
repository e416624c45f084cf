DROP TABLE crawl_pages;
DROP TABLE crawls;
CREATE TABLE source_pages (
    source_id TEXT NOT NULL REFERENCES sources (id) ON DELETE CASCADE,
    position INTEGER NOT NULL,
    account_id TEXT NOT NULL,
    url TEXT NOT NULL,
    status TEXT NOT NULL,
    title TEXT,
    character_count INTEGER,
    http_status INTEGER,
    reason TEXT,
    fetched_at INTEGER,
    PRIMARY KEY (source_id, position)
) STRICT;

-- What a crawl under way has brought in is dropped with it.
CREATE TABLE old_passages (
    source_id TEXT NOT NULL REFERENCES sources (id) ON DELETE CASCADE,
    position INTEGER NOT NULL,
    account_id TEXT NOT NULL,
    title TEXT,
    heading TEXT,
    url TEXT,
    page INTEGER,
    text TEXT NOT NULL,
    is_pair INTEGER NOT NULL,
    language TEXT,
    PRIMARY KEY (source_id, position)
) STRICT;
INSERT INTO old_passages
SELECT p.source_id, p.position, p.account_id, p.title, p.heading, p.url, p.page, p.text, p.is_pair,
    p.language
FROM passages p
JOIN documents d ON d.source_id = p.source_id AND d.position = p.document
WHERE d.version IS NOT NULL;

CREATE TABLE old_documents (
    source_id TEXT NOT NULL REFERENCES sources (id) ON DELETE CASCADE,
    position INTEGER NOT NULL,
    account_id TEXT NOT NULL,
    url TEXT,
    title TEXT,
    page_count INTEGER,
    text TEXT NOT NULL,
    is_pair INTEGER NOT NULL,
    PRIMARY KEY (source_id, position)
) STRICT;
INSERT INTO old_documents
SELECT d.source_id, d.position, d.account_id, d.url, d.title, d.page_count, t.text, d.is_pair
FROM documents d
JOIN document_texts t ON t.source_id = d.source_id AND t.position = d.position
WHERE d.version IS NOT NULL;

DROP TABLE passages;
DROP TABLE document_texts;
DROP TABLE documents;
ALTER TABLE old_passages RENAME TO passages;
ALTER TABLE old_documents RENAME TO documents;
