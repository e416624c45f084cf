-- How many bytes an account may keep: null is what the settings say, -1 any number. `stored_bytes` is what
-- it keeps: its sources and its files.
ALTER TABLE accounts ADD COLUMN bytes_kept BIGINT;
ALTER TABLE accounts ADD COLUMN stored_bytes BIGINT NOT NULL DEFAULT 0;

-- What a document takes with its passages; 0 until it is counted. What a source takes: its content and its
-- documents, those of a crawl under way included.
ALTER TABLE documents ADD COLUMN stored_bytes BIGINT NOT NULL DEFAULT 0;
ALTER TABLE sources ADD COLUMN stored_bytes BIGINT NOT NULL DEFAULT 0;
UPDATE documents SET stored_bytes =
    coalesce(octet_length(url), 0) + coalesce(octet_length(title), 0)
    + coalesce((
        SELECT octet_length(t.text) FROM document_texts t
        WHERE t.source_id = documents.source_id AND t.position = documents.position
    ), 0)
    + coalesce((
        SELECT sum(
            octet_length(p.text) + coalesce(octet_length(p.title), 0)
            + coalesce(octet_length(p.heading), 0) + coalesce(octet_length(p.url), 0)
        ) FROM passages p
        WHERE p.source_id = documents.source_id AND p.document = documents.position
    ), 0);
UPDATE sources SET stored_bytes = octet_length(content)
    + coalesce((SELECT sum(d.stored_bytes) FROM documents d WHERE d.source_id = sources.id), 0);
UPDATE accounts SET stored_bytes =
    coalesce((SELECT sum(s.stored_bytes) FROM sources s WHERE s.account_id = accounts.id), 0)
    + coalesce((SELECT sum(u.bytes) FROM uploads u WHERE u.account_id = accounts.id), 0);
