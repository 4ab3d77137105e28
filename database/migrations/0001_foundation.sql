-- The foundation: people, apps, tokens, posts, the graph, and the log of everything that happened.
-- Ids are snowflakes, times are milliseconds since 1970, switches are 0 or 1, money would be micros.

CREATE TABLE meta (
    key TEXT NOT NULL PRIMARY KEY,
    value TEXT NOT NULL
);

CREATE TABLE users (
    id BIGINT NOT NULL PRIMARY KEY,
    username TEXT NOT NULL,
    -- lower case; what look-ups and uniqueness go by
    handle TEXT NOT NULL,
    name TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    -- 0 active, 1 suspended, 2 deleted, 3 known by id only (a placeholder from an import)
    state BIGINT NOT NULL DEFAULT 0,
    description TEXT NOT NULL DEFAULT '',
    location TEXT NOT NULL DEFAULT '',
    url TEXT NOT NULL DEFAULT '',
    profile_image_url TEXT NOT NULL DEFAULT '',
    profile_banner_url TEXT NOT NULL DEFAULT '',
    entities TEXT NOT NULL DEFAULT '',
    protected BIGINT NOT NULL DEFAULT 0,
    verified BIGINT NOT NULL DEFAULT 0,
    verified_type TEXT NOT NULL DEFAULT 'none',
    parody BIGINT NOT NULL DEFAULT 0,
    is_identity_verified BIGINT NOT NULL DEFAULT 0,
    subscription_type TEXT NOT NULL DEFAULT 'None',
    receives_dm BIGINT NOT NULL DEFAULT 1,
    affiliation TEXT NOT NULL DEFAULT '',
    withheld TEXT NOT NULL DEFAULT '',
    pinned_post_id BIGINT,
    most_recent_post_id BIGINT,
    followers_count BIGINT NOT NULL DEFAULT 0,
    following_count BIGINT NOT NULL DEFAULT 0,
    post_count BIGINT NOT NULL DEFAULT 0,
    listed_count BIGINT NOT NULL DEFAULT 0,
    like_count BIGINT NOT NULL DEFAULT 0,
    media_count BIGINT NOT NULL DEFAULT 0,
    -- raised by every change of whom this user follows
    following_version BIGINT NOT NULL DEFAULT 0,
    email TEXT NOT NULL DEFAULT '',
    email_confirmed BIGINT NOT NULL DEFAULT 0,
    password_hash TEXT NOT NULL DEFAULT ''
);
CREATE UNIQUE INDEX users_handle ON users (handle);

CREATE TABLE app (
    id BIGINT NOT NULL PRIMARY KEY,
    owner_id BIGINT NOT NULL,
    name TEXT NOT NULL,
    description TEXT NOT NULL DEFAULT '',
    website_url TEXT NOT NULL DEFAULT '',
    created_at BIGINT NOT NULL,
    -- 0 active, 1 suspended, 2 deleted
    state BIGINT NOT NULL DEFAULT 0,
    api_key TEXT NOT NULL,
    api_secret BYTES NOT NULL,
    bearer BYTES,
    bearer_digest BYTES,
    client_id TEXT NOT NULL,
    client_secret_digest BYTES,
    -- web, automated, native, single-page
    kind TEXT NOT NULL,
    -- read, write, messages: the OAuth 1.0a access level that new tokens get
    permission TEXT NOT NULL,
    request_email BIGINT NOT NULL DEFAULT 0,
    sign_in BIGINT NOT NULL DEFAULT 0,
    -- self-serve, enterprise
    access_level TEXT NOT NULL,
    -- space-separated names: full_archive, blocks, …
    entitlements TEXT NOT NULL DEFAULT '',
    -- one URL a line, at most ten
    callback_urls TEXT NOT NULL DEFAULT '',
    -- posts, tweets, or empty for the platform's default
    vocabulary TEXT NOT NULL DEFAULT ''
);
CREATE UNIQUE INDEX app_api_key ON app (api_key);
CREATE UNIQUE INDEX app_client_id ON app (client_id);
CREATE UNIQUE INDEX app_bearer ON app (bearer_digest) WHERE bearer_digest IS NOT NULL;
CREATE INDEX app_owner ON app (owner_id, id);

CREATE TABLE oauth1_token (
    digest BYTES NOT NULL PRIMARY KEY,
    id BIGINT NOT NULL,
    app_id BIGINT NOT NULL,
    user_id BIGINT NOT NULL,
    permission TEXT NOT NULL,
    token BYTES NOT NULL,
    secret BYTES NOT NULL,
    created_at BIGINT NOT NULL,
    revoked_at BIGINT
);
CREATE UNIQUE INDEX oauth1_token_live ON oauth1_token (app_id, user_id, permission)
    WHERE revoked_at IS NULL;
