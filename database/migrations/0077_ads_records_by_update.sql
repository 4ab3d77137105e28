-- For lists with deleted records, as `ads_record_whole` for their order of creation.
CREATE INDEX CONCURRENTLY IF NOT EXISTS ads_record_whole_updated ON ads_record (kind, account_id, (updated_at + 0), id);
