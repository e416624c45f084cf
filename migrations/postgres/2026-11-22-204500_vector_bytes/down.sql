ALTER TABLE vector_spaces DROP COLUMN margin;
ALTER TABLE vector_spaces DROP COLUMN settings;
CREATE INDEX source_vectors_of_space ON source_vectors (space);
ALTER TABLE source_vectors DROP COLUMN halvings;
ALTER TABLE sources DROP COLUMN vector_bytes;
ALTER TABLE documents DROP COLUMN vector_bytes;
