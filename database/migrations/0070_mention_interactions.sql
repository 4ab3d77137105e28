-- For the mentions among the notifications, which may be few among many likes.
CREATE INDEX CONCURRENTLY IF NOT EXISTS interaction_mention ON interaction (user_id, seq) WHERE kind <= 3;
