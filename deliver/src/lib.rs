//! Consumers of the event log: streams, activity events and webhooks, and the pages behind links.
//!
//! Each consumer reads the log from its own cursor in a loop that wakes on commits or by a timer. Every step
//! is idempotent.
//!
//! Large futures that other crates await are boxed, so that they are compiled here and not in each of those.

pub mod activity;
#[cfg(test)]
mod fixtures;
pub mod links;
pub mod streams;
pub mod webhooks;
