ALTER TABLE agents DROP COLUMN public_sources;
DROP INDEX documents_by_id;
ALTER TABLE documents DROP COLUMN id;
