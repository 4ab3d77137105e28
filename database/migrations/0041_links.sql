-- Who followed a link of a post on a day (since 1970), so that each viewer counts once; kept while the day lasts.
CREATE TABLE link_click (
    post_id BIGINT NOT NULL,
    viewer_id BIGINT NOT NULL,
    day BIGINT NOT NULL,
    PRIMARY KEY (post_id, viewer_id, day)
) EDGE;
CREATE INDEX link_click_day ON link_click (day);

-- What is known about the pages that links lead to, by a digest of the normalized URL.
CREATE TABLE link_facts (
    digest BIGINT NOT NULL PRIMARY KEY,
    url TEXT NOT NULL,
    unwound_url TEXT NOT NULL,
    status BIGINT NOT NULL,
    title TEXT NOT NULL,
    description TEXT NOT NULL,
    images TEXT NOT NULL,
    updated_at BIGINT NOT NULL
);
