-- What a post may carry or stand in: polls, communities, places; and who subscribes to whom.

-- Posted to a community and kept out of the home timelines of the author's followers.
ALTER TABLE post ADD COLUMN unshared BIGINT NOT NULL DEFAULT 0;
-- Posted to a closed community: for its members only.
ALTER TABLE post ADD COLUMN members_only BIGINT NOT NULL DEFAULT 0;
-- The address that opens a private conversation, or empty.
ALTER TABLE post ADD COLUMN direct_message_deep_link TEXT NOT NULL DEFAULT '';

CREATE TABLE poll (
    id BIGINT NOT NULL PRIMARY KEY,
    post_id BIGINT NOT NULL,
    duration_minutes BIGINT NOT NULL,
    ends_at BIGINT NOT NULL,
    -- when its end was told in the log; none before
    closed_at BIGINT
);
CREATE UNIQUE INDEX poll_post ON poll (post_id);
CREATE INDEX poll_open ON poll (ends_at) WHERE closed_at IS NULL;

CREATE TABLE poll_option (
    poll_id BIGINT NOT NULL,
    -- from 1
    choice BIGINT NOT NULL,
    label TEXT NOT NULL,
    votes BIGINT NOT NULL DEFAULT 0,
    PRIMARY KEY (poll_id, choice)
) EDGE;

CREATE TABLE poll_vote (
    poll_id BIGINT NOT NULL,
    user_id BIGINT NOT NULL,
    choice BIGINT NOT NULL,
    at BIGINT NOT NULL,
    PRIMARY KEY (poll_id, user_id)
) EDGE;

CREATE TABLE community (
    id BIGINT NOT NULL PRIMARY KEY,
    name TEXT NOT NULL,
    description TEXT NOT NULL DEFAULT '',
    -- Public, Closed
    access TEXT NOT NULL,
    -- Open, RestrictedJoinRequestsDisabled, …
    join_policy TEXT NOT NULL,
    owner_id BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    member_count BIGINT NOT NULL DEFAULT 0
);

-- The beginnings of the words of a community's name and description, lower case.
CREATE TABLE community_word (
    word TEXT NOT NULL,
    community_id BIGINT NOT NULL,
    PRIMARY KEY (word, community_id)
) EDGE;

CREATE TABLE community_member (
    community_id BIGINT NOT NULL,
    user_id BIGINT NOT NULL,
    id BIGINT NOT NULL,
    PRIMARY KEY (community_id, user_id)
) EDGE;
CREATE INDEX community_member_list ON community_member (community_id, id);
CREATE INDEX community_member_user ON community_member (user_id, id);

-- Who subscribes to whom: readers of what is for an author's subscribers.
CREATE TABLE subscription (
    subscriber_id BIGINT NOT NULL,
    author_id BIGINT NOT NULL,
    id BIGINT NOT NULL,
    PRIMARY KEY (subscriber_id, author_id)
) EDGE;
CREATE INDEX subscription_author ON subscription (author_id, id);

CREATE TABLE place (
    -- written as sixteen hexadecimal digits
    id BIGINT NOT NULL PRIMARY KEY,
    name TEXT NOT NULL,
    full_name TEXT NOT NULL,
    country TEXT NOT NULL DEFAULT '',
    -- ISO 3166-1 alpha-2, or empty
    country_code TEXT NOT NULL DEFAULT '',
    -- poi, neighborhood, city, admin, country, unknown
    kind TEXT NOT NULL,
    -- west, south, east, north, as JSON; or empty
    bbox TEXT NOT NULL DEFAULT '',
    -- the places that it lies in, comma-separated
    contained_within TEXT NOT NULL DEFAULT ''
);
