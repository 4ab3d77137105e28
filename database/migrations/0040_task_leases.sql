-- Which node does what one node at a time does, for as long as the node's own lease lasts.
CREATE TABLE task_lease (
    task TEXT NOT NULL PRIMARY KEY,
    incarnation BIGINT NOT NULL
) EDGE;
