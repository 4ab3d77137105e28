-- Subscriptions and links that were made while their webhook was deleted: nothing can remove or serve them.
DELETE FROM account_subscription WHERE webhook_id NOT IN (SELECT id FROM webhook WHERE deleted_at IS NULL);
DELETE FROM activity_subscription WHERE webhook_id > 0 AND webhook_id NOT IN (SELECT id FROM webhook WHERE deleted_at IS NULL);
DELETE FROM stream_link WHERE webhook_id NOT IN (SELECT id FROM webhook WHERE deleted_at IS NULL);
