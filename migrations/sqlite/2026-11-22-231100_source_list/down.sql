ALTER TABLE agents DROP COLUMN source_list;
