-- Open windows of rate limits, which nodes share.
CREATE VOLATILE TABLE rate_window (
    digest BYTES NOT NULL PRIMARY KEY,
    used BIGINT NOT NULL,
    ends_at BIGINT NOT NULL
);
CREATE INDEX rate_window_end ON rate_window (ends_at);
