-- SQLite looks up every row that it reads from an index over expressions when the table has no row ids, although the
-- index contains all that is asked for.
SQLITE CREATE TABLE ads_record_copy (
SQLITE     kind TEXT NOT NULL,
SQLITE     id BIGINT NOT NULL,
SQLITE     account_id BIGINT NOT NULL,
SQLITE     level BIGINT NOT NULL,
SQLITE     deleted BIGINT NOT NULL,
SQLITE     name_key BYTES NOT NULL,
SQLITE     created_at BIGINT NOT NULL,
SQLITE     updated_at BIGINT NOT NULL,
SQLITE     body DOCUMENT NOT NULL,
SQLITE     PRIMARY KEY (id, kind)
SQLITE );
SQLITE INSERT INTO ads_record_copy SELECT kind, id, account_id, level, deleted, name_key, created_at, updated_at, body
SQLITE     FROM ads_record ORDER BY id, kind;
SQLITE DROP TABLE ads_record;
SQLITE ALTER TABLE ads_record_copy RENAME TO ads_record;
SQLITE CREATE INDEX ads_record_shown ON ads_record (kind, account_id, created_at, id, name_key, level)
SQLITE     WHERE level = 0;
SQLITE CREATE INDEX ads_record_name ON ads_record (kind, account_id, name_key, id, level) WHERE level = 0;
SQLITE CREATE INDEX ads_record_updated ON ads_record (kind, account_id, updated_at, id, level) WHERE level = 0;
SQLITE CREATE INDEX ads_record_whole ON ads_record (kind, account_id, (created_at + 0), id, name_key);
-- The indexes of the kinds went with the table; the next start builds them.
SQLITE DELETE FROM meta WHERE key = 'ads_indexes';
