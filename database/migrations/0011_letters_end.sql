-- What ends: letters with the link that stands in them, and what is only kept for a while.

-- when its link stops working, on the platform's clock; none: it is never too late
ALTER TABLE letter ADD COLUMN expires_at BIGINT;
CREATE INDEX letter_age ON letter (created_at);

-- whether an operator did it, at the command line
ALTER TABLE audit ADD COLUMN operator BIGINT NOT NULL DEFAULT 0;

CREATE INDEX oauth1_token_revoked ON oauth1_token (revoked_at) WHERE revoked_at IS NOT NULL;
CREATE INDEX oauth2_token_revoked ON oauth2_token (revoked_at)
    WHERE revoked_at IS NOT NULL AND expires_at IS NULL;
