//! Commands that look at a server or its data from outside.

mod conf;
mod doctor;
mod env;
mod explain;
mod fsck;
mod health;
mod init;
mod listen;
mod migrate;
mod restore;
mod routes;
mod version;

pub(crate) use conf::conf;
pub(crate) use doctor::doctor;
pub(crate) use env::env;
pub(crate) use explain::explain;
pub(crate) use fsck::fsck;
pub(crate) use health::health;
pub(crate) use init::init;
pub(crate) use listen::{HookArgs, listen};
pub(crate) use migrate::migrate;
pub(crate) use restore::restore;
pub(crate) use routes::{openapi, routes};
pub(crate) use version::version;
