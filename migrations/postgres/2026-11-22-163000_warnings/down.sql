ALTER TABLE sources DROP COLUMN partially_read;
ALTER TABLE documents DROP COLUMN warnings;
ALTER TABLE documents DROP COLUMN table_count;
