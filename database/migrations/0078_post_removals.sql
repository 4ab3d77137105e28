-- Deleted posts that had more likes, bookmarks or reposts than one transaction deletes.
CREATE TABLE post_removal (
    post_id BIGINT NOT NULL PRIMARY KEY
);
