//! Opens a data directory. Nothing is changed unless all checks pass.

use std::sync::Arc;

use base::clock_mode::ClockMode;
use base::encryption::Keyring;
use base::{Clock, Error, Fault, Rng};
use store::records::RecordIndexBuild;
use store::{DatabaseLocation, NodePurpose, Store, StoreOptions, meta};

use super::blocking::block_on;
use super::manifest::InstanceManifest;
use super::{Instance, ProgressReporter, master_key, private_files, search_index_folder};
use crate::command_error::CommandError;
use crate::config::{RunMode, ServerSettings};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CreatePolicy {
    /// Also if the database of an existing data directory is missing or empty.
    Initialize,
    CreateMissing,
    RequireExisting,
}

/// The fact that tells the databases, media folders and backups of networks apart: 128 random bits in hexadecimal.
pub const NETWORK_ID_KEY: &str = "network_id";

pub struct DataFolder {
    pub manifest: InstanceManifest,
    pub is_new: bool,
    pub keyring: Keyring,
}

/// The increased start count is written only after the store has been checked, so a refused directory is left
/// unchanged.
pub fn find_or_create(settings: &ServerSettings, creating: CreatePolicy) -> Result<DataFolder, CommandError> {
    let record = InstanceManifest::read(&settings.core.data_dir)?;
    check_mode(settings, record.as_ref())?;
    // Containers for development often have a new volume of another user.
    if record.is_some() || settings.mode == RunMode::Serve {
        private_files::refuse_root_for_other_owner(&settings.core.data_dir)?;
    }
    let is_new = record.is_none();
    if is_new && creating == CreatePolicy::RequireExisting {
        return Err(CommandError::Unreachable(format!(
            "no data directory at {}: start `locum dev` or `locum serve`, or specify one with \
             --data-dir",
            settings.core.data_dir.display()
        )));
    }
    if is_new && (settings.mode == RunMode::Dev || settings.secrets.danger_key_in_data_dir) {
        private_files::create_private_folder(&settings.core.data_dir)?;
    }
    let keyring = master_key::load_keyring(settings, &Rng::Os, is_new)?;
    private_files::create_private_folder(&settings.core.data_dir)?;
    let mut record = record.unwrap_or_else(|| InstanceManifest {
        mode: settings.mode.name().to_owned(),
        world: settings.core.world.0.clone(),
        seed: settings.core.seed,
        starts: 0,
        network: String::new(),
        frozen_at: None,
    });
    record.starts += 1;
    Ok(DataFolder { manifest: record, is_new, keyring })
}

pub fn open(
    settings: Arc<ServerSettings>,
    creating: CreatePolicy,
    purpose: NodePurpose,
    progress: Arc<dyn ProgressReporter>,
) -> Result<Instance, CommandError> {
    let mut folder = find_or_create(&settings, creating)?;
    private_files::restrict_access(&settings)?;
    check_database_exists(&settings, folder.is_new, creating)?;
    if creating == CreatePolicy::Initialize && !has_database(&settings)? {
        folder.manifest.network.clear();
        // The index of the lost network; it can be rebuilt from a restored database.
        let _gone = std::fs::remove_dir_all(search_index_folder(&settings));
    }
    let rng = instance_rng(&folder.manifest);
    let store = open_store(StoreOptions { purpose, ..store_options(&settings, rng, folder.keyring) })?;
    check_store_matches(&store, &mut folder.manifest)?;
    folder.manifest.write(&settings.core.data_dir)?;
    Ok(Instance {
        settings,
        store: Arc::new(store),
        progress,
        search: None,
        search_backend: None,
        evaluator: ads_delivery::evaluator::Evaluator::new(None),
        command: None,
    })
}

pub fn store_options(settings: &ServerSettings, rng: Rng, keyring: Keyring) -> StoreOptions {
    StoreOptions {
        location: settings.database_location(),
        data_dir: settings.core.data_dir.clone(),
        connections: settings.db.connections,
        node: settings.core.node,
        purpose: NodePurpose::Server(settings.roles()),
        migrate: settings.db.migrate_on_start,
        clock: if settings.mode == RunMode::Dev { Clock::with_mode(ClockMode::Live) } else { Clock::System },
        rng,
        keyring,
    }
}

