-- Receivers of events, what is sent to them, and each try.
CREATE TABLE webhook (
    id BIGINT NOT NULL PRIMARY KEY,
    app_id BIGINT NOT NULL,
    url TEXT NOT NULL,
    -- whether it gets anything
    valid BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    -- when it last answered a challenge rightly
    checked_at BIGINT NOT NULL,
    -- when it is challenged next
    check_due_at BIGINT NOT NULL,
    -- since when nothing reached it although it was tried; none: the last delivery did
    failing_since BIGINT,
    -- why it is not valid, or what went wrong last; empty where nothing did
    problem TEXT NOT NULL DEFAULT '',
    -- when it was removed; its deliveries are swept afterwards
    deleted_at BIGINT
);
CREATE UNIQUE INDEX webhook_url ON webhook (app_id, url) WHERE deleted_at IS NULL;
CREATE INDEX webhook_app ON webhook (app_id, id);
CREATE INDEX webhook_check ON webhook (check_due_at) WHERE valid = 1;

-- What is sent: kept for a while after it arrived, so that it can be looked at and replayed.
CREATE TABLE delivery (
    seq SERIAL_KEY,
    webhook_id BIGINT NOT NULL,
    -- what its receiver knows the event by
    event_id TEXT NOT NULL,
    -- the replay or the resending that it belongs to; 0 for the first sending
    job_id BIGINT NOT NULL DEFAULT 0,
    -- deliveries with one key reach the receiver one after the other
    order_key BIGINT NOT NULL,
    -- the post that it tells of, 0 where it tells of none
    post_id BIGINT NOT NULL DEFAULT 0,
    -- when it happened
    at BIGINT NOT NULL,
    body TEXT NOT NULL,
    -- 0 waits, 1 delivered, 2 given up
    state BIGINT NOT NULL DEFAULT 0,
    tries BIGINT NOT NULL DEFAULT 0,
    -- when it was tried first
    tried_at BIGINT,
    -- when it is tried next
    due_at BIGINT NOT NULL
);
CREATE UNIQUE INDEX delivery_event ON delivery (webhook_id, event_id, job_id);
CREATE INDEX delivery_at ON delivery (webhook_id, at, seq);
CREATE INDEX delivery_waiting ON delivery (webhook_id, seq) WHERE state = 0;
CREATE INDEX delivery_job ON delivery (job_id, state) WHERE job_id <> 0;

CREATE TABLE delivery_attempt (
    seq SERIAL_KEY,
    webhook_id BIGINT NOT NULL,
    -- what was sent; 0: a challenge
    delivery_seq BIGINT NOT NULL,
    at BIGINT NOT NULL,
    -- of the answer; 0 where there was none
    status BIGINT NOT NULL,
    -- what went wrong; empty where nothing did
    problem TEXT NOT NULL DEFAULT '',
    took_ms BIGINT NOT NULL,
    -- the signature that was sent, or the token of the challenge
    sent TEXT NOT NULL,
    -- the right answer to the challenge
    expected TEXT NOT NULL DEFAULT '',
    -- how the answer began
    answer TEXT NOT NULL DEFAULT ''
);
CREATE INDEX delivery_attempt_of ON delivery_attempt (webhook_id, delivery_seq, seq);

-- Spans of the past that are sent again.
CREATE TABLE replay (
    id BIGINT NOT NULL PRIMARY KEY,
    webhook_id BIGINT NOT NULL,
    -- included
    from_at BIGINT NOT NULL,
    -- excluded
    to_at BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    -- the last delivery that was taken up
    taken_at BIGINT NOT NULL,
    taken_seq BIGINT NOT NULL DEFAULT 0,
    -- 0 takes up deliveries, 1 waits for them, 2 complete, 3 incomplete
    state BIGINT NOT NULL DEFAULT 0
);
CREATE UNIQUE INDEX replay_running ON replay (webhook_id) WHERE state < 2;
CREATE INDEX replay_webhook ON replay (webhook_id, id);

-- Webhooks that get the posts which match the rules of their app's filtered stream.
CREATE TABLE stream_link (
    webhook_id BIGINT NOT NULL PRIMARY KEY,
    app_id BIGINT NOT NULL,
    -- fields and expansions, as the query asked for them
    fields TEXT NOT NULL DEFAULT '',
    created_at BIGINT NOT NULL
);
CREATE INDEX stream_link_app ON stream_link (app_id, webhook_id);

-- Which node sends to a webhook, and until when no other does; on the machine's clock.
CREATE VOLATILE TABLE webhook_lease (
    webhook_id BIGINT NOT NULL PRIMARY KEY,
    node BIGINT NOT NULL,
    until BIGINT NOT NULL
) EDGE;
CREATE INDEX webhook_lease_node ON webhook_lease (node);
