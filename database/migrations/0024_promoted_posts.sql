-- A repost that is for promotion only stands beside the one that everyone sees.
DROP INDEX post_repost;
CREATE UNIQUE INDEX post_repost ON post (repost_of_id, author_id, nullcast)
    WHERE repost_of_id IS NOT NULL AND state = 0;
-- An author's posts that are for promotion only, newest first.
CREATE INDEX post_promoted ON post (author_id, id) WHERE state = 0 AND nullcast = 1;
-- Posts that carry the poll of a card.
CREATE INDEX post_card_poll ON post (poll_id) WHERE poll_id IS NOT NULL AND card_uri <> '';
-- Polls of cards counted as told from their start; now their end is told where posts carry them.
UPDATE poll SET closed_at = NULL WHERE post_id = id AND closed_at < ends_at;

-- What somebody is told beside the interface; newest first.
CREATE TABLE notification (
    id BIGINT NOT NULL PRIMARY KEY,
    user_id BIGINT NOT NULL,
    text TEXT NOT NULL,
    -- a path of this site, or empty
    path TEXT NOT NULL
);
CREATE INDEX notification_user ON notification (user_id, id);
