-- For the posts of a community.
CREATE INDEX CONCURRENTLY IF NOT EXISTS post_community ON post (community_id, id) WHERE community_id IS NOT NULL;
