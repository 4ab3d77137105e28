-- For lists of live posts, which walked past the removed ones. They also find all replies to a post.
CREATE INDEX CONCURRENTLY IF NOT EXISTS post_reply_state ON post (in_reply_to_post_id, state, nullcast, id)
    WHERE in_reply_to_post_id IS NOT NULL;
CREATE INDEX CONCURRENTLY IF NOT EXISTS post_quote_state ON post (quoted_post_id, state, nullcast, id)
    WHERE quoted_post_id IS NOT NULL;
CREATE INDEX CONCURRENTLY IF NOT EXISTS post_community_state ON post (community_id, state, nullcast, id)
    WHERE community_id IS NOT NULL;
