-- The page of an app counts the users who have granted it something.
CREATE INDEX CONCURRENTLY IF NOT EXISTS app_grant_app ON app_grant (app_id);
