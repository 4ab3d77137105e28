-- What users have granted to apps, and what is under way between an app's request and its token.

CREATE TABLE app_grant (
    user_id BIGINT NOT NULL,
    app_id BIGINT NOT NULL,
    -- the widest OAuth 1.0a level that was approved: read, write, messages, or empty
    permission TEXT NOT NULL DEFAULT '',
    -- every OAuth 2.0 scope that was approved, space-separated
    scopes TEXT NOT NULL DEFAULT '',
    created_at BIGINT NOT NULL,
    -- when the user last approved
    approved_at BIGINT NOT NULL,
    -- when a token was last given out; its update is also what puts all flows of one user and
    -- one app into an order
    used_at BIGINT NOT NULL,
    PRIMARY KEY (user_id, app_id)
) EDGE;

-- OAuth 1.0a request tokens.
CREATE TABLE oauth1_request (
    digest BYTES NOT NULL PRIMARY KEY,
    id BIGINT NOT NULL,
    app_id BIGINT NOT NULL,
    permission TEXT NOT NULL,
    -- a URL, or oob
    callback TEXT NOT NULL,
    secret BYTES NOT NULL,
    -- 0 waiting, 1 approved, 2 denied, 3 exchanged
    state BIGINT NOT NULL DEFAULT 0,
    user_id BIGINT,
    -- of the token and the verifier or PIN together
    verifier_digest BYTES,
    tries BIGINT NOT NULL DEFAULT 0,
    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL
);
CREATE INDEX oauth1_request_expiry ON oauth1_request (expires_at);
CREATE INDEX oauth1_request_user ON oauth1_request (user_id) WHERE user_id IS NOT NULL;

-- OAuth 2.0 authorization codes. A used one stays for a while, so that a second use is seen.
CREATE TABLE oauth2_code (
    digest BYTES NOT NULL PRIMARY KEY,
    -- of the tokens that it leads to
    family BIGINT NOT NULL,
    app_id BIGINT NOT NULL,
    user_id BIGINT NOT NULL,
    redirect_uri TEXT NOT NULL,
    scopes TEXT NOT NULL,
    -- always in the S256 form
    challenge TEXT NOT NULL,
    expires_at BIGINT NOT NULL,
    used_at BIGINT
);
CREATE INDEX oauth2_code_expiry ON oauth2_code (expires_at);
CREATE INDEX oauth2_code_user ON oauth2_code (user_id);

CREATE INDEX oauth2_token_expiry ON oauth2_token (expires_at) WHERE expires_at IS NOT NULL;
