ALTER TABLE events DROP COLUMN request_id;
ALTER TABLE jobs DROP COLUMN request_id;
