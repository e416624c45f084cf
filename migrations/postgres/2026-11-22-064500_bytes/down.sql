ALTER TABLE sources DROP COLUMN stored_bytes;
ALTER TABLE documents DROP COLUMN stored_bytes;
ALTER TABLE accounts DROP COLUMN stored_bytes;
ALTER TABLE accounts DROP COLUMN bytes_kept;
