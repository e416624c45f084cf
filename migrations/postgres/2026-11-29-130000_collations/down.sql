ALTER TABLE passage_vectors
    ALTER COLUMN source_id TYPE TEXT COLLATE "default",
    ALTER COLUMN account_id TYPE TEXT COLLATE "default";
ALTER TABLE source_vectors
    ALTER COLUMN source_id TYPE TEXT COLLATE "default",
    ALTER COLUMN account_id TYPE TEXT COLLATE "default";
