-- For the security events of an account.
CREATE INDEX CONCURRENTLY IF NOT EXISTS audit_subject ON audit (subject_id, seq) WHERE subject_id IS NOT NULL;
