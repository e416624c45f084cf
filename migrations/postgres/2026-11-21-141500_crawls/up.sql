-- Crawls, kept page by page, and content that changes document by document.

-- A document without a version belongs to a crawl that is under way: nobody sees it yet. The text
-- lies apart, so that a document becomes visible without its text being written again.
CREATE TABLE document_texts (
    source_id TEXT COLLATE "C" NOT NULL,
    position BIGINT NOT NULL,
    account_id TEXT COLLATE "C" NOT NULL,
    text TEXT NOT NULL,
    PRIMARY KEY (source_id, position),
    FOREIGN KEY (source_id, position) REFERENCES documents (source_id, position) ON DELETE CASCADE
);
INSERT INTO document_texts SELECT source_id, position, account_id, text FROM documents;

ALTER TABLE documents ADD COLUMN version BIGINT, ADD COLUMN character_count BIGINT;
UPDATE documents SET
    version = (SELECT version FROM sources WHERE id = source_id),
    character_count = length(text) + CASE WHEN is_pair THEN coalesce(length(title), 0) ELSE 0 END;
ALTER TABLE documents ALTER COLUMN character_count SET NOT NULL, DROP COLUMN text;

-- `document` is the position of the passage's document. Until now only pairs came several in a
-- source: in order, with the question as the title of their passages.
ALTER TABLE passages ADD COLUMN document BIGINT;
UPDATE passages p SET document = coalesce(
    (SELECT max(d.position) FROM documents d
     WHERE d.source_id = p.source_id AND d.is_pair AND p.is_pair
         AND d.title = p.title AND d.position <= p.position),
    0
);
ALTER TABLE passages
    ALTER COLUMN document SET NOT NULL,
    DROP CONSTRAINT passages_source_id_fkey,
    ADD FOREIGN KEY (source_id, document) REFERENCES documents (source_id, position) ON DELETE CASCADE;
CREATE INDEX passages_of_document ON passages (source_id, document, position);

-- The crawls of a source, numbered from 0: the last that `succeeded`, and after it one that is
-- `running` or has `failed`.
CREATE TABLE crawls (
    source_id TEXT COLLATE "C" NOT NULL REFERENCES sources (id) ON DELETE CASCADE,
    number BIGINT NOT NULL,
    account_id TEXT COLLATE "C" NOT NULL,
    job_id TEXT COLLATE "C" NOT NULL,
    state TEXT NOT NULL,
    began_at BIGINT NOT NULL,
    PRIMARY KEY (source_id, number)
);

-- The pages of a crawl, in the order in which they were found. One without a status waits to be
-- visited. `document` is the position of the document that it has. No crawl was made until now.
DROP TABLE source_pages;
CREATE TABLE crawl_pages (
    source_id TEXT COLLATE "C" NOT NULL,
    crawl BIGINT NOT NULL,
    position BIGINT NOT NULL,
    account_id TEXT COLLATE "C" NOT NULL,
    url TEXT COLLATE "C" NOT NULL,
    depth BIGINT NOT NULL,
    status TEXT,
    title TEXT,
    character_count BIGINT,
    http_status BIGINT,
    reason TEXT,
    fetched_at BIGINT,
    etag TEXT,
    last_modified TEXT,
    content_hash BYTEA,
    links TEXT,
    document BIGINT,
    PRIMARY KEY (source_id, crawl, position),
    FOREIGN KEY (source_id, crawl) REFERENCES crawls (source_id, number) ON DELETE CASCADE
);
-- An ordered index refuses entries beyond 2,700 bytes, and an address may be longer.
CREATE INDEX crawl_pages_by_url ON crawl_pages USING hash (url);
