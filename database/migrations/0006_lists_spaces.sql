-- Lists: what a change of members is told by, who reads and who pins them. Spaces: what they are,
-- who takes part, what their titles say.

-- Raised by every change of who is on a list: its timeline is then merged afresh.
ALTER TABLE list ADD COLUMN member_version BIGINT NOT NULL DEFAULT 0;

-- What the list is, once more: the open ones that somebody is on are read without the others.
ALTER TABLE list_member ADD COLUMN private BIGINT NOT NULL DEFAULT 0;
UPDATE list_member SET private = 1
    WHERE list_id IN (SELECT id FROM list WHERE private = 1);
DROP INDEX list_member_user;
CREATE INDEX list_member_user ON list_member (user_id, private, id);

CREATE TABLE list_follow (
    list_id BIGINT NOT NULL,
    user_id BIGINT NOT NULL,
    -- a snowflake: newest first
    id BIGINT NOT NULL,
    PRIMARY KEY (list_id, user_id)
) EDGE;
CREATE INDEX list_follow_list ON list_follow (list_id, id);
CREATE INDEX list_follow_user ON list_follow (user_id, id);

CREATE TABLE list_pin (
    user_id BIGINT NOT NULL,
    list_id BIGINT NOT NULL,
    id BIGINT NOT NULL,
    PRIMARY KEY (user_id, list_id)
) EDGE;
CREATE INDEX list_pin_list ON list_pin (list_id);

CREATE TABLE space (
    id BIGINT NOT NULL PRIMARY KEY,
    creator_id BIGINT NOT NULL,
    -- 0 scheduled, 1 live, 2 ended, 3 canceled
    state BIGINT NOT NULL,
    title TEXT NOT NULL DEFAULT '',
    lang TEXT NOT NULL DEFAULT '',
    ticketed BIGINT NOT NULL DEFAULT 0,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    scheduled_start BIGINT,
    started_at BIGINT,
    ended_at BIGINT,
    participant_count BIGINT NOT NULL DEFAULT 0,
    subscriber_count BIGINT NOT NULL DEFAULT 0
);
CREATE INDEX space_creator ON space (creator_id, id) WHERE state < 2;

-- What users are to a space.
CREATE TABLE space_part (
    space_id BIGINT NOT NULL,
    -- 0 host, 1 invited, 2 speaker, 3 there, 4 subscriber, 5 buyer
    role BIGINT NOT NULL,
    user_id BIGINT NOT NULL,
    -- a snowflake: in the order in which they became it
    id BIGINT NOT NULL,
    PRIMARY KEY (space_id, role, user_id)
) EDGE;
CREATE INDEX space_part_order ON space_part (space_id, role, id);

CREATE TABLE space_topic (
    id BIGINT NOT NULL PRIMARY KEY,
    name TEXT NOT NULL,
    description TEXT NOT NULL DEFAULT ''
);
CREATE UNIQUE INDEX space_topic_name ON space_topic (name);

CREATE TABLE space_subject (
    space_id BIGINT NOT NULL,
    topic_id BIGINT NOT NULL,
    PRIMARY KEY (space_id, topic_id)
) EDGE;

-- Words of the titles of spaces that are scheduled or live.
CREATE TABLE space_word (
    word TEXT NOT NULL,
    -- the space's
    state BIGINT NOT NULL,
    space_id BIGINT NOT NULL,
    PRIMARY KEY (word, state, space_id)
) EDGE;
CREATE INDEX space_word_space ON space_word (space_id);

-- Posts that were shared in a space.
CREATE TABLE space_post (
    space_id BIGINT NOT NULL,
    post_id BIGINT NOT NULL,
    id BIGINT NOT NULL,
    PRIMARY KEY (space_id, post_id)
) EDGE;
CREATE INDEX space_post_order ON space_post (space_id, id);