CREATE INDEX oauth1_token_user ON oauth1_token (user_id);

CREATE TABLE oauth2_token (
    digest BYTES NOT NULL PRIMARY KEY,
    id BIGINT NOT NULL,
    -- access or refresh
    kind TEXT NOT NULL,
    -- the tokens that one authorization led to, all revoked together
    family BIGINT NOT NULL,
    app_id BIGINT NOT NULL,
    user_id BIGINT NOT NULL,
    scopes TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    expires_at BIGINT,
    revoked_at BIGINT
);
CREATE INDEX oauth2_token_family ON oauth2_token (family);
CREATE INDEX oauth2_token_user ON oauth2_token (user_id);

CREATE TABLE post (
    id BIGINT NOT NULL PRIMARY KEY,
    author_id BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    -- 0 live, 1 superseded by an edit, 2 deleted, 3 known by id only (a placeholder from an import)
    state BIGINT NOT NULL DEFAULT 0,
    text TEXT NOT NULL,
    lang TEXT NOT NULL,
    conversation_id BIGINT NOT NULL,
    in_reply_to_post_id BIGINT,
    in_reply_to_user_id BIGINT,
    quoted_post_id BIGINT,
    repost_of_id BIGINT,
    -- id of the first version, on every version of an edited post
    edit_root_id BIGINT,
    edits_remaining BIGINT NOT NULL DEFAULT 5,
    community_id BIGINT,
    place_id TEXT,
    card_uri TEXT NOT NULL DEFAULT '',
    reply_settings TEXT NOT NULL DEFAULT 'everyone',
    nullcast BIGINT NOT NULL DEFAULT 0,
    followers_only BIGINT NOT NULL DEFAULT 0,
    possibly_sensitive BIGINT NOT NULL DEFAULT 0,
    paid_partnership BIGINT NOT NULL DEFAULT 0,
    made_with_ai BIGINT NOT NULL DEFAULT 0,
    -- entities as the interface shows them: indices count code points of the text
    entities TEXT NOT NULL DEFAULT '',
    -- entities of the shortened text, for a long post only
    short_entities TEXT NOT NULL DEFAULT '',
    display_start BIGINT NOT NULL DEFAULT 0,
    display_end BIGINT NOT NULL DEFAULT 0,
    -- media keys, comma-separated, in order
    media_keys TEXT NOT NULL DEFAULT '',
    poll_id BIGINT,
    geo TEXT NOT NULL DEFAULT '',
    withheld TEXT NOT NULL DEFAULT '',
    app_id BIGINT,
    like_count BIGINT NOT NULL DEFAULT 0,
    reply_count BIGINT NOT NULL DEFAULT 0,
    repost_count BIGINT NOT NULL DEFAULT 0,
    quote_count BIGINT NOT NULL DEFAULT 0,
    bookmark_count BIGINT NOT NULL DEFAULT 0,
    impression_count BIGINT NOT NULL DEFAULT 0,
    -- figures that an import brought along, which no row here accounts for
    imported_like_count BIGINT NOT NULL DEFAULT 0,
    imported_repost_count BIGINT NOT NULL DEFAULT 0,
    -- of text, attachments and targets; what the duplicate rule goes by
    fingerprint BYTES
);
-- An author's timeline: what everyone may see of it, newest first.
CREATE INDEX post_author ON post (author_id, id) WHERE state = 0 AND nullcast = 0;
CREATE INDEX post_reply ON post (in_reply_to_post_id, id) WHERE in_reply_to_post_id IS NOT NULL;
CREATE INDEX post_quote ON post (quoted_post_id, id) WHERE quoted_post_id IS NOT NULL;
CREATE UNIQUE INDEX post_repost ON post (repost_of_id, author_id)
    WHERE repost_of_id IS NOT NULL AND state = 0;
CREATE INDEX post_edit ON post (edit_root_id, id) WHERE edit_root_id IS NOT NULL;
-- Placeholders, by whom they are waiting for.
CREATE INDEX post_placeholder ON post (author_id, id) WHERE state = 3;
CREATE INDEX post_fingerprint ON post (author_id, fingerprint, id)
    WHERE fingerprint IS NOT NULL AND state = 0;

CREATE TABLE mention (
    user_id BIGINT NOT NULL,
    post_id BIGINT NOT NULL,
    PRIMARY KEY (user_id, post_id)
) EDGE;
CREATE INDEX mention_post ON mention (post_id);

