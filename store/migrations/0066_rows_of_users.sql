-- What an erasure removes or counts anew. Without an index, it read all votes, ratings and mutes of everyone.
CREATE INDEX CONCURRENTLY IF NOT EXISTS mute_target ON mute (target_id);
CREATE INDEX CONCURRENTLY IF NOT EXISTS poll_vote_user ON poll_vote (user_id);
CREATE INDEX CONCURRENTLY IF NOT EXISTS note_rating_user ON note_rating (user_id);
CREATE INDEX CONCURRENTLY IF NOT EXISTS space_part_user ON space_part (user_id);
