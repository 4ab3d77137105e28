-- Bookmarks in their folders, hidden replies, and the order of reposts.

CREATE TABLE bookmark (
    user_id BIGINT NOT NULL,
    post_id BIGINT NOT NULL,
    -- a snowflake: newest first, and when it was set
    id BIGINT NOT NULL,
    PRIMARY KEY (user_id, post_id)
) EDGE;
CREATE INDEX bookmark_user ON bookmark (user_id, id);
CREATE INDEX bookmark_post ON bookmark (post_id, id);

CREATE TABLE bookmark_folder (
    id BIGINT NOT NULL PRIMARY KEY,
    user_id BIGINT NOT NULL,
    name TEXT NOT NULL
);
CREATE INDEX bookmark_folder_user ON bookmark_folder (user_id, id);

-- Which bookmarks a folder holds; one bookmark may be in several.
CREATE TABLE bookmark_filing (
    folder_id BIGINT NOT NULL,
    post_id BIGINT NOT NULL,
    user_id BIGINT NOT NULL,
    id BIGINT NOT NULL,
    PRIMARY KEY (folder_id, post_id)
) EDGE;
CREATE INDEX bookmark_filing_folder ON bookmark_filing (folder_id, id);
CREATE INDEX bookmark_filing_post ON bookmark_filing (post_id, user_id);

-- Replies that the author of their conversation's root has hidden.
CREATE TABLE hidden_reply (
    post_id BIGINT NOT NULL PRIMARY KEY,
    hidden_at BIGINT NOT NULL
) EDGE;

-- The reposts of a post, newest first.
CREATE INDEX post_repost_order ON post (repost_of_id, id)
    WHERE repost_of_id IS NOT NULL AND state = 0;
-- An author's posts that were reposted, newest first.
CREATE INDEX post_reposted ON post (author_id, id)
    WHERE state = 0 AND repost_count + imported_repost_count > 0;
