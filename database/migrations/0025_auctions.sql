-- How line items did in auctions, by the hour and by what a place went for in steps of about an
-- eighth: enough to say how many were won, and what half of them could have been won for. Rows of
-- the last days only.
CREATE TABLE ad_auction (
    line_item_id BIGINT NOT NULL,
    hour BIGINT NOT NULL,
    step BIGINT NOT NULL,
    entered BIGINT NOT NULL,
    won BIGINT NOT NULL,
    -- the highest of the prices in this step
    highest BIGINT NOT NULL,
    PRIMARY KEY (line_item_id, hour, step)
) EDGE;
CREATE INDEX ad_auction_hour ON ad_auction (hour);

-- When something was last shown before a video, by who posted the video.
CREATE TABLE ad_video (
    author_id BIGINT NOT NULL,
    post_id BIGINT NOT NULL,
    shown_at BIGINT NOT NULL,
    PRIMARY KEY (author_id, post_id)
) EDGE;
CREATE INDEX ad_video_shown ON ad_video (author_id, shown_at);
