ALTER TABLE agents DROP COLUMN answer_floor;
