-- How many of a user's followers are verified.
ALTER TABLE users ADD COLUMN verified_followers_count BIGINT NOT NULL DEFAULT 0;
UPDATE users SET verified_followers_count = (SELECT COUNT(*) FROM follow f
    JOIN users s ON s.id = f.source_id WHERE f.target_id = users.id AND s.verified = 1)
    WHERE id IN (SELECT f.target_id FROM users s JOIN follow f ON f.source_id = s.id
    WHERE s.verified = 1);
