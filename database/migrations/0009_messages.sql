-- Direct messages: conversations, who is in them, what happened there, and each participant's own
-- copy of it.

CREATE TABLE dm_conversation (
    id BIGINT NOT NULL PRIMARY KEY,
    -- the two of a conversation of two; 0 in a group
    lower_id BIGINT NOT NULL,
    higher_id BIGINT NOT NULL
);
CREATE UNIQUE INDEX dm_conversation_pair ON dm_conversation (lower_id, higher_id)
    WHERE lower_id > 0;

CREATE TABLE dm_participant (
    conversation_id BIGINT NOT NULL,
    user_id BIGINT NOT NULL,
    -- a snowflake: when they came
    id BIGINT NOT NULL,
    -- the last event that they have read; 0 for none
    read_id BIGINT NOT NULL DEFAULT 0,
    PRIMARY KEY (conversation_id, user_id)
) EDGE;

CREATE TABLE dm_event (
    id BIGINT NOT NULL PRIMARY KEY,
    conversation_id BIGINT NOT NULL,
    -- 0 a message, 1 participants join, 2 participants leave
    kind BIGINT NOT NULL,
    sender_id BIGINT NOT NULL,
    app_id BIGINT,
    text TEXT NOT NULL DEFAULT '',
    entities TEXT NOT NULL DEFAULT '',
    media_id BIGINT,
    media_key TEXT NOT NULL DEFAULT '',
    -- posts that the text links to, comma-separated
    post_ids TEXT NOT NULL DEFAULT '',
    -- who joined or left, comma-separated
    participant_ids TEXT NOT NULL DEFAULT '',
    -- participants who have it still; at 0 it goes
    copies BIGINT NOT NULL
);

-- What a participant was given and has not removed. Both ways to read it, all and of one
-- conversation, are walks along an index, each kind by itself.
CREATE TABLE dm_inbox (
    user_id BIGINT NOT NULL,
    kind BIGINT NOT NULL,
    event_id BIGINT NOT NULL,
    conversation_id BIGINT NOT NULL,
    PRIMARY KEY (user_id, kind, event_id)
) EDGE;
CREATE INDEX dm_inbox_conversation ON dm_inbox (user_id, conversation_id, kind, event_id);

-- messages that carry it; what no post carries is served to their readers only
ALTER TABLE media ADD COLUMN message_uses BIGINT NOT NULL DEFAULT 0;
