-- A space is what an embedding model makes of texts, as long as it stays the same model. `probe` is the
-- vector of a fixed text, by which it is recognised.
CREATE TABLE vector_spaces (
    id BIGINT NOT NULL PRIMARY KEY,
    model TEXT NOT NULL,
    dimension BIGINT NOT NULL,
    probe BYTEA NOT NULL,
    floor DOUBLE PRECISION NOT NULL,
    created_at BIGINT NOT NULL
);

-- Which sources have vectors of all their passages at `version`: those that are complete, in `space` (0 is
-- none). Others have them up to the passage at `embedded_to`, and are worked on when they are due.
CREATE TABLE source_vectors (
    source_id TEXT NOT NULL PRIMARY KEY REFERENCES sources (id) ON DELETE CASCADE,
    account_id TEXT NOT NULL,
    version BIGINT NOT NULL,
    space BIGINT NOT NULL,
    is_complete BOOLEAN NOT NULL,
    embedded_to BIGINT NOT NULL,
    due_at BIGINT NOT NULL
);
CREATE INDEX source_vectors_lacking ON source_vectors (is_complete, account_id, due_at);
CREATE INDEX source_vectors_of_space ON source_vectors (space);
INSERT INTO source_vectors
SELECT id, account_id, version, 0, FALSE, -1, 0 FROM sources WHERE version IS NOT NULL;

-- `vector` is empty if the model refuses the passage.
CREATE TABLE passage_vectors (
    source_id TEXT NOT NULL,
    position BIGINT NOT NULL,
    account_id TEXT NOT NULL,
    space BIGINT NOT NULL,
    vector BYTEA NOT NULL,
    PRIMARY KEY (source_id, position),
    FOREIGN KEY (source_id, position) REFERENCES passages (source_id, position) ON DELETE CASCADE
);
