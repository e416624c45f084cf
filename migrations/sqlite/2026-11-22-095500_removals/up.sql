-- When the deletion of something large began. It is deleted in several transactions, and from the first one
-- on nobody finds it.
ALTER TABLE agents ADD COLUMN removed_at INTEGER;
ALTER TABLE sources ADD COLUMN removed_at INTEGER;
ALTER TABLE conversations ADD COLUMN removed_at INTEGER;
CREATE INDEX agents_removed ON agents (removed_at) WHERE removed_at IS NOT NULL;
CREATE INDEX sources_removed ON sources (removed_at) WHERE removed_at IS NOT NULL;
CREATE INDEX conversations_removed ON conversations (removed_at) WHERE removed_at IS NOT NULL;
