-- Files that users upload: in segments, measured, then attached to posts.

ALTER TABLE media ADD COLUMN content_type TEXT NOT NULL DEFAULT '';
ALTER TABLE media ADD COLUMN size BIGINT NOT NULL DEFAULT 0;
-- bits a second; 0 when nothing plays
ALTER TABLE media ADD COLUMN bit_rate BIGINT NOT NULL DEFAULT 0;
-- smaller pictures beside it: `small.jpg,medium.jpg`
ALTER TABLE media ADD COLUMN sizes TEXT NOT NULL DEFAULT '';
-- posts that carry it; unknown of what was imported, which therefore never goes by itself
ALTER TABLE media ADD COLUMN uses BIGINT;
-- when it goes unless a post carries it
ALTER TABLE media ADD COLUMN expires_at BIGINT;
CREATE INDEX media_expiry ON media (expires_at) WHERE expires_at IS NOT NULL;

-- others who may post it
CREATE TABLE media_share (
    media_id BIGINT NOT NULL,
    user_id BIGINT NOT NULL,
    PRIMARY KEY (media_id, user_id)
) EDGE;

-- who is shown in the media of a post
CREATE TABLE media_tag (
    post_id BIGINT NOT NULL,
    user_id BIGINT NOT NULL,
    PRIMARY KEY (post_id, user_id)
) EDGE;

CREATE TABLE subtitle (
    video_id BIGINT NOT NULL,
    language TEXT NOT NULL,
    media_id BIGINT NOT NULL,
    display_name TEXT NOT NULL,
    PRIMARY KEY (video_id, language)
) EDGE;

CREATE TABLE upload (
    -- the id of the media that comes of it
    id BIGINT NOT NULL PRIMARY KEY,
    media_key TEXT NOT NULL,
    owner_id BIGINT NOT NULL,
    -- photo, animated_gif, video, subtitles; empty until its bytes tell
    kind TEXT NOT NULL,
    -- part of the file's name, so that nobody guesses it
    token TEXT NOT NULL,
    -- as announced; 0 when it was not
    total_bytes BIGINT NOT NULL,
    -- 0 receiving, 1 waiting, 2 being processed, 3 done, 4 failed
    state BIGINT NOT NULL,
    failure TEXT NOT NULL DEFAULT '',
    progress BIGINT NOT NULL DEFAULT 0,
    -- until then another process is at it
    leased_until BIGINT NOT NULL DEFAULT 0,
    alt_text TEXT NOT NULL DEFAULT '',
    -- comma-separated ids
    shared_with TEXT NOT NULL DEFAULT '',
    expires_at BIGINT NOT NULL
);
CREATE INDEX upload_expiry ON upload (expires_at);
CREATE INDEX upload_owner ON upload (owner_id) WHERE state = 0;
CREATE INDEX upload_work ON upload (leased_until) WHERE state = 1 OR state = 2;

CREATE TABLE upload_segment (
    upload_id BIGINT NOT NULL,
    place BIGINT NOT NULL,
    size BIGINT NOT NULL,
    PRIMARY KEY (upload_id, place)
) EDGE;
