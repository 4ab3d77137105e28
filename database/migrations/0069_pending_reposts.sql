-- For the reposted posts of an author, of which some counts are pending.
CREATE INDEX CONCURRENTLY IF NOT EXISTS count_delta_repost ON count_delta (target_id) WHERE counter = 6;
