-- Accounts that are deleted: hidden at once, their data erased when the time to restore them is over.

CREATE TABLE account_deletion (
    user_id BIGINT NOT NULL PRIMARY KEY,
    requested_at BIGINT NOT NULL,
    -- whether its owner asked for it, who may then restore the account
    by_owner BIGINT NOT NULL,
    -- when the data is erased
    erase_at BIGINT NOT NULL,
    -- none while the account can be restored
    started_at BIGINT,
    -- steps of the erasure that are done
    step BIGINT NOT NULL DEFAULT 0,
    finished_at BIGINT
);
CREATE INDEX account_deletion_due ON account_deletion (erase_at) WHERE finished_at IS NULL;
