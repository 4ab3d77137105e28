-- Whose consent a delivery stands on, 0 where it stands on nobody's: it goes when that ends.
ALTER TABLE delivery ADD COLUMN about_id BIGINT NOT NULL DEFAULT 0;
CREATE INDEX delivery_about ON delivery (webhook_id, about_id) WHERE about_id > 0;
