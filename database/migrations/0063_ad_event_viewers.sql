-- An erasure finds what an account did with ads; its impressions have an index of their own.
CREATE INDEX CONCURRENTLY IF NOT EXISTS ad_event_acted ON ad_event (viewer) WHERE kind <> 0 AND viewer > 0;
