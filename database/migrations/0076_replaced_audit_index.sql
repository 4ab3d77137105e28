-- contraction, compatible from 37
-- The one of the migration before replaces it.
DROP INDEX IF EXISTS audit_subject;
