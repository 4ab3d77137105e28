-- The time zones that members have chosen; of others it is UTC.

CREATE TABLE member_time_zone (
    user_id BIGINT NOT NULL PRIMARY KEY,
    -- of the IANA database
    name TEXT NOT NULL
) EDGE;
