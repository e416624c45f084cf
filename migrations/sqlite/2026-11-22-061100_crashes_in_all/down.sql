ALTER TABLE jobs DROP COLUMN crashes_in_all;
