-- contraction, compatible from 37
-- Tables are renamed, but others take their names.
-- PostgreSQL only: tables that grow with traffic get partitions, so that expired rows are dropped with their files.
-- What is there becomes the first partition, also of the next days; nothing is copied (docs/decisions/0032).
POSTGRES LOCK TABLE event, post_read IN ACCESS EXCLUSIVE MODE;

-- By the number, by which consumers read.
POSTGRES ALTER TABLE event RENAME TO event_initial;
POSTGRES ALTER INDEX event_pkey RENAME TO event_initial_pkey;
POSTGRES CREATE TABLE event (LIKE event_initial INCLUDING DEFAULTS, PRIMARY KEY (seq)) PARTITION BY RANGE (seq);
POSTGRES ALTER SEQUENCE event_seq_seq OWNED BY event.seq;
POSTGRES CREATE TABLE event_default PARTITION OF event DEFAULT;

POSTGRES ALTER TABLE post_read RENAME TO post_read_initial;
POSTGRES ALTER INDEX post_read_pkey RENAME TO post_read_initial_pkey;
POSTGRES ALTER INDEX post_read_day RENAME TO post_read_initial_day;
POSTGRES CREATE TABLE post_read (LIKE post_read_initial, PRIMARY KEY (app_id, day, post_id)) PARTITION BY RANGE (day);
POSTGRES CREATE INDEX post_read_day ON post_read (day);
POSTGRES CREATE TABLE post_read_default PARTITION OF post_read DEFAULT;

-- Up to the next million but one of numbers, and to the end of the day after tomorrow.
POSTGRES DO $$
POSTGRES DECLARE
POSTGRES     highest_seq BIGINT :=
POSTGRES         (SELECT GREATEST(MAX(seq), (SELECT last_seq FROM event_sequencer), 0) FROM event_initial);
POSTGRES     today BIGINT := CAST(EXTRACT(EPOCH FROM now()) AS BIGINT) / 86400;
POSTGRES     last_read BIGINT := (SELECT COALESCE(MAX(day), 0) FROM post_read_initial);
POSTGRES     attach TEXT := 'ALTER TABLE %1$s ATTACH PARTITION %1$s_initial FOR VALUES FROM (MINVALUE) TO (%2$s)';
POSTGRES BEGIN
POSTGRES     EXECUTE format(attach, 'event', (highest_seq / 1000000 + 2) * 1000000);
POSTGRES     EXECUTE format(attach, 'post_read', GREATEST(today + 2, last_read) + 1);
POSTGRES END $$;
