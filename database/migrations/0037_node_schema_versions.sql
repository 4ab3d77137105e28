-- The number of migrations that the program of a node knows.
ALTER TABLE node ADD COLUMN schema_version BIGINT NOT NULL DEFAULT 0;
