-- What an erasure removes or counts anew. Without an index, it read the votes, ratings, mutes and so on of everyone.
CREATE INDEX CONCURRENTLY IF NOT EXISTS mute_target ON mute (target_id);
CREATE INDEX CONCURRENTLY IF NOT EXISTS poll_vote_user ON poll_vote (user_id);
CREATE INDEX CONCURRENTLY IF NOT EXISTS note_rating_user ON note_rating (user_id);
CREATE INDEX CONCURRENTLY IF NOT EXISTS space_part_user ON space_part (user_id);
CREATE INDEX CONCURRENTLY IF NOT EXISTS note_request_user ON note_request (user_id);
CREATE INDEX CONCURRENTLY IF NOT EXISTS dm_block_target ON dm_block (target_id);
CREATE INDEX CONCURRENTLY IF NOT EXISTS dm_participant_user ON dm_participant (user_id);
CREATE INDEX CONCURRENTLY IF NOT EXISTS media_share_user ON media_share (user_id);
