-- What each server does, and where other nodes reach it.
ALTER TABLE node ADD COLUMN roles TEXT NOT NULL DEFAULT 'api,stream,search,deliver';
ALTER TABLE node ADD COLUMN address TEXT NOT NULL DEFAULT '';
