-- What moderators decide about posts and accounts, what members report, who may decide, and the settings of the site.

ALTER TABLE users ADD COLUMN limited BIGINT NOT NULL DEFAULT 0;
ALTER TABLE users ADD COLUMN silenced BIGINT NOT NULL DEFAULT 0;
ALTER TABLE post ADD COLUMN limited BIGINT NOT NULL DEFAULT 0;

CREATE TABLE moderation_action (
    id BIGINT NOT NULL PRIMARY KEY,
    -- 1 remove, 2 warn, 3 label, 4 limit, 5 silence, 6 suspend, 7 ban
    kind BIGINT NOT NULL,
    user_id BIGINT NOT NULL,
    -- none if it is about the account
    post_id BIGINT,
    -- none for an operator at the command line, and for the server itself
    moderator_id BIGINT,
    reason TEXT NOT NULL,
    ends_at BIGINT,
    lifted_at BIGINT,
    lifted_by BIGINT,
    -- what a removed post contained (JSON), or empty
    content TEXT NOT NULL DEFAULT ''
);
CREATE INDEX moderation_action_user ON moderation_action (user_id, id);
CREATE INDEX moderation_action_post ON moderation_action (post_id, id);
CREATE INDEX moderation_action_end ON moderation_action (ends_at) WHERE lifted_at IS NULL;

CREATE TABLE appeal (
    action_id BIGINT NOT NULL PRIMARY KEY,
    user_id BIGINT NOT NULL,
    text TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    decided_at BIGINT,
    decided_by BIGINT,
    accepted BIGINT NOT NULL DEFAULT 0,
    answer TEXT NOT NULL DEFAULT ''
);
CREATE INDEX appeal_open ON appeal (created_at) WHERE decided_at IS NULL;

CREATE TABLE report (
    id BIGINT NOT NULL PRIMARY KEY,
    -- 0 for the server itself
    reporter_id BIGINT NOT NULL,
    -- 1 post, 2 user, 3 message, 4 list
    subject_kind BIGINT NOT NULL,
    subject_id BIGINT NOT NULL,
    -- whom it concerns
    user_id BIGINT NOT NULL,
    category TEXT NOT NULL,
    text TEXT NOT NULL,
    -- what a reported message said, or empty
    evidence TEXT NOT NULL DEFAULT '',
    closed_at BIGINT,
    closed_by BIGINT,
    -- whether it led to an action
    upheld BIGINT NOT NULL DEFAULT 0
);
CREATE UNIQUE INDEX report_once ON report (reporter_id, subject_kind, subject_id) WHERE closed_at IS NULL;
CREATE INDEX report_open ON report (id) WHERE closed_at IS NULL;
CREATE INDEX report_subject ON report (subject_kind, subject_id, id);
CREATE INDEX report_user ON report (user_id, id);

CREATE TABLE user_role (
    user_id BIGINT NOT NULL PRIMARY KEY,
    -- 1 moderator, 2 admin, 3 owner
    role BIGINT NOT NULL,
    granted_at BIGINT NOT NULL
);

CREATE TABLE site_setting (
    name TEXT NOT NULL PRIMARY KEY,
    value TEXT NOT NULL,
    updated_at BIGINT NOT NULL
) EDGE;

CREATE TABLE blocked_term (
    -- 1 word, 2 link host, 3 email domain
    kind BIGINT NOT NULL,
    term TEXT NOT NULL,
    -- whether it is held for a moderator rather than refused
    hold BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (kind, term)
) EDGE;

-- Applications for accounts that wait for approval.
CREATE TABLE registration_request (
    id BIGINT NOT NULL PRIMARY KEY,
    username TEXT NOT NULL,
    name TEXT NOT NULL,
    email TEXT NOT NULL,
    password_hash TEXT NOT NULL,
    address TEXT NOT NULL
);
CREATE UNIQUE INDEX registration_request_email ON registration_request (email);
