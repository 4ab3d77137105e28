-- The ledger of advertising: one row for each thing that happened to something promoted, and sums
-- of them, written in the same transaction.
CREATE TABLE ad_event (
    -- what belongs together lies together, in the order of time
    line_item_id BIGINT NOT NULL,
    event_time BIGINT NOT NULL,
    id BIGINT NOT NULL,
    recorded_at BIGINT NOT NULL,
    kind BIGINT NOT NULL,
    account_id BIGINT NOT NULL,
    funding_instrument_id BIGINT NOT NULL,
    campaign_id BIGINT NOT NULL,
    -- what was shown: a promoted post, a promoted account or a media creative
    creative BIGINT NOT NULL,
    creative_id BIGINT NOT NULL,
    -- the post or user that it shows; 0 where it shows neither
    subject BIGINT NOT NULL,
    -- a user, or less than nothing for someone who is none
    viewer BIGINT NOT NULL,
    placement BIGINT NOT NULL,
    -- the viewer as it was then
    platform BIGINT,
    country TEXT NOT NULL,
    metro TEXT NOT NULL,
    age BIGINT,
    gender BIGINT,
    -- what the auction came to, and what of it is charged for this
    price_micro BIGINT NOT NULL,
    billed BIGINT NOT NULL,
    charge_micro BIGINT NOT NULL,
    origin BIGINT NOT NULL,
    -- what it belongs to, once of each kind: the impression
    once BIGINT NOT NULL,
    PRIMARY KEY (line_item_id, event_time, id)
) EDGE;
CREATE UNIQUE INDEX ad_event_once ON ad_event (once, kind);
CREATE INDEX ad_event_shown ON ad_event (viewer, event_time, line_item_id) WHERE kind = 0;

-- By the hour; hours begin as they do in the account's time zone.
CREATE TABLE ad_hour (
    entity BIGINT NOT NULL,
    entity_id BIGINT NOT NULL,
    hour BIGINT NOT NULL,
    placement BIGINT NOT NULL,
    impressions BIGINT NOT NULL,
    qualified_impressions BIGINT NOT NULL,
    engagements BIGINT NOT NULL,
    clicks BIGINT NOT NULL,
    url_clicks BIGINT NOT NULL,
    app_clicks BIGINT NOT NULL,
    card_engagements BIGINT NOT NULL,
    carousel_swipes BIGINT NOT NULL,
    likes BIGINT NOT NULL,
    reposts BIGINT NOT NULL,
    replies BIGINT NOT NULL,
    follows BIGINT NOT NULL,
    poll_votes BIGINT NOT NULL,
    billed BIGINT NOT NULL,
    charge_micro BIGINT NOT NULL,
    video_starts BIGINT NOT NULL,
    video_views BIGINT NOT NULL,
    video_25 BIGINT NOT NULL,
    video_50 BIGINT NOT NULL,
    video_75 BIGINT NOT NULL,
    video_100 BIGINT NOT NULL,
    video_cta_clicks BIGINT NOT NULL,
    video_3s BIGINT NOT NULL,
    video_6s BIGINT NOT NULL,
    video_15s BIGINT NOT NULL,
    video_mrc BIGINT NOT NULL,
    PRIMARY KEY (entity, entity_id, hour, placement)
) EDGE;

-- Of all time.
CREATE TABLE ad_total (
    entity BIGINT NOT NULL,
    entity_id BIGINT NOT NULL,
    -- thousandths of a micro that are not charged yet
    owed BIGINT NOT NULL,
    impressions BIGINT NOT NULL,
    qualified_impressions BIGINT NOT NULL,
    engagements BIGINT NOT NULL,
    clicks BIGINT NOT NULL,
    url_clicks BIGINT NOT NULL,
    app_clicks BIGINT NOT NULL,
    card_engagements BIGINT NOT NULL,
    carousel_swipes BIGINT NOT NULL,
    likes BIGINT NOT NULL,
    reposts BIGINT NOT NULL,
    replies BIGINT NOT NULL,
    follows BIGINT NOT NULL,
    poll_votes BIGINT NOT NULL,
    billed BIGINT NOT NULL,
    charge_micro BIGINT NOT NULL,
    video_starts BIGINT NOT NULL,
    video_views BIGINT NOT NULL,
    video_25 BIGINT NOT NULL,
    video_50 BIGINT NOT NULL,
    video_75 BIGINT NOT NULL,
    video_100 BIGINT NOT NULL,
    video_cta_clicks BIGINT NOT NULL,
    video_3s BIGINT NOT NULL,
    video_6s BIGINT NOT NULL,
    video_15s BIGINT NOT NULL,
    video_mrc BIGINT NOT NULL,
    PRIMARY KEY (entity, entity_id)
) EDGE;

-- What was recorded of which entity in an hour, and of which times it tells.
CREATE TABLE ad_active (
    account_id BIGINT NOT NULL,
    entity BIGINT NOT NULL,
    hour BIGINT NOT NULL,
    entity_id BIGINT NOT NULL,
    first_at BIGINT NOT NULL,
    last_at BIGINT NOT NULL,
    placements BIGINT NOT NULL,
    PRIMARY KEY (account_id, entity, hour, entity_id)
) EDGE;

CREATE TABLE ad_job (
    id BIGINT NOT NULL PRIMARY KEY,
    account_id BIGINT NOT NULL,
    state BIGINT NOT NULL,
    -- what was asked for (JSON)
    asked TEXT NOT NULL,
    -- what its file's address ends in, the file (gzip) and until when it is given
    token TEXT NOT NULL,
    file BYTES,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    expires_at BIGINT
);
CREATE INDEX ad_job_account ON ad_job (account_id, id);
CREATE INDEX ad_job_open ON ad_job (state, id) WHERE state < 3;
CREATE UNIQUE INDEX ad_job_token ON ad_job (token);
CREATE INDEX ad_job_expires ON ad_job (expires_at) WHERE file IS NOT NULL;
