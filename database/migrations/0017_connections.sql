-- Connections to streams, now and in the past.
CREATE TABLE stream_connection (
    id BIGINT NOT NULL PRIMARY KEY,
    uuid TEXT NOT NULL,
    app_id BIGINT NOT NULL,
    endpoint TEXT NOT NULL,
    part BIGINT NOT NULL,
    -- the node that holds it, and when that node last said so (the machine's time)
    node BIGINT NOT NULL,
    seen_at BIGINT NOT NULL,
    client TEXT NOT NULL DEFAULT '',
    connected_at BIGINT NOT NULL,
    disconnected_at BIGINT,
    -- why it ended; empty while it is open
    reason TEXT NOT NULL DEFAULT ''
);
CREATE UNIQUE INDEX stream_connection_uuid ON stream_connection (uuid);
CREATE INDEX stream_connection_app ON stream_connection (app_id, id);
CREATE INDEX stream_connection_open ON stream_connection (node, id) WHERE disconnected_at IS NULL;
CREATE INDEX stream_connection_live ON stream_connection (app_id, id) WHERE disconnected_at IS NULL;
CREATE INDEX stream_connection_past ON stream_connection (disconnected_at)
    WHERE disconnected_at IS NOT NULL;