pub fn open_store(options: StoreOptions) -> Result<Store, Fault> {
    block_on(async {
        let build = match options.purpose {
            _ if !options.migrate => RecordIndexBuild::Never,
            // Other nodes count on it from now on, for their webhooks among others.
            NodePurpose::Server(_) => RecordIndexBuild::WithoutRecords,
            NodePurpose::Command => RecordIndexBuild::Always,
        };
        let store = Store::open(options).await?;
        match store.sync_record_indexes(ads_delivery::record_indexes(), build).await {
            Ok(()) => Ok(store),
            Err(Error::Failed(fault)) => Err(fault),
            Err(Error::Refused(refusal)) => Err(Fault::new(refusal.to_string())),
        }
    })
}

/// The mode of a data directory cannot change.
fn check_mode(settings: &ServerSettings, record: Option<&InstanceManifest>) -> Result<(), CommandError> {
    match record.map(InstanceManifest::mode).transpose()? {
        Some(created) if created != settings.mode => Err(CommandError::WrongMode(format!(
            "{} was created by `locum {created}` and cannot be opened by `locum {}`",
            settings.core.data_dir.display(),
            settings.mode
        ))),
        _ => Ok(()),
    }
}

/// A network that lost its database must not start again as an empty one.
fn check_database_exists(settings: &ServerSettings, is_new: bool, creating: CreatePolicy) -> Result<(), CommandError> {
    if is_new || settings.mode != RunMode::Serve || creating == CreatePolicy::Initialize || has_database(settings)? {
        return Ok(());
    }
    let (database, restore) = match settings.database_location() {
        DatabaseLocation::File(path) => (path.display().to_string(), "locum restore"),
        DatabaseLocation::Server(_) => (
            "on the PostgreSQL server".to_owned(),
            "pg_restore`, copy a SQLite database with `locum migrate from-sqlite",
        ),
    };
    Err(CommandError::Failed(format!(
        "{} exists, but its database {database} is missing or empty: restore a backup with `{restore}`, or start an \
         empty network with `locum serve --init`",
        settings.core.data_dir.display(),
    )))
}

pub fn has_database(settings: &ServerSettings) -> Result<bool, Fault> {
    block_on(Store::has_network(settings.database_location()))
}

/// The operating system's in production; in development, derived from the seed and the number of starts, so that no id
/// or key is issued twice.
/// The node number of a development world's ids after its first start, and after each snapshot that was loaded.
pub fn node_of_start(starts: u64) -> u16 {
    u16::try_from(1 + starts % 1023).unwrap_or(1)
}

pub fn instance_rng(record: &InstanceManifest) -> Rng {
    if record.mode == RunMode::Serve.name() {
        return Rng::Os;
    }
    let stride = 0x9e37_79b9_7f4a_7c15_u64;
    Rng::from_seed(record.seed ^ record.starts.wrapping_mul(stride))
}

