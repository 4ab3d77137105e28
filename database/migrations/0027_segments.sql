-- Of which other audiences a flexible one is made.
CREATE TABLE audience_part (
    part_id BIGINT NOT NULL,
    audience_id BIGINT NOT NULL,
    PRIMARY KEY (part_id, audience_id)
) EDGE;
CREATE INDEX audience_part_whole ON audience_part (audience_id);
