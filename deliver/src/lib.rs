//! Those who follow the log: streams, activity events and webhooks.
//!
//! A follower reads the log from its own cursor, in a loop that is woken by a commit or by a
//! timer; it is called by nobody and does each step so that doing it again does no harm.

pub mod activity;
#[cfg(test)]
mod fixtures;
pub mod streams;
pub mod webhooks;
