-- Two-factor sign-in, and whom entries of the audit log concern.

CREATE TABLE two_factor (
    user_id BIGINT NOT NULL PRIMARY KEY,
    -- the key of the codes, encrypted
    secret BYTES NOT NULL,
    created_at BIGINT NOT NULL,
    -- none until a code was entered
    enabled_at BIGINT,
    -- the time step of the last accepted code
    last_step BIGINT NOT NULL DEFAULT 0
);

CREATE TABLE recovery_code (
    digest BYTES NOT NULL PRIMARY KEY,
    user_id BIGINT NOT NULL
);
CREATE INDEX recovery_code_user ON recovery_code (user_id);

-- the account that the details name
ALTER TABLE audit ADD COLUMN subject_id BIGINT;
