-- Signatures must stay known after the database server crashed or was replaced by its standby.
CREATE TABLE old_nonce (
    digest BYTES NOT NULL PRIMARY KEY,
    expires_at BIGINT NOT NULL
);
INSERT INTO old_nonce (digest, expires_at) SELECT digest, expires_at FROM nonce;
DROP TABLE nonce;
CREATE TABLE nonce (
    digest BYTES NOT NULL PRIMARY KEY,
    expires_at BIGINT NOT NULL
);
INSERT INTO nonce (digest, expires_at) SELECT digest, expires_at FROM old_nonce;
DROP TABLE old_nonce;
CREATE INDEX nonce_expiry ON nonce (expires_at);
