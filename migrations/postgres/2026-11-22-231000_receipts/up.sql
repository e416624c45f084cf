-- What a reply was made from, as JSON of at most 4 KiB; null for messages of users, and for replies without a receipt. The
-- column is the last one, so that reading the others does not read it.
ALTER TABLE messages ADD COLUMN receipt TEXT;

-- Whether replies of an agent are stored with receipts.
ALTER TABLE agents ADD COLUMN receipts BOOLEAN NOT NULL DEFAULT TRUE;
