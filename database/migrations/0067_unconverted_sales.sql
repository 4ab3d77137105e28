-- Sales in a currency that has no exchange rate to the account's, of which the amount is unknown.
ALTER TABLE ad_conversion ADD COLUMN unconverted_sales BIGINT NOT NULL DEFAULT 0;
ALTER TABLE ad_conversion_hour ADD COLUMN unconverted_sales BIGINT NOT NULL DEFAULT 0;
