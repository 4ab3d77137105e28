-- What line items may be targeted by, beyond what is built in; who has done something lately; and
-- who blocks a user.
CREATE TABLE ads_option (
    -- INTEREST, CONVERSATION, EVENT, TV_SHOW, …
    kind TEXT NOT NULL,
    value TEXT NOT NULL,
    name TEXT NOT NULL,
    -- a JSON object
    details TEXT NOT NULL,
    PRIMARY KEY (kind, value)
) EDGE;
CREATE INDEX credential_use_age ON credential_use (last_used_at, user_id);
CREATE INDEX block_target ON block (target_id, source_id);
