-- Which notifications members want to see where that is not all of them.

CREATE TABLE notification_setting (
    user_id BIGINT NOT NULL,
    -- as in interaction
    kind BIGINT NOT NULL,
    -- 1 those whom the member follows, 2 nobody
    senders BIGINT NOT NULL,
    PRIMARY KEY (user_id, kind)
) EDGE;
