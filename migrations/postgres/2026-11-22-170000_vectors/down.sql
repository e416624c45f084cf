-- Vectors were counted with the documents of their passages.
UPDATE documents SET stored_bytes = stored_bytes - (
    SELECT CAST(coalesce(sum(octet_length(v.vector)), 0) AS BIGINT) FROM passage_vectors v
    JOIN passages p ON p.source_id = v.source_id AND p.position = v.position
    WHERE p.source_id = documents.source_id AND p.document = documents.position
);
UPDATE sources SET stored_bytes = stored_bytes - (
    SELECT CAST(coalesce(sum(octet_length(v.vector)), 0) AS BIGINT) FROM passage_vectors v WHERE v.source_id = sources.id
);
UPDATE accounts SET stored_bytes = stored_bytes - (
    SELECT CAST(coalesce(sum(octet_length(v.vector)), 0) AS BIGINT) FROM passage_vectors v WHERE v.account_id = accounts.id
);
DROP TABLE passage_vectors;
DROP TABLE source_vectors;
DROP TABLE vector_spaces;
