-- Ids are compared byte by byte everywhere, so that the indexes of one table serve joins with another.
ALTER TABLE source_vectors
    ALTER COLUMN source_id TYPE TEXT COLLATE "C",
    ALTER COLUMN account_id TYPE TEXT COLLATE "C";
ALTER TABLE passage_vectors
    ALTER COLUMN source_id TYPE TEXT COLLATE "C",
    ALTER COLUMN account_id TYPE TEXT COLLATE "C";
