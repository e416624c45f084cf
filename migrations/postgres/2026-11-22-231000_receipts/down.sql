ALTER TABLE agents DROP COLUMN receipts;
ALTER TABLE messages DROP COLUMN receipt;
