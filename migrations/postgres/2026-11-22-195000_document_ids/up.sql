-- The id of a document in the API. It is derived from its source and its name, so the same page has the same id after a
-- refresh: during a crawl, two rows have it. SQL cannot compute it, so the program fills in the ids of existing rows
-- right after this file, in the same transaction.
ALTER TABLE documents ADD COLUMN id TEXT COLLATE "C" NOT NULL DEFAULT '';
CREATE INDEX documents_by_id ON documents (id);

-- Whether anybody may read the texts of an agent's sources.
ALTER TABLE agents ADD COLUMN public_sources BOOLEAN NOT NULL DEFAULT FALSE;
