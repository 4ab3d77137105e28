-- contraction, compatible from 37
-- Tables are renamed, but others take their names.
-- As the last migration, for deliveries, of which two indexes are built anew, and their attempts, of which one is.
POSTGRES LOCK TABLE delivery, delivery_attempt IN ACCESS EXCLUSIVE MODE;

-- By the time of the event, which the event's id determines: it stays unique.
POSTGRES ALTER TABLE delivery RENAME TO delivery_initial;
POSTGRES ALTER INDEX delivery_pkey RENAME TO delivery_initial_pkey;
POSTGRES ALTER INDEX delivery_event RENAME TO delivery_initial_event;
POSTGRES ALTER INDEX delivery_at RENAME TO delivery_initial_at;
POSTGRES ALTER INDEX delivery_waiting RENAME TO delivery_initial_waiting;
POSTGRES ALTER INDEX delivery_job RENAME TO delivery_initial_job;
POSTGRES ALTER INDEX delivery_about RENAME TO delivery_initial_about;
POSTGRES CREATE TABLE delivery (LIKE delivery_initial INCLUDING DEFAULTS, PRIMARY KEY (seq, at))
POSTGRES     PARTITION BY RANGE (at);
POSTGRES CREATE UNIQUE INDEX delivery_event ON delivery (webhook_id, event_id, job_id, at);
POSTGRES CREATE INDEX delivery_at ON delivery (webhook_id, at, seq);
POSTGRES CREATE INDEX delivery_waiting ON delivery (webhook_id, seq) WHERE state = 0;
POSTGRES CREATE INDEX delivery_job ON delivery (job_id, state) WHERE job_id <> 0;
POSTGRES CREATE INDEX delivery_about ON delivery (webhook_id, about_id) WHERE about_id > 0;
POSTGRES ALTER SEQUENCE delivery_seq_seq OWNED BY delivery.seq;
POSTGRES CREATE TABLE delivery_default PARTITION OF delivery DEFAULT;
POSTGRES ALTER TABLE delivery_initial DROP CONSTRAINT delivery_initial_pkey;
POSTGRES DROP INDEX delivery_initial_event;

POSTGRES ALTER TABLE delivery_attempt RENAME TO delivery_attempt_initial;
POSTGRES ALTER INDEX delivery_attempt_pkey RENAME TO delivery_attempt_initial_pkey;
POSTGRES ALTER INDEX delivery_attempt_of RENAME TO delivery_attempt_initial_of;
POSTGRES CREATE TABLE delivery_attempt (LIKE delivery_attempt_initial INCLUDING DEFAULTS, PRIMARY KEY (seq, at))
POSTGRES     PARTITION BY RANGE (at);
POSTGRES CREATE INDEX delivery_attempt_of ON delivery_attempt (webhook_id, delivery_seq, seq);
POSTGRES ALTER SEQUENCE delivery_attempt_seq_seq OWNED BY delivery_attempt.seq;
POSTGRES CREATE TABLE delivery_attempt_default PARTITION OF delivery_attempt DEFAULT;
POSTGRES ALTER TABLE delivery_attempt_initial DROP CONSTRAINT delivery_attempt_initial_pkey;

POSTGRES DO $$
POSTGRES DECLARE
POSTGRES     today BIGINT := CAST(EXTRACT(EPOCH FROM now()) AS BIGINT) / 86400;
POSTGRES     last_delivery BIGINT := (SELECT COALESCE(MAX(at), 0) / 86400000 FROM delivery_initial);
POSTGRES     last_attempt BIGINT := (SELECT COALESCE(MAX(at), 0) / 86400000 FROM delivery_attempt_initial);
POSTGRES     attach TEXT := 'ALTER TABLE %1$s ATTACH PARTITION %1$s_initial FOR VALUES FROM (MINVALUE) TO (%2$s)';
POSTGRES BEGIN
POSTGRES     EXECUTE format(attach, 'delivery', (GREATEST(today + 2, last_delivery) + 1) * 86400000);
POSTGRES     EXECUTE format(attach, 'delivery_attempt', (GREATEST(today + 2, last_attempt) + 1) * 86400000);
POSTGRES END $$;
