-- Who was shown a post in an hour (since 1970), once; kept for a few hours, so that nobody counts twice.
CREATE TABLE post_view (
    hour BIGINT NOT NULL,
    post_id BIGINT NOT NULL,
    viewer_id BIGINT NOT NULL,
    delivered BIGINT NOT NULL,
    promoted BIGINT NOT NULL,
    PRIMARY KEY (hour, post_id, viewer_id)
) EDGE BY_HOUR;
POSTGRES CREATE TABLE post_view_default PARTITION OF post_view DEFAULT;

-- What happened to a post in an hour and leaves no row of its own.
CREATE TABLE post_hour (
    post_id BIGINT NOT NULL,
    hour BIGINT NOT NULL,
    impressions BIGINT NOT NULL,
    link_clicks BIGINT NOT NULL,
    profile_clicks BIGINT NOT NULL,
    PRIMARY KEY (post_id, hour)
) EDGE;
CREATE INDEX post_hour_hour ON post_hour (hour);

-- Which parts of a video a viewer got in an hour, as a bit mask, and those of them that are in its sums.
CREATE TABLE playback (
    hour BIGINT NOT NULL,
    media_id BIGINT NOT NULL,
    viewer_id BIGINT NOT NULL,
    parts BIGINT NOT NULL,
    counted_parts BIGINT NOT NULL,
    PRIMARY KEY (hour, media_id, viewer_id)
) EDGE BY_HOUR;
POSTGRES CREATE TABLE playback_default PARTITION OF playback DEFAULT;

CREATE TABLE media_hour (
    media_id BIGINT NOT NULL,
    hour BIGINT NOT NULL,
    starts BIGINT NOT NULL,
    quarters BIGINT NOT NULL,
    halves BIGINT NOT NULL,
    three_quarters BIGINT NOT NULL,
    completions BIGINT NOT NULL,
    views BIGINT NOT NULL,
    watch_time_ms BIGINT NOT NULL,
    PRIMARY KEY (media_id, hour)
) EDGE;
