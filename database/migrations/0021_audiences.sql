-- Custom audiences: their members by the digests of keys, which users have those keys, and whom
-- that comes to.
CREATE TABLE audience_member (
    audience_id BIGINT NOT NULL,
    number BIGINT NOT NULL,
    effective_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    -- whether it was written after users were last looked for
    waiting BIGINT NOT NULL,
    PRIMARY KEY (audience_id, number)
) EDGE;
CREATE INDEX audience_member_waiting ON audience_member (audience_id, number) WHERE waiting = 1;
CREATE INDEX audience_member_expiry ON audience_member (expires_at);

-- A key begins with a letter for its kind.
CREATE TABLE audience_key (
    key BYTES NOT NULL,
    audience_id BIGINT NOT NULL,
    member BIGINT NOT NULL,
    PRIMARY KEY (key, audience_id)
) EDGE;
CREATE INDEX audience_key_member ON audience_key (audience_id, member);

CREATE TABLE user_key (
    key BYTES NOT NULL,
    user_id BIGINT NOT NULL,
    PRIMARY KEY (key, user_id)
) EDGE;
CREATE INDEX user_key_user ON user_key (user_id);

-- Whom the members of an audience come to, and from when until when.
CREATE TABLE audience_user (
    audience_id BIGINT NOT NULL,
    user_id BIGINT NOT NULL,
    member BIGINT NOT NULL,
    effective_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    PRIMARY KEY (audience_id, user_id, member)
) EDGE;
CREATE INDEX audience_user_user ON audience_user (user_id, audience_id);
CREATE INDEX audience_user_member ON audience_user (audience_id, member);
CREATE INDEX audience_user_start ON audience_user (audience_id, effective_at);
CREATE INDEX audience_user_end ON audience_user (audience_id, expires_at);

-- Audiences that were deleted, until their members are.
CREATE TABLE audience_gone (
    audience_id BIGINT NOT NULL PRIMARY KEY
) EDGE;

-- Whether a user's keys are those in user_key.
ALTER TABLE users ADD COLUMN keyed BIGINT NOT NULL DEFAULT 0;
CREATE INDEX users_unkeyed ON users (id) WHERE keyed = 0;
-- When a user was last there.
CREATE INDEX credential_use_user ON credential_use (user_id, last_used_at);
