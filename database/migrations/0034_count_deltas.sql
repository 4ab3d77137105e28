-- Changes of counters that are not in the counters' rows yet. Nothing is here where transactions follow each other.
CREATE TABLE count_delta (
    counter BIGINT NOT NULL,
    target_id BIGINT NOT NULL,
    n BIGINT NOT NULL
);
CREATE INDEX count_delta_target ON count_delta (target_id);
-- An almost empty table of many pages: plans made for it are right when it is full.
POSTGRES ALTER TABLE count_delta SET (vacuum_truncate = false, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000);
POSTGRES INSERT INTO count_delta SELECT 0, 0, 0 FROM generate_series(1, 20000);
POSTGRES DELETE FROM count_delta;
