-- The rules by which apps choose what a stream sends them.
CREATE TABLE rule (
    id BIGINT NOT NULL PRIMARY KEY,
    app_id BIGINT NOT NULL,
    -- whose rule it is: of the filtered stream (stream) or of the powerstream (powerstream)
    product TEXT NOT NULL,
    -- as the app wrote it
    value TEXT NOT NULL,
    -- SHA-256 of the canonical form, which may be too long for an index
    digest BYTES NOT NULL,
    -- empty where it has none
    tag TEXT NOT NULL DEFAULT '',
    created_at BIGINT NOT NULL
);
CREATE UNIQUE INDEX rule_value ON rule (app_id, product, digest);
CREATE INDEX rule_app ON rule (app_id, product, id);
