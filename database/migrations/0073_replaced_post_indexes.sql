-- contraction, compatible from 37
-- Those of the migration before replace them.
DROP INDEX IF EXISTS post_reply;
DROP INDEX IF EXISTS post_quote;
DROP INDEX IF EXISTS post_community;
