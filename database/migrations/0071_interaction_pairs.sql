-- For what one member did that concerns another: it is removed with a follow or by a block.
CREATE INDEX CONCURRENTLY IF NOT EXISTS interaction_pair ON interaction (actor_id, user_id);
