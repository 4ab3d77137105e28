-- Videos that were made from an upload, what is still to be made, and what pages say about themselves.

-- other versions of the file next to it, with their bits per second: `320p.mp4:632000,720p.mp4:2176000`
ALTER TABLE media ADD COLUMN variant_files TEXT NOT NULL DEFAULT '';
-- uploads whose media are published and whose variants are to be made
CREATE TABLE variant_task (
    upload_id BIGINT NOT NULL PRIMARY KEY,
    -- until then a process is at it
    leased_until BIGINT NOT NULL
);
CREATE INDEX variant_task_work ON variant_task (leased_until);

-- whether the page said so, and not an operator
ALTER TABLE link_facts ADD COLUMN fetched BIGINT NOT NULL DEFAULT 0;
