-- How many tables a document has, and what of it is not in its text: JSON, each reason by its code and detail with the
-- pages that it concerns. Null is what earlier versions read, or nothing that is missing.
ALTER TABLE documents ADD COLUMN table_count BIGINT;
ALTER TABLE documents ADD COLUMN warnings TEXT;
-- The sum of them, in JSON: null for a source that was read whole.
ALTER TABLE sources ADD COLUMN partially_read TEXT;
