//! The text index: documents of posts, found by the query language, counted by time.
