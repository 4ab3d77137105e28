-- Compliance jobs: what became of many posts or users at once. And since when posts and users are
-- what they are, which such a job tells.

CREATE TABLE compliance_job (
    id BIGINT NOT NULL PRIMARY KEY,
    app_id BIGINT NOT NULL,
    -- tweets, users
    kind TEXT NOT NULL,
    name TEXT NOT NULL DEFAULT '',
    resumable BIGINT NOT NULL DEFAULT 0,
    -- 0 waits for its ids, 1 is worked on, 2 complete
    state BIGINT NOT NULL DEFAULT 0,
    created_at BIGINT NOT NULL,
    -- parts of the addresses that ids go to and the result comes from, so that nobody guesses them
    upload_token TEXT NOT NULL,
    download_token TEXT NOT NULL,
    upload_expires_at BIGINT NOT NULL,
    download_expires_at BIGINT NOT NULL
);
CREATE UNIQUE INDEX compliance_job_upload ON compliance_job (upload_token);
CREATE UNIQUE INDEX compliance_job_download ON compliance_job (download_token);
CREATE INDEX compliance_job_app ON compliance_job (app_id, kind, id);
CREATE INDEX compliance_job_work ON compliance_job (id) WHERE state = 1;
CREATE INDEX compliance_job_end ON compliance_job (download_expires_at);

-- The ids of a job, some at a time, and what there is to say of them.
CREATE TABLE compliance_part (
    job_id BIGINT NOT NULL,
    place BIGINT NOT NULL,
    -- comma-separated
    ids TEXT NOT NULL,
    -- JSON, one object a line; none before it was worked on
    result TEXT,
    PRIMARY KEY (job_id, place)
) EDGE;

-- when it was deleted
ALTER TABLE post ADD COLUMN removed_at BIGINT;
-- when its state last changed
ALTER TABLE users ADD COLUMN state_at BIGINT;
