-- Drafts and scheduled posts of members that go to a community. They have a table of their own, because earlier programs
-- would publish what they find in the other one to everyone.

CREATE TABLE unpublished_community_post (
    id BIGINT NOT NULL PRIMARY KEY,
    user_id BIGINT NOT NULL,
    scheduled_at BIGINT,
    due_at BIGINT,
    attempts BIGINT NOT NULL DEFAULT 0,
    problem TEXT NOT NULL DEFAULT '',
    text TEXT NOT NULL,
    in_reply_to_post_id BIGINT,
    quoted_post_id BIGINT,
    media_ids TEXT NOT NULL DEFAULT '',
    poll_choices TEXT NOT NULL DEFAULT '',
    poll_minutes BIGINT NOT NULL DEFAULT 0,
    reply_settings TEXT NOT NULL DEFAULT '',
    community_id BIGINT NOT NULL,
    -- whether the author's followers are shown it too
    shared BIGINT NOT NULL DEFAULT 0
);
CREATE INDEX unpublished_community_post_user ON unpublished_community_post (user_id, scheduled_at, id);
CREATE INDEX unpublished_community_post_due ON unpublished_community_post (due_at, id) WHERE due_at IS NOT NULL;
