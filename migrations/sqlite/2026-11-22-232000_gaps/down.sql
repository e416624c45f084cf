ALTER TABLE agents DROP COLUMN gap_source_id;
DROP TABLE gap_questions;
DROP TABLE gaps;
