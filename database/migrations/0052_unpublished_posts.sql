-- Drafts and scheduled posts of members.

CREATE TABLE unpublished_post (
    id BIGINT NOT NULL PRIMARY KEY,
    user_id BIGINT NOT NULL,
    -- none for a draft
    scheduled_at BIGINT,
    -- when it is published or tried again; none for drafts and what was refused
    due_at BIGINT,
    -- failures of the server so far
    attempts BIGINT NOT NULL DEFAULT 0,
    -- why it was not published, or empty
    problem TEXT NOT NULL DEFAULT '',
    text TEXT NOT NULL,
    in_reply_to_post_id BIGINT,
    quoted_post_id BIGINT,
    -- comma-separated
    media_ids TEXT NOT NULL DEFAULT '',
    -- one per line; empty without a poll
    poll_choices TEXT NOT NULL DEFAULT '',
    poll_minutes BIGINT NOT NULL DEFAULT 0,
    reply_settings TEXT NOT NULL DEFAULT ''
);
CREATE INDEX unpublished_post_user ON unpublished_post (user_id, scheduled_at, id);
CREATE INDEX unpublished_post_due ON unpublished_post (due_at, id) WHERE due_at IS NOT NULL;

ALTER TABLE media ADD COLUMN draft_uses BIGINT NOT NULL DEFAULT 0;
