-- Where cards lead: a short link for each card and destination. A link leads where it led for as
-- long as its card is there.
CREATE TABLE card_link (
    id BIGINT NOT NULL PRIMARY KEY,
    card_id BIGINT NOT NULL,
    url TEXT NOT NULL,
    title TEXT NOT NULL,
    media_key TEXT NOT NULL,
    -- which of the card's destinations it is, counted from 1; 0 when it is none any more
    place BIGINT NOT NULL
);
CREATE INDEX card_link_card ON card_link (card_id, place);
