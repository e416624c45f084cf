-- Crawls, kept page by page, and content that changes document by document.

-- A document without a version belongs to a crawl that is under way: nobody sees it yet. The text
-- lies apart, so that a document becomes visible without its text being written again.
CREATE TABLE new_documents (
    source_id TEXT NOT NULL REFERENCES sources (id) ON DELETE CASCADE,
    position INTEGER NOT NULL,
    account_id TEXT NOT NULL,
    version INTEGER,
    url TEXT,
    title TEXT,
    page_count INTEGER,
    character_count INTEGER NOT NULL,
    is_pair INTEGER NOT NULL,
    PRIMARY KEY (source_id, position)
) STRICT;
INSERT INTO new_documents
SELECT source_id, position, account_id,
    (SELECT version FROM sources WHERE id = source_id),
    url, title, page_count,
    length(text) + CASE WHEN is_pair THEN coalesce(length(title), 0) ELSE 0 END,
    is_pair
FROM documents;

CREATE TABLE new_texts (
    source_id TEXT NOT NULL,
    position INTEGER NOT NULL,
    account_id TEXT NOT NULL,
    text TEXT NOT NULL,
    PRIMARY KEY (source_id, position),
    FOREIGN KEY (source_id, position) REFERENCES new_documents (source_id, position) ON DELETE CASCADE
) STRICT;
INSERT INTO new_texts SELECT source_id, position, account_id, text FROM documents;

-- `document` is the position of the passage's document. Until now only pairs came several in a
-- source: in order, with the question as the title of their passages.
CREATE TABLE new_passages (
    source_id TEXT NOT NULL,
    position INTEGER NOT NULL,
    account_id TEXT NOT NULL,
    document INTEGER NOT NULL,
    title TEXT,
    heading TEXT,
    url TEXT,
    page INTEGER,
    text TEXT NOT NULL,
    is_pair INTEGER NOT NULL,
    language TEXT,
    PRIMARY KEY (source_id, position),
    FOREIGN KEY (source_id, document) REFERENCES new_documents (source_id, position) ON DELETE CASCADE
) STRICT;
INSERT INTO new_passages
SELECT source_id, position, account_id,
    coalesce(
        (SELECT max(d.position) FROM documents d
         WHERE d.source_id = p.source_id AND d.is_pair AND p.is_pair
             AND d.title = p.title AND d.position <= p.position),
        0
    ),
    title, heading, url, page, text, is_pair, language
FROM passages p;

DROP TABLE passages;
DROP TABLE documents;
-- References follow the name.
ALTER TABLE new_documents RENAME TO documents;
ALTER TABLE new_texts RENAME TO document_texts;
ALTER TABLE new_passages RENAME TO passages;
CREATE INDEX passages_of_document ON passages (source_id, document, position);

-- The crawls of a source, numbered from 0: the last that `succeeded`, and after it one that is
-- `running` or has `failed`.
CREATE TABLE crawls (
    source_id TEXT NOT NULL REFERENCES sources (id) ON DELETE CASCADE,
    number INTEGER NOT NULL,
    account_id TEXT NOT NULL,
    job_id TEXT NOT NULL,
    state TEXT NOT NULL,
    began_at INTEGER NOT NULL,
    PRIMARY KEY (source_id, number)
) STRICT;

-- The pages of a crawl, in the order in which they were found. One without a status waits to be
-- visited. `document` is the position of the document that it has. No crawl was made until now.
DROP TABLE source_pages;
CREATE TABLE crawl_pages (
    source_id TEXT NOT NULL,
    crawl INTEGER NOT NULL,
    position INTEGER NOT NULL,
    account_id TEXT NOT NULL,
    url TEXT NOT NULL,
    depth INTEGER NOT NULL,
    status TEXT,
    title TEXT,
    character_count INTEGER,
    http_status INTEGER,
    reason TEXT,
    fetched_at INTEGER,
    etag TEXT,
    last_modified TEXT,
    content_hash BLOB,
    links TEXT,
    document INTEGER,
    PRIMARY KEY (source_id, crawl, position),
    FOREIGN KEY (source_id, crawl) REFERENCES crawls (source_id, number) ON DELETE CASCADE
) STRICT;
CREATE INDEX crawl_pages_by_url ON crawl_pages (source_id, crawl, url);
