-- How much of `stored_bytes` is vectors. Whether an agent is small depends on the rest.
ALTER TABLE documents ADD COLUMN vector_bytes BIGINT NOT NULL DEFAULT 0;
ALTER TABLE sources ADD COLUMN vector_bytes BIGINT NOT NULL DEFAULT 0;
UPDATE documents SET vector_bytes = (
    SELECT CAST(coalesce(sum(octet_length(v.vector)), 0) AS BIGINT) FROM passage_vectors v
    JOIN passages p ON p.source_id = v.source_id AND p.position = v.position
    WHERE p.source_id = documents.source_id AND p.document = documents.position
) WHERE source_id IN (SELECT source_id FROM passage_vectors);
UPDATE sources SET vector_bytes = (
    SELECT CAST(coalesce(sum(d.vector_bytes), 0) AS BIGINT) FROM documents d WHERE d.source_id = sources.id
) WHERE id IN (SELECT source_id FROM passage_vectors);

-- How often what is sent of the source is halved, because the model failed at it.
ALTER TABLE source_vectors ADD COLUMN halvings BIGINT NOT NULL DEFAULT 0;
DROP INDEX source_vectors_of_space;

-- The settings that vectors depend on, and how far above chance the floor is.
ALTER TABLE vector_spaces ADD COLUMN settings TEXT NOT NULL DEFAULT '';
ALTER TABLE vector_spaces ADD COLUMN margin DOUBLE PRECISION NOT NULL DEFAULT 0.05;
