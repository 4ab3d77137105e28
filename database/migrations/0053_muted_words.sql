-- Words and phrases that members do not want to read.

CREATE TABLE muted_word (
    id BIGINT NOT NULL PRIMARY KEY,
    user_id BIGINT NOT NULL,
    -- in lower case
    phrase TEXT NOT NULL,
    -- none if it is muted for good
    expires_at BIGINT
);
CREATE UNIQUE INDEX muted_word_phrase ON muted_word (user_id, phrase);
CREATE INDEX muted_word_expiry ON muted_word (expires_at) WHERE expires_at IS NOT NULL;
