-- What the cosines of a model mean is measured in another way. With 0, it is measured again.
ALTER TABLE vector_spaces RENAME COLUMN floor TO chance;
ALTER TABLE vector_spaces RENAME COLUMN margin TO reach;
UPDATE vector_spaces SET reach = 0;
