-- The numbers of nodes, which are part of every id. Times are milliseconds since 1970 on the database's clock.
CREATE TABLE node (
    number BIGINT NOT NULL PRIMARY KEY,
    -- random; another one each time the number is taken
    incarnation BIGINT NOT NULL,
    host TEXT NOT NULL,
    -- server or command
    purpose TEXT NOT NULL,
    started_at BIGINT NOT NULL,
    -- the end of the lease; 0 once it was given back
    until BIGINT NOT NULL,
    draining BIGINT NOT NULL
);
INSERT INTO node (number, incarnation, host, purpose, started_at, until, draining)
    WITH RECURSIVE numbers (number) AS (SELECT 0 UNION ALL SELECT number + 1 FROM numbers WHERE number < 1023)
    SELECT number, 0, '', '', 0, 0, 0 FROM numbers;

-- Which node sends to a webhook, for as long as the node's own lease lasts.
DROP TABLE webhook_lease;
CREATE TABLE webhook_lease (
    webhook_id BIGINT NOT NULL PRIMARY KEY,
    incarnation BIGINT NOT NULL
) EDGE;
CREATE INDEX webhook_lease_incarnation ON webhook_lease (incarnation);
