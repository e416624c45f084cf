-- Whether replies of an agent end with a list of their sources for clients that may drop other citations.
ALTER TABLE agents ADD COLUMN source_list INTEGER NOT NULL DEFAULT 0;
