-- Closed reports are looked for each minute, until they expire.
CREATE INDEX CONCURRENTLY IF NOT EXISTS report_closed ON report (closed_at) WHERE closed_at IS NOT NULL;
