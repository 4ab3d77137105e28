-- Product catalogs of the Ads API: the products of a user, sets of them, and the feed from which they are imported.
CREATE TABLE product_catalog (
    id BIGINT NOT NULL PRIMARY KEY,
    user_id BIGINT NOT NULL,
    -- whether it is one of the sandbox
    sandbox BIGINT NOT NULL,
    name TEXT NOT NULL,
    -- nobody sees it any more, and what it contains is still to be deleted
    deleted BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL
);
CREATE UNIQUE INDEX product_catalog_user ON product_catalog (user_id, sandbox) WHERE deleted = 0;
CREATE INDEX product_catalog_deleted ON product_catalog (id) WHERE deleted = 1;

CREATE TABLE catalog_product (
    id BIGINT NOT NULL PRIMARY KEY,
    catalog_id BIGINT NOT NULL,
    -- a hash of the id that the merchant uses
    merchant_key BIGINT NOT NULL,
    -- a hash of the group of variants
    group_key BIGINT,
    -- the declared fields, in JSON
    body TEXT NOT NULL
);
CREATE UNIQUE INDEX catalog_product_merchant ON catalog_product (catalog_id, merchant_key);
CREATE INDEX catalog_product_page ON catalog_product (catalog_id, id, group_key);
CREATE INDEX catalog_product_group ON catalog_product (catalog_id, group_key, id) WHERE group_key IS NOT NULL;

CREATE TABLE product_set (
    id BIGINT NOT NULL PRIMARY KEY,
    catalog_id BIGINT NOT NULL,
    -- the declared fields, in JSON
    body TEXT NOT NULL
);
CREATE INDEX product_set_catalog ON product_set (catalog_id, id);

CREATE TABLE scheduled_feed (
    id BIGINT NOT NULL PRIMARY KEY,
    catalog_id BIGINT NOT NULL,
    -- the next import, or when a running one counts as interrupted
    due_at BIGINT NOT NULL,
    -- of the import that is running
    import_id BIGINT,
    -- imports that failed or were interrupted since the last scheduled time
    attempts BIGINT NOT NULL,
    -- the declared fields, and the outcome of the last import, in JSON
    body TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL
);
CREATE UNIQUE INDEX scheduled_feed_catalog ON scheduled_feed (catalog_id);
CREATE INDEX scheduled_feed_due ON scheduled_feed (due_at, id);
