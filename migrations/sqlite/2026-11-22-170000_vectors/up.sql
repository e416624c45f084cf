-- A space is what an embedding model makes of texts, as long as it stays the same model. `probe` is the
-- vector of a fixed text, by which it is recognised.
CREATE TABLE vector_spaces (
    id INTEGER NOT NULL PRIMARY KEY,
    model TEXT NOT NULL,
    dimension INTEGER NOT NULL,
    probe BLOB NOT NULL,
    floor REAL NOT NULL,
    created_at INTEGER NOT NULL
) STRICT;

-- Which sources have vectors of all their passages at `version`: those that are complete, in `space` (0 is
-- none). Others have them up to the passage at `embedded_to`, and are worked on when they are due.
CREATE TABLE source_vectors (
    source_id TEXT NOT NULL PRIMARY KEY REFERENCES sources (id) ON DELETE CASCADE,
    account_id TEXT NOT NULL,
    version INTEGER NOT NULL,
    space INTEGER NOT NULL,
    is_complete INTEGER NOT NULL,
    embedded_to INTEGER NOT NULL,
    due_at INTEGER NOT NULL
) STRICT;
CREATE INDEX source_vectors_lacking ON source_vectors (is_complete, account_id, due_at);
CREATE INDEX source_vectors_of_space ON source_vectors (space);
INSERT INTO source_vectors
SELECT id, account_id, version, 0, 0, -1, 0 FROM sources WHERE version IS NOT NULL;

-- `vector` is empty if the model refuses the passage.
CREATE TABLE passage_vectors (
    source_id TEXT NOT NULL,
    position INTEGER NOT NULL,
    account_id TEXT NOT NULL,
    space INTEGER NOT NULL,
    vector BLOB NOT NULL,
    PRIMARY KEY (source_id, position),
    FOREIGN KEY (source_id, position) REFERENCES passages (source_id, position) ON DELETE CASCADE
) STRICT;
