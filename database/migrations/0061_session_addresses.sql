-- Every attempt to sign in asks from which addresses the account had sessions, also ended ones.
CREATE INDEX CONCURRENTLY IF NOT EXISTS session_address ON session (user_id, address);
