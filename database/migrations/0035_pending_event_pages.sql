-- While it is never cut short, statements that were planned when it was empty are those for a full one: by its index.
POSTGRES ALTER TABLE pending_event SET (vacuum_truncate = false);
