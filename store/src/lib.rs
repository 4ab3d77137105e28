//! Tables, transactions and the event log, on SQLite and PostgreSQL.
//!
//! The only crate that contains SQL. Each noun has a module of functions over a [`Tx`].

mod background_pause;
mod context;
mod db;
mod locks;
#[cfg(test)]
mod schema;
mod store;
#[cfg(test)]
mod test_stores;
mod world_clock;

pub mod account_activity;
pub mod account_deletions;
pub mod activity;
pub mod ads;
pub mod affiliates;
pub mod analytics;
pub mod annotations;
pub mod apps;
pub mod attempt_limits;
pub mod audit;
pub mod authorization_codes;
pub mod backlog;
pub mod bookmarks;
pub mod communities;
pub mod compliance;
pub mod connections;
pub mod counters;
pub mod credential_changes;
pub mod credential_versions;
pub mod deliveries;
pub mod edges;
pub mod emails;
pub mod event_log;
pub mod exports;
pub mod follows;
pub mod grants;
pub mod graph;
pub mod imports;
pub mod integrity;
pub mod interactions;
pub mod key_rotation;
pub mod ledger;
pub mod likes;
pub mod link_facts;
pub mod lists;
pub mod media;
pub mod member_time_zones;
pub mod messages;
pub mod meta;
pub mod moderation;
pub mod muted_words;
pub mod news_stories;
pub mod node_roles;
pub mod nodes;
pub mod nonces;
pub mod notes;
pub mod notification_settings;
pub mod notifications;
pub mod partitions;
pub mod passkeys;
pub mod places;
pub mod playbacks;
pub mod polls;
pub mod portable_tables;
pub mod posts;
pub mod private_profiles;
pub mod rate_windows;
pub mod reads;
pub mod records;
pub mod registration_requests;
pub mod replays;
pub mod replies;
pub mod reports;
pub mod reposts;
pub mod request_tokens;
pub mod row_changes;
pub mod rules;
pub mod sessions;
pub mod short_links;
pub mod site_settings;
pub mod spaces;
pub mod subscriptions;
pub mod task_leases;
pub mod tokens;
pub mod topics;
pub mod two_factor;
pub mod unpublished_posts;
pub mod uploads;
pub mod usage;
pub mod user_roles;
pub mod user_search;
pub mod users;
pub mod views;
pub mod webhooks;

pub use context::StoreContext;
pub use db::{
    AppendedEvent, AppliedMigration, CopiedRows, DatabaseLocation, JobFuture, MigrationStatus, QueryLimits,
    TransactionWork, Tx, assign_queries_to_user, count_round_trips, current_query_limits, limit_queries,
    limit_stream_queries, record_appended_events, take_appended_events, use_reserved_id,
};
pub use node_roles::{NodeRole, NodeRoles};
pub use nodes::NodePurpose;
pub use store::{DataFolderLocked, Store, StoreOptions, lock_data_folder};
