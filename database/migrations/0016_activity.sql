-- What apps want to be told of single kinds of events, and whose account's activity they receive.
CREATE TABLE activity_subscription (
    id BIGINT NOT NULL PRIMARY KEY,
    app_id BIGINT NOT NULL,
    -- as the app calls it
    event_type TEXT NOT NULL,
    -- whom it is about; 0 where it is about nobody
    user_id BIGINT NOT NULL,
    -- a query over what the event says, or empty
    keyword TEXT NOT NULL DEFAULT '',
    -- 0 both ways, 1 inbound, 2 outbound
    direction BIGINT NOT NULL DEFAULT 0,
    -- as the app wrote it, or empty
    direction_name TEXT NOT NULL DEFAULT '',
    tag TEXT NOT NULL DEFAULT '',
    -- 0 where it is for streams only
    webhook_id BIGINT NOT NULL DEFAULT 0,
    -- the user on whose behalf it was made; 0 where the app made it on its own
    maker_id BIGINT NOT NULL DEFAULT 0,
    -- 1 where it stands on what the user has let the app see
    private BIGINT NOT NULL DEFAULT 0,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL
);
CREATE UNIQUE INDEX activity_subscription_same ON activity_subscription
    (app_id, event_type, user_id, direction, webhook_id, keyword);
CREATE INDEX activity_subscription_app ON activity_subscription (app_id, id);
CREATE INDEX activity_subscription_maker ON activity_subscription (app_id, maker_id, id);
-- an event asks who wants to know of its users
CREATE INDEX activity_subscription_user ON activity_subscription (user_id, event_type, id);
CREATE INDEX activity_subscription_webhook ON activity_subscription (webhook_id)
    WHERE webhook_id > 0;

CREATE TABLE account_subscription (
    user_id BIGINT NOT NULL,
    webhook_id BIGINT NOT NULL,
    app_id BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (user_id, webhook_id)
) EDGE;
CREATE INDEX account_subscription_app ON account_subscription (app_id, user_id);
CREATE INDEX account_subscription_webhook ON account_subscription (webhook_id, user_id);
