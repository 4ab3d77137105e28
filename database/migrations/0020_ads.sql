-- Advertising: what is declared as a resource, who may act on an account, and what was changed.
CREATE TABLE ads_record (
    kind TEXT NOT NULL,
    id BIGINT NOT NULL,
    account_id BIGINT NOT NULL,
    -- 0 shown, 1 a draft, 2 deleted or below something that is
    level BIGINT NOT NULL,
    deleted BIGINT NOT NULL,
    -- the name in lower case, or empty: bytes are ordered alike everywhere
    name_key BYTES NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    -- the declared fields; references and times as numbers, so that they can be indexed
    body DOCUMENT NOT NULL,
    -- by the kind alone no list is to walk along the records of every account
    PRIMARY KEY (id, kind)
) EDGE;
-- Lists of what is shown: in order of creation, filtered by the start of a name on the way.
CREATE INDEX ads_record_shown ON ads_record (kind, account_id, created_at, id, name_key, level)
    WHERE level = 0;
CREATE INDEX ads_record_name ON ads_record (kind, account_id, name_key, id, level) WHERE level = 0;
CREATE INDEX ads_record_updated ON ads_record (kind, account_id, updated_at, id, level)
    WHERE level = 0;
-- Lists with deleted records are ordered by an expression, so that lists without them do not walk
-- along what they would leave out.
CREATE INDEX ads_record_whole ON ads_record (kind, account_id, (created_at + 0), id, name_key);

-- Ids are short: each kind counts its own.
CREATE TABLE ads_sequence (
    kind TEXT NOT NULL PRIMARY KEY,
    last BIGINT NOT NULL
) EDGE;

CREATE TABLE ads_access (
    user_id BIGINT NOT NULL,
    account_id BIGINT NOT NULL,
    role TEXT NOT NULL,
    -- may also make posts in the account's name
    composes BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (user_id, account_id)
) EDGE;
CREATE INDEX ads_access_account ON ads_access (account_id, user_id);

CREATE TABLE ads_change (
    account_id BIGINT NOT NULL,
    entity TEXT NOT NULL,
    entity_id BIGINT NOT NULL,
    changed_at BIGINT NOT NULL,
    id BIGINT NOT NULL,
    -- what it is below, where it is also looked for there
    parent_id BIGINT,
    user_id BIGINT NOT NULL,
    platform TEXT NOT NULL,
    change TEXT NOT NULL,
    -- the entity after the change, and which of its fields changed
    body TEXT NOT NULL,
    PRIMARY KEY (account_id, entity, entity_id, changed_at, id)
) EDGE;
CREATE INDEX ads_change_parent ON ads_change (account_id, entity, parent_id, changed_at, id)
    WHERE parent_id IS NOT NULL;

-- Every app had it all along.
UPDATE app SET entitlements = TRIM(entitlements || ' ads');
