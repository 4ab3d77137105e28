-- Signing in: sessions of browsers, links that letters carry, letters, throttling, the record of
-- what was done to accounts and apps, and what apps have called.

CREATE TABLE session (
    id SERIAL_KEY,
    -- of the text that the browser holds
    digest BYTES NOT NULL,
    user_id BIGINT NOT NULL,
    -- what the tokens of its forms are made with
    form_key BYTES NOT NULL,
    created_at BIGINT NOT NULL,
    last_seen_at BIGINT NOT NULL,
    -- how long it lives on after it was last seen
    ttl_ms BIGINT NOT NULL,
    address TEXT NOT NULL,
    user_agent TEXT NOT NULL,
    revoked_at BIGINT
);
CREATE UNIQUE INDEX session_digest ON session (digest);
CREATE INDEX session_of_user ON session (user_id) WHERE revoked_at IS NULL;
CREATE INDEX session_seen ON session (last_seen_at);

-- Links that work once: to confirm an address, to set a new password, to join.
CREATE TABLE link (
    digest BYTES NOT NULL PRIMARY KEY,
    -- confirm, reset, invite
    purpose TEXT NOT NULL,
    user_id BIGINT NOT NULL,
    -- the address that it was sent to, or empty
    email TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    used_at BIGINT
);
CREATE INDEX link_user ON link (user_id, purpose);
CREATE INDEX link_expiry ON link (expires_at);

-- Letters, queued in the transaction of what caused them.
CREATE TABLE letter (
    id SERIAL_KEY,
    recipient TEXT NOT NULL,
    subject TEXT NOT NULL,
    -- encrypted, for links stand in it; none once the letter is sent
    body BYTES,
    created_at BIGINT NOT NULL,
    -- when it is tried next; none when it was sent or given up
    due_at BIGINT,
    tries BIGINT NOT NULL DEFAULT 0,
    sent_at BIGINT,
    problem TEXT NOT NULL DEFAULT ''
);
CREATE INDEX letter_due ON letter (due_at) WHERE due_at IS NOT NULL;

-- Who has tried how often lately, one row for each thing that is throttled.
CREATE TABLE attempts (
    digest BYTES NOT NULL PRIMARY KEY,
    -- the moment at which nothing is held against it any more
    clear_at BIGINT NOT NULL,
    -- whether the record says that it is throttled
    noted BIGINT NOT NULL DEFAULT 0
);
CREATE INDEX attempts_clear ON attempts (clear_at);

-- What was done to accounts and apps, by whom and from where. Rows are added, never changed.
CREATE TABLE audit (
    seq SERIAL_KEY,
    at BIGINT NOT NULL,
    kind TEXT NOT NULL,
    actor_id BIGINT,
    app_id BIGINT,
    address TEXT NOT NULL,
    detail TEXT NOT NULL
);
CREATE INDEX audit_actor ON audit (actor_id, seq) WHERE actor_id IS NOT NULL;
CREATE INDEX audit_app ON audit (app_id, seq) WHERE app_id IS NOT NULL;

-- Calls of each app, by operation and window.
CREATE TABLE app_use (
    app_id BIGINT NOT NULL,
    operation TEXT NOT NULL,
    started_at BIGINT NOT NULL,
    calls BIGINT NOT NULL,
    PRIMARY KEY (app_id, operation, started_at)
) EDGE;
CREATE INDEX app_use_age ON app_use (started_at);

-- When each app last used each kind of credential, for each user it acts for (0: for itself).
CREATE TABLE credential_use (
    app_id BIGINT NOT NULL,
    kind TEXT NOT NULL,
    user_id BIGINT NOT NULL,
    last_used_at BIGINT NOT NULL,
    PRIMARY KEY (app_id, kind, user_id)
) EDGE;

-- People are found by their address, in whatever case.
CREATE INDEX users_email ON users (LOWER(email)) WHERE email <> '';
