-- Whether the user agreed on a page that the app reads the email address. Grants from before count as such if the app
-- may ask for the address now.
ALTER TABLE app_grant ADD COLUMN email BIGINT NOT NULL DEFAULT 0;
UPDATE app_grant SET email = 1 WHERE permission <> '' AND app_id IN (SELECT id FROM app WHERE request_email = 1);

-- Erasures left the account in its ad events. Those that are done go on with the steps that they have not done.
UPDATE account_deletion SET finished_at = NULL WHERE finished_at IS NOT NULL;
