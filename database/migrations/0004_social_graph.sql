-- The rest of the social graph: requests to follow, refusal of messages, affiliations, and the
-- words by which people are found.

-- Waiting for a protected user's approval; gone once it is a follow.
CREATE TABLE follow_request (
    source_id BIGINT NOT NULL,
    target_id BIGINT NOT NULL,
    -- a snowflake: newest first
    id BIGINT NOT NULL,
    PRIMARY KEY (source_id, target_id)
) EDGE;
CREATE INDEX follow_request_target ON follow_request (target_id, id);

-- The source takes no direct messages of the target.
CREATE TABLE dm_block (
    source_id BIGINT NOT NULL,
    target_id BIGINT NOT NULL,
    id BIGINT NOT NULL,
    PRIMARY KEY (source_id, target_id)
) EDGE;

-- Who is affiliated with which organization; the badge itself stands in users.affiliation.
CREATE TABLE affiliate (
    organization_id BIGINT NOT NULL,
    user_id BIGINT NOT NULL,
    id BIGINT NOT NULL,
    PRIMARY KEY (organization_id, user_id)
) EDGE;
CREATE INDEX affiliate_organization ON affiliate (organization_id, id);
CREATE INDEX affiliate_user ON affiliate (user_id);

-- The words of people's handles, names and biographies.
CREATE TABLE user_word (
    -- 0 handle, 1 name, 2 biography
    place BIGINT NOT NULL,
    -- the first twelve characters as a number that sorts as they do
    word BIGINT NOT NULL,
    user_id BIGINT NOT NULL,
    PRIMARY KEY (place, word, user_id)
) EDGE;
CREATE INDEX user_word_user ON user_word (user_id);
