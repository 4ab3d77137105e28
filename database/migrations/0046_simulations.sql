-- A simulated row stands for so many impressions or engagements, each by another person.
ALTER TABLE ad_event ADD COLUMN weight BIGINT NOT NULL DEFAULT 1;

-- Periods for which events of a line item were simulated.
CREATE TABLE ad_simulation (
    account_id BIGINT NOT NULL,
    line_item_id BIGINT NOT NULL,
    seed BIGINT NOT NULL,
    simulated_from BIGINT NOT NULL,
    simulated_until BIGINT NOT NULL,
    PRIMARY KEY (account_id, line_item_id, seed, simulated_from)
) EDGE;