/// Detects a database that belongs to another data directory, and learns the network's id from it.
pub fn check_store_matches(store: &Store, record: &mut InstanceManifest) -> Result<(), CommandError> {
    let (mode, known) = (record.mode.clone(), record.network.clone());
    let made = format!("{:032x}", u128::from_be_bytes(Rng::Os.random_bytes()?));
    let (stored_mode, network) = block_on(store.write(move |tx| {
        let stored_mode = meta::get_or_insert(tx, "mode", &mode)?;
        let proposed = if known.is_empty() { &made } else { &known };
        Ok::<_, Error>((stored_mode, meta::get_or_insert(tx, NETWORK_ID_KEY, proposed)?))
    }))?;
    if stored_mode != record.mode {
        return Err(CommandError::WrongMode(format!(
            "the database was created by `locum {stored_mode}` and cannot be opened by `locum {}`",
            record.mode
        )));
    }
    if !record.network.is_empty() && record.network != network {
        return Err(CommandError::Failed(format!(
            "the database is that of network {network}, and world.json that of network {}: set core.data_dir and \
             db.url so that they belong together",
            record.network
        )));
    }
    record.network = network;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::private_files::restrict_access;
    use super::{CreatePolicy, check_database_exists, find_or_create};
    use crate::command_error::CommandError;
    use crate::config::{ConfigSources, RunMode, ServerSettings, load};
    use std::fs::Permissions;
    use std::os::unix::fs::PermissionsExt;
    use std::path::Path;

    fn settings(mode: RunMode, folder: &Path, further: &[String]) -> ServerSettings {
        let mut sets = vec![format!("core.data_dir={}", folder.display())];
        if mode == RunMode::Serve {
            sets.push("core.base_url=https://social.example".to_owned());
        }
        sets.extend_from_slice(further);
        let sources = ConfigSources { set_flags: sets, ..ConfigSources::default() };
        ServerSettings::from_values(&load(&sources, mode).unwrap()).unwrap()
    }

    #[test]
    fn a_test_folder_is_not_served() {
        let folder = tempfile::tempdir().unwrap();
        let data = folder.path().join("data");
        let dev = settings(RunMode::Dev, &data, &[]);
        assert!(find_or_create(&dev, CreatePolicy::RequireExisting).is_err() && !data.exists());
        let made = find_or_create(&dev, CreatePolicy::CreateMissing).unwrap();
        assert!(made.is_new);
        made.manifest.write(&data).unwrap();
        let again = find_or_create(&dev, CreatePolicy::RequireExisting).unwrap();
        assert_eq!((again.is_new, again.manifest.starts), (false, 2));
        let serve = settings(RunMode::Serve, &data, &[]);
        assert!(matches!(find_or_create(&serve, CreatePolicy::CreateMissing), Err(CommandError::WrongMode(_))));
    }

    #[test]
    fn a_real_networks_key_lies_apart_from_its_data() {
        let folder = tempfile::tempdir().unwrap();
        let data = folder.path().join("data");
        let bare = settings(RunMode::Serve, &data, &[]);
        assert!(matches!(find_or_create(&bare, CreatePolicy::CreateMissing), Err(CommandError::Usage(_))));
        assert!(!data.exists(), "nothing was touched");

        let key = folder.path().join("master.key");
        super::master_key::create_key_file(&key, &base::Rng::Os).unwrap();
        let apart = format!("secrets.master_key_file={}", key.display());
        assert!(find_or_create(&settings(RunMode::Serve, &data, &[apart]), CreatePolicy::CreateMissing).is_ok());

        let inside = data.join("master.key");
        std::fs::copy(&key, &inside).unwrap();
        let inside = format!("secrets.master_key_file={}", inside.display());
        let refused = find_or_create(
            &settings(RunMode::Serve, &data, std::slice::from_ref(&inside)),
            CreatePolicy::CreateMissing,
        );
        assert!(matches!(refused, Err(CommandError::WrongMode(_))));
        let danger = "secrets.danger_key_in_data_dir=true".to_owned();
        assert!(
            find_or_create(&settings(RunMode::Serve, &data, &[inside, danger]), CreatePolicy::CreateMissing).is_ok()
        );
    }

    #[test]
    fn network_without_its_database_is_not_started() {
        let folder = tempfile::tempdir().unwrap();
        let serve = settings(RunMode::Serve, folder.path(), &[]);
        let database = folder.path().join("locum.db");
        let check = |is_new, creating| check_database_exists(&serve, is_new, creating);
        assert!(check(true, CreatePolicy::CreateMissing).is_ok());
        for content in [None, Some(""), Some("SQLite format 3")] {
            if let Some(content) = content {
                std::fs::write(&database, content).unwrap();
            }
            let checked = check(false, CreatePolicy::CreateMissing);
            assert!(check(false, CreatePolicy::Initialize).is_ok());
            assert_eq!(checked.is_ok(), content.is_some_and(|content| !content.is_empty()));
        }
    }

    #[test]
    fn key_that_others_may_read_is_refused_or_restricted() {
        let folder = tempfile::tempdir().unwrap();
        let key = folder.path().join("master.key");
        super::master_key::create_key_file(&key, &base::Rng::Os).unwrap();
        let rights = || std::fs::metadata(&key).unwrap().permissions().mode() & 0o777;
        let (data, apart) = (folder.path().join("data"), format!("secrets.master_key_file={}", key.display()));
        let restrict = |mode| restrict_access(&settings(mode, &data, std::slice::from_ref(&apart)));
        assert!(restrict(RunMode::Serve).is_ok());
        std::fs::set_permissions(&key, Permissions::from_mode(0o640)).unwrap();
        assert!(restrict(RunMode::Serve).is_err() && rights() == 0o640);
        assert!(restrict(RunMode::Dev).is_ok() && rights() == 0o600);
    }

    #[test]
    fn a_lost_key_is_not_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let dev = settings(RunMode::Dev, folder.path(), &[]);
        let made = find_or_create(&dev, CreatePolicy::CreateMissing).unwrap();
        made.manifest.write(folder.path()).unwrap();
        std::fs::remove_file(folder.path().join("master.key")).unwrap();
        assert!(find_or_create(&dev, CreatePolicy::CreateMissing).is_err());
        assert!(!folder.path().join("master.key").exists());
    }
}
