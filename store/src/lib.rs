//! Tables, transactions and the log of events: one path for SQLite and PostgreSQL.
//!
//! The only floor that holds SQL. Each noun has a file of verbs over a [`Tx`].

mod context;
mod db;
mod hex;
mod open;
#[cfg(test)]
mod schema;

pub mod account_activity;
pub mod activity;
pub mod ads;
pub mod affiliates;
pub mod analytics;
pub mod apps;
pub mod attempts;
pub mod audit;
pub mod bookmarks;
pub mod carried;
pub mod codes;
pub mod communities;
pub mod compliance;
pub mod connections;
pub mod deliveries;
pub mod edges;
pub mod exports;
pub mod follows;
pub mod grants;
pub mod graph;
pub mod imports;
pub mod ledger;
pub mod letters;
pub mod likes;
pub mod lists;
pub mod log;
pub mod media;
pub mod messages;
pub mod meta;
pub mod nonces;
pub mod notes;
pub mod notifications;
pub mod particulars;
pub mod people;
pub mod places;
pub mod polls;
pub mod posts;
pub mod reads;
pub mod records;
pub mod recount;
pub mod replays;
pub mod replies;
pub mod reposts;
pub mod request_tokens;
pub mod rewrap;
pub mod rules;
pub mod sessions;
pub mod spaces;
pub mod stories;
pub mod subscriptions;
pub mod tokens;
pub mod topics;
pub mod uploads;
pub mod usage;
pub mod users;
pub mod webhooks;

pub use context::Context;
pub use db::{Applied, Location, Migration, Tx, Work};
pub use open::{Options, Store};
