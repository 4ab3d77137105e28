-- What the network makes of its posts: community notes, topics and their hours, news, trends, and
-- which posts apps have read.

-- Who may write notes; an operator says so.
CREATE TABLE note_writer (
    user_id BIGINT NOT NULL PRIMARY KEY,
    at BIGINT NOT NULL
);

CREATE TABLE note (
    id BIGINT NOT NULL PRIMARY KEY,
    author_id BIGINT NOT NULL,
    post_id BIGINT NOT NULL,
    -- in the test pool rather than the public one
    test_mode BIGINT NOT NULL,
    text TEXT NOT NULL,
    classification TEXT NOT NULL,
    -- comma-separated
    misleading_tags TEXT NOT NULL DEFAULT '',
    trustworthy_sources BIGINT NOT NULL,
    media_note BIGINT NOT NULL DEFAULT 0,
    -- how far its text is claims rather than opinions, in thousandths
    score BIGINT NOT NULL,
    helpful BIGINT NOT NULL DEFAULT 0,
    not_helpful BIGINT NOT NULL DEFAULT 0
);
-- One note of a writer on a post in each pool.
CREATE UNIQUE INDEX note_post ON note (post_id, author_id, test_mode);
CREATE INDEX note_author ON note (author_id, test_mode, id);

CREATE TABLE note_rating (
    note_id BIGINT NOT NULL,
    user_id BIGINT NOT NULL,
    helpful BIGINT NOT NULL,
    at BIGINT NOT NULL,
    PRIMARY KEY (note_id, user_id)
) EDGE;

-- Who asked for a note on a post.
CREATE TABLE note_request (
    post_id BIGINT NOT NULL,
    user_id BIGINT NOT NULL,
    at BIGINT NOT NULL,
    PRIMARY KEY (post_id, user_id)
) EDGE;

-- Which public posts speak of a topic: `#tag`, `$TAG`, or two words that stand together.
CREATE TABLE topic_post (
    topic TEXT NOT NULL,
    post_id BIGINT NOT NULL,
    author_id BIGINT NOT NULL,
    -- the hour since 1970 in which it was posted
    hour BIGINT NOT NULL,
    PRIMARY KEY (topic, post_id)
) EDGE;
CREATE INDEX topic_post_post ON topic_post (post_id);
CREATE INDEX topic_post_author ON topic_post (author_id, post_id);
CREATE INDEX topic_post_writer ON topic_post (topic, hour, author_id);

-- How many posts spoke of a topic in an hour, and how many authors.
CREATE TABLE topic_hour (
    hour BIGINT NOT NULL,
    topic TEXT NOT NULL,
    posts BIGINT NOT NULL,
    authors BIGINT NOT NULL,
    PRIMARY KEY (hour, topic)
) EDGE;
CREATE INDEX topic_hour_topic ON topic_hour (topic, hour);

-- What trends in the world, as last worked out.
CREATE TABLE trend (
    topic TEXT NOT NULL PRIMARY KEY,
    place BIGINT NOT NULL,
    name TEXT NOT NULL,
    posts BIGINT NOT NULL,
    authors BIGINT NOT NULL,
    -- the hour in which it began to
    since BIGINT NOT NULL
);

CREATE TABLE story (
    id BIGINT NOT NULL PRIMARY KEY,
    -- what it is about, where the platform made it; empty where an operator did
    topic TEXT NOT NULL DEFAULT '',
    -- 0 draft, 1 published, 2 deleted
    state BIGINT NOT NULL,
    name TEXT NOT NULL DEFAULT '',
    category TEXT NOT NULL DEFAULT '',
    hook TEXT NOT NULL DEFAULT '',
    summary TEXT NOT NULL DEFAULT '',
    disclaimer TEXT NOT NULL DEFAULT '',
    -- comma-separated, the most central first
    post_ids TEXT NOT NULL DEFAULT '',
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL
);
CREATE UNIQUE INDEX story_topic ON story (topic) WHERE topic <> '' AND state = 1;

-- The words that a published story is found by, lower case.
CREATE TABLE story_word (
    word TEXT NOT NULL,
    updated_at BIGINT NOT NULL,
    story_id BIGINT NOT NULL,
    PRIMARY KEY (word, updated_at, story_id)
) EDGE;
CREATE INDEX story_word_story ON story_word (story_id);

-- Posts that an app was given on a day (since 1970), each once; kept while the day lasts.
CREATE TABLE post_read (
    app_id BIGINT NOT NULL,
    day BIGINT NOT NULL,
    post_id BIGINT NOT NULL,
    PRIMARY KEY (app_id, day, post_id)
) EDGE;
CREATE INDEX post_read_day ON post_read (day);

-- How many there were.
CREATE TABLE app_read (
    app_id BIGINT NOT NULL,
    day BIGINT NOT NULL,
    posts BIGINT NOT NULL,
    PRIMARY KEY (app_id, day)
) EDGE;
CREATE INDEX app_read_day ON app_read (day);
