-- What others did that concerns a member, and up to where the member has seen it.

CREATE TABLE interaction (
    -- of the entry in the event log
    seq BIGINT NOT NULL,
    -- whom it concerns
    user_id BIGINT NOT NULL,
    at BIGINT NOT NULL,
    -- 1 mention, 2 reply, 3 quote, 4 repost, 5 like, 6 follow, 7 request to follow
    kind BIGINT NOT NULL,
    actor_id BIGINT NOT NULL,
    -- what was written, reposted or liked; none for follows
    post_id BIGINT,
    PRIMARY KEY (seq, user_id)
) EDGE;
CREATE INDEX interaction_user ON interaction (user_id, seq);
CREATE INDEX interaction_actor ON interaction (actor_id, post_id);

CREATE TABLE notification_seen (
    user_id BIGINT NOT NULL PRIMARY KEY,
    newest_interaction BIGINT NOT NULL DEFAULT 0,
    newest_notice BIGINT NOT NULL DEFAULT 0
);
