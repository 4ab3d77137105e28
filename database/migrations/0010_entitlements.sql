-- What apps may use beyond their credentials was not written down before: they get what comes with
-- their tier.
UPDATE app SET entitlements = 'blocks follows_and_likes'
WHERE entitlements = '' AND access_level <> 'enterprise';
UPDATE app SET entitlements = 'full_archive blocks follows_and_likes'
WHERE entitlements = '' AND access_level = 'enterprise';
