-- Changes that invalidate cached credentials on other nodes.
CREATE TABLE credential_change (
    id SERIAL_KEY,
    kind BIGINT NOT NULL,
    subject BIGINT NOT NULL,
    changed_at BIGINT NOT NULL
);
