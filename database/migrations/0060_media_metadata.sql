-- What clients said of media besides the description.

CREATE TABLE media_metadata (
    -- of a media object, or of an upload that has none yet
    media_id BIGINT NOT NULL PRIMARY KEY,
    -- as in the API (JSON)
    metadata TEXT NOT NULL
) EDGE;
