-- The uses of media whose own number is unknown, because an import brought them; none if they were imported before this.
ALTER TABLE media ADD COLUMN imported_uses BIGINT;
