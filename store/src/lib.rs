//! Statements on the tables: each noun has a module of functions over a [`Tx`] of `database`.

#[cfg(test)]
mod schema;
#[cfg(test)]
#[path = "../../database/src/test_stores.rs"]
mod test_stores;
#[cfg(test)]
mod tests;

pub mod account_activity;
pub mod account_deletions;
pub mod activity;
pub mod ads;
pub mod affiliates;
pub mod analytics;
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
pub mod deliveries;
pub mod edges;
pub mod emails;
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
pub mod moderation;
pub mod muted_words;
pub mod news_stories;
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

use database as db;
use database::locks;
pub use database::{
    AppendedEvent, AppliedMigration, CopiedRows, DataFolderLocked, DatabaseLocation, JobFuture, MigrationStatus,
    NodePurpose, NodeRole, NodeRoles, QueryLimits, Store, StoreContext, StoreOptions, TransactionWork, Tx, annotations,
    assign_queries_to_user, count_round_trips, credential_changes, credential_versions, current_query_limits,
    event_log, limit_queries, limit_stream_queries, lock_data_folder, meta, node_roles, nodes, record_appended_events,
    row_changes, take_appended_events, use_reserved_id,
};
