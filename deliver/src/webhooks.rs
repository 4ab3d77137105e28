//! Signed deliveries to receivers: challenges, attempts, retries, replay.
