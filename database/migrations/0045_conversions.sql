-- What a conversion in the ledger was, beside its row in ad_event.
CREATE TABLE ad_conversion (
    line_item_id BIGINT NOT NULL,
    event_time BIGINT NOT NULL,
    event_id BIGINT NOT NULL,
    source BIGINT NOT NULL,
    tag_id BIGINT NOT NULL,
    kind BIGINT NOT NULL,
    path BIGINT NOT NULL,
    -- the impression or promoted post that it is attributed to, as in ad_event.once
    impression_id BIGINT NOT NULL,
    order_quantity BIGINT NOT NULL,
    sale_amount_micro BIGINT NOT NULL,
    PRIMARY KEY (line_item_id, event_time, event_id)
) EDGE;

-- Conversions by the hour; hours begin as they do in ad_hour.
CREATE TABLE ad_conversion_hour (
    entity BIGINT NOT NULL,
    entity_id BIGINT NOT NULL,
    hour BIGINT NOT NULL,
    placement BIGINT NOT NULL,
    source BIGINT NOT NULL,
    kind BIGINT NOT NULL,
    tag_id BIGINT NOT NULL,
    post_view BIGINT NOT NULL,
    post_engagement BIGINT NOT NULL,
    assisted BIGINT NOT NULL,
    order_quantity BIGINT NOT NULL,
    sale_amount_micro BIGINT NOT NULL,
    PRIMARY KEY (entity, entity_id, hour, placement, source, kind, tag_id)
) EDGE;

-- The conversions that advertisers gave an id, so that each counts once; kept as long as conversions may be late.
CREATE TABLE conversion_key (
    tag_id BIGINT NOT NULL,
    digest BIGINT NOT NULL,
    recorded_at BIGINT NOT NULL,
    PRIMARY KEY (tag_id, digest)
) EDGE;
CREATE INDEX conversion_key_recorded ON conversion_key (recorded_at);

ALTER TABLE ad_hour ADD COLUMN conversions BIGINT NOT NULL DEFAULT 0;
ALTER TABLE ad_total ADD COLUMN conversions BIGINT NOT NULL DEFAULT 0;
