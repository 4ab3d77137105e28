-- Entries that have no place in the log yet. Nothing is here where transactions follow each other.
CREATE TABLE pending_event (
    id SERIAL_KEY,
    at BIGINT NOT NULL,
    kind TEXT NOT NULL,
    actor_id BIGINT NOT NULL,
    subject_id BIGINT NOT NULL,
    body TEXT NOT NULL DEFAULT ''
);

-- One row: which process gives entries their places, until when by the database's clock (ms), and how far it has come.
-- Each change of the holder raises the token. Entries up to the floor wait only for transactions that take long.
CREATE TABLE event_sequencer (
    id BIGINT NOT NULL PRIMARY KEY,
    holder TEXT NOT NULL,
    token BIGINT NOT NULL,
    until BIGINT NOT NULL,
    last_seq BIGINT NOT NULL,
    floor_id BIGINT NOT NULL
);
INSERT INTO event_sequencer (id, holder, token, until, last_seq, floor_id)
    SELECT 1, '', 0, 0, COALESCE(MAX(seq), 0), 0 FROM event;
-- A reader that waited at the end may be beyond the last entry.
UPDATE event_sequencer SET last_seq = (SELECT MAX(seq) FROM follower)
    WHERE last_seq < (SELECT MAX(seq) FROM follower);
DELETE FROM meta WHERE key = 'log_base';
POSTGRES ALTER TABLE event DROP COLUMN IF EXISTS xid;
POSTGRES ALTER TABLE pending_event SET (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000);
