-- On PostgreSQL, the ids of vectors get the collation of all other ids. SQLite compares all texts byte by byte.
SELECT 1;
