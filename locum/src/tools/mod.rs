//! Commands that do not need an open data directory.

mod ca_command;
mod certificate_check;
mod config_command;
mod doctor;
mod env;
mod explain;
mod fsck;
mod health;
mod init;
mod limit_process;
mod migrate;
mod proxy_check;
mod restore;
mod restore_database;
mod restore_media;
mod routes;
mod version;
mod webhook_listener;

pub(crate) use ca_command::run_ca_command;
pub(crate) use config_command::run_config_command;
pub(crate) use doctor::run_doctor;
pub(crate) use env::print_env;
pub(crate) use explain::explain_signature;
pub(crate) use fsck::run_fsck;
pub(crate) use health::check_health;
pub(crate) use init::print_initial_config;
pub(crate) use limit_process::limit_process;
pub(crate) use migrate::run_migrate_command;
pub(crate) use restore::restore_backup;
pub(crate) use routes::{print_openapi, print_routes};
pub(crate) use version::{VERSION_AND_COMMIT, print_version};
pub(crate) use webhook_listener::listen_for_webhooks;
