-- Passkeys, with which members sign in without a password.

CREATE TABLE passkey (
    -- chosen by the authenticator
    credential_id BYTES NOT NULL PRIMARY KEY,
    user_id BIGINT NOT NULL,
    -- as the authenticator encoded it
    public_key BYTES NOT NULL,
    -- of the last signature; 0 if the authenticator does not count
    sign_count BIGINT NOT NULL,
    name TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    last_used_at BIGINT
);
CREATE INDEX passkey_user ON passkey (user_id);
