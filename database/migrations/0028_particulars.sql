-- What people tell the platform of themselves and nobody else, as far as they do.
CREATE TABLE particulars (
    user_id BIGINT NOT NULL PRIMARY KEY,
    -- YYYY-MM-DD, or empty
    born_on TEXT NOT NULL,
    -- 0 unsaid, 1 male, 2 female
    gender BIGINT NOT NULL,
    -- SHA-256 of a phone number in E.164, in hexadecimal digits, or empty
    phone TEXT NOT NULL
) EDGE;
CREATE INDEX particulars_born_on ON particulars (born_on) WHERE born_on <> '';
CREATE INDEX particulars_gender ON particulars (gender) WHERE gender > 0;