CREATE TABLE media (
    media_key TEXT NOT NULL PRIMARY KEY,
    id BIGINT NOT NULL,
    owner_id BIGINT NOT NULL,
    -- photo, video, animated_gif
    kind TEXT NOT NULL,
    -- where the bytes are: a path below the media folder, or empty
    path TEXT NOT NULL DEFAULT '',
    url TEXT NOT NULL DEFAULT '',
    preview_image_url TEXT NOT NULL DEFAULT '',
    width BIGINT NOT NULL DEFAULT 0,
    height BIGINT NOT NULL DEFAULT 0,
    duration_ms BIGINT NOT NULL DEFAULT 0,
    alt_text TEXT NOT NULL DEFAULT '',
    -- the interface's variants, as JSON
    variants TEXT NOT NULL DEFAULT '',
    created_at BIGINT NOT NULL
);
CREATE UNIQUE INDEX media_id ON media (id);
CREATE INDEX media_owner ON media (owner_id, id);

CREATE TABLE follow (
    source_id BIGINT NOT NULL,
    target_id BIGINT NOT NULL,
    -- a snowflake: newest first
    id BIGINT NOT NULL,
    PRIMARY KEY (source_id, target_id)
) EDGE;
CREATE INDEX follow_source ON follow (source_id, id);
CREATE INDEX follow_target ON follow (target_id, id);

CREATE TABLE block (
    source_id BIGINT NOT NULL,
    target_id BIGINT NOT NULL,
    id BIGINT NOT NULL,
    PRIMARY KEY (source_id, target_id)
) EDGE;
CREATE INDEX block_source ON block (source_id, id);

CREATE TABLE mute (
    source_id BIGINT NOT NULL,
    target_id BIGINT NOT NULL,
    id BIGINT NOT NULL,
    PRIMARY KEY (source_id, target_id)
) EDGE;
CREATE INDEX mute_source ON mute (source_id, id);

CREATE TABLE post_like (
    user_id BIGINT NOT NULL,
    post_id BIGINT NOT NULL,
    id BIGINT NOT NULL,
    PRIMARY KEY (user_id, post_id)
) EDGE;
CREATE INDEX post_like_user ON post_like (user_id, id);
CREATE INDEX post_like_post ON post_like (post_id, id);

CREATE TABLE list (
    id BIGINT NOT NULL PRIMARY KEY,
    owner_id BIGINT NOT NULL,
    name TEXT NOT NULL,
    description TEXT NOT NULL DEFAULT '',
    private BIGINT NOT NULL DEFAULT 0,
    created_at BIGINT NOT NULL,
    deleted_at BIGINT,
    member_count BIGINT NOT NULL DEFAULT 0,
    follower_count BIGINT NOT NULL DEFAULT 0
);
CREATE INDEX list_owner ON list (owner_id, id) WHERE deleted_at IS NULL;

CREATE TABLE list_member (
    list_id BIGINT NOT NULL,
    user_id BIGINT NOT NULL,
    id BIGINT NOT NULL,
    PRIMARY KEY (list_id, user_id)
) EDGE;
CREATE INDEX list_member_list ON list_member (list_id, id);
CREATE INDEX list_member_user ON list_member (user_id, id);

-- The log: one row for everything that happened, written in the transaction that made it happen.
CREATE TABLE event (
    seq SERIAL_KEY,
    at BIGINT NOT NULL,
    kind TEXT NOT NULL,
    actor_id BIGINT NOT NULL,
    subject_id BIGINT NOT NULL,
    body TEXT NOT NULL DEFAULT ''
    COMMIT_ORDER
);

-- How far each reader of the log has come.
CREATE TABLE follower (
    name TEXT NOT NULL PRIMARY KEY,
    seq BIGINT NOT NULL
);

-- How far an interrupted import had come.
CREATE TABLE import_progress (
    source TEXT NOT NULL PRIMARY KEY,
    position TEXT NOT NULL,
    report TEXT NOT NULL,
    finished BIGINT NOT NULL DEFAULT 0
);

-- Ids that a source gives to people who have another id here.
CREATE TABLE import_alias (
    id BIGINT NOT NULL PRIMARY KEY,
    user_id BIGINT NOT NULL
);

-- Placeholders of whom a source told the handle only: their ids are ours, until the real one comes.
CREATE TABLE import_name (
    user_id BIGINT NOT NULL PRIMARY KEY,
    handle TEXT NOT NULL
);

-- Authors of what an import has brought so far, whose readers' home timelines are renewed at its end.
CREATE TABLE import_author (
    source TEXT NOT NULL,
    user_id BIGINT NOT NULL,
    PRIMARY KEY (source, user_id)
) EDGE;

-- Signatures seen, so that none is taken twice. Lost with the database server's memory, which
-- is why it costs no flush; a request that is that old is refused by its timestamp.
CREATE VOLATILE TABLE nonce (
    digest BYTES NOT NULL PRIMARY KEY,
    expires_at BIGINT NOT NULL
);
CREATE INDEX nonce_expiry ON nonce (expires_at);
