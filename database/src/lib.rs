//! Transactions, declared rows, migrations and the event log, on SQLite and PostgreSQL.

mod background_pause;
mod context;
mod database;
mod dialect;
mod job;
mod migrate;
mod postgres;
mod query_limits;
mod rows;
mod sql;
mod sqlite;
mod store;
#[cfg(test)]
mod test_stores;
mod tx;
mod value;
mod world_clock;

pub mod annotations;
pub mod credential_changes;
pub mod credential_versions;
pub mod event_log;
pub mod locks;
pub mod meta;
pub mod node_roles;
pub mod nodes;
pub mod record_indexes;
pub mod row_changes;
pub mod user_words;

pub use context::StoreContext;
pub use database::DatabaseLocation;
pub use job::{JobFuture, TransactionWork};
pub use migrate::{AppliedMigration, MigrationStatus};
pub use node_roles::{NodeRole, NodeRoles};
pub use nodes::NodePurpose;
pub use postgres::CopiedRows;
pub use query_limits::{
    AppendedEvent, QueryLimits, assign_queries_to_user, count_round_trips, current_query_limits, limit_queries,
    limit_stream_queries, record_appended_events, take_appended_events, use_reserved_id,
};
pub use rows::{ColumnValue, DeclaredRow, FromCells, InsertableRow, RowCells};
pub use sql::{SqlText, as_text, trim_list};
pub use store::{DataFolderLocked, Store, StoreOptions, lock_data_folder};
pub use tx::Tx;
pub use value::SqlValue;
