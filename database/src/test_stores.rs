//! Stores for unit tests of this crate and of `store`, which includes this file.

use std::sync::atomic::{AtomicU32, Ordering};

use base::encryption::{Keyring, MasterKey};
use base::{Clock, Rng};
use tempfile::TempDir;

use crate::{DatabaseLocation, StoreOptions};

/// A file, and a new database where `LOCUM_TEST_POSTGRES` names a server.
pub(crate) fn locations(folder: &TempDir) -> Vec<DatabaseLocation> {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let file = DatabaseLocation::File(folder.path().join("locum.db"));
    let Ok(server) = std::env::var("LOCUM_TEST_POSTGRES") else {
        eprintln!("LOCUM_TEST_POSTGRES is not set: not run on PostgreSQL");
        return vec![file];
    };
    let number = COUNT.fetch_add(1, Ordering::Relaxed);
    let name = format!("store_{}_{number}", std::process::id());
    let mut client = postgres::Client::connect(&server, postgres::NoTls).unwrap();
    for action in ["DROP DATABASE IF EXISTS", "CREATE DATABASE"] {
        client.batch_execute(&format!("{action} {name}")).unwrap();
    }
    let (before, _) = server.rsplit_once('/').unwrap();
    vec![file, DatabaseLocation::Server(format!("{before}/{name}"))]
}

/// With one connection.
pub(crate) fn options(location: DatabaseLocation, folder: &TempDir) -> StoreOptions {
    let clock = Clock::frozen_at(base::Time::from_seconds(1_780_315_200));
    StoreOptions {
        location,
        data_dir: folder.path().to_owned(),
        connections: 1,
        node: 0,
        purpose: crate::NodePurpose::Server(crate::NodeRoles::ALL),
        migrate: true,
        clock,
        rng: Rng::Os,
        keyring: Keyring::new(MasterKey::generate(&Rng::from_seed(1)).unwrap(), Vec::new()),
    }
}
