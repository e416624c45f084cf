ALTER TABLE sources DROP COLUMN guarded;
