ALTER TABLE vector_spaces RENAME COLUMN reach TO margin;
ALTER TABLE vector_spaces RENAME COLUMN chance TO floor;
UPDATE vector_spaces SET floor = 1, margin = 0;
