-- For the security events of an account, which may be few among its entries.
CREATE INDEX CONCURRENTLY IF NOT EXISTS audit_actor_kind ON audit (actor_id, kind, seq) WHERE actor_id IS NOT NULL;
CREATE INDEX CONCURRENTLY IF NOT EXISTS audit_subject_kind ON audit (subject_id, kind, seq) WHERE subject_id IS NOT NULL;
