//! What happened, told to those who subscribed to it: subscriptions, filters and payloads.
