-- What is half deleted must not come back.
DELETE FROM agents WHERE removed_at IS NOT NULL;
DELETE FROM sources WHERE removed_at IS NOT NULL;
DELETE FROM conversations WHERE removed_at IS NOT NULL;
DROP INDEX conversations_removed;
DROP INDEX sources_removed;
DROP INDEX agents_removed;
ALTER TABLE conversations DROP COLUMN removed_at;
ALTER TABLE sources DROP COLUMN removed_at;
ALTER TABLE agents DROP COLUMN removed_at;
