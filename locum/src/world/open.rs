//! Opening a data folder: nothing is touched unless everything fits.

use std::sync::Arc;

use base::encryption::Keyring;
use base::{Clock, Error, Fault, Rng};
use store::{Store, StoreOptions, meta};

use super::record::Record;
use super::wait::wait;
use super::{Progress, World, folder, key};
use crate::config::{Mode, Settings};
use crate::exit::Exit;

/// What to do about a folder that is not there yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Creating {
    /// Make it.
    Allowed,
    /// Say so.
    Refused,
}

/// A folder that fits, before its store is opened.
pub(crate) struct Found {
    /// What the folder is.
    pub(crate) record: Record,
    /// Whether it was made just now.
    pub(crate) is_new: bool,
    /// The keys.
    pub(crate) keyring: Keyring,
}

/// Node number of commands that work beside a server on the same database.
pub(crate) const COMMANDS_NODE: u16 = 1023;

/// Finds a data folder, or makes it. That it was opened is counted in the record, which is written
/// once its store turns out to fit: what is refused is not touched.
pub(crate) fn find(settings: &Settings, creating: Creating) -> Result<Found, Exit> {
    let record = Record::read(&settings.data_dir)?;
    check_mode(settings, record.as_ref())?;
    let is_new = record.is_none();
    if is_new && creating == Creating::Refused {
        return Err(Exit::Unreachable(format!(
            "there is no data folder at {}: start `locum dev` or `locum serve`, or name one with \
             --data-dir",
            settings.data_dir.display()
        )));
    }
    if is_new && (settings.mode == Mode::Dev || settings.keys.beside_data) {
        folder::make(&settings.data_dir)?;
    }
    let keyring = key::master_key(settings, &Rng::Os, is_new)?;
    folder::make(&settings.data_dir)?;
    let mut record = record.unwrap_or_else(|| Record {
        mode: settings.mode.name().to_owned(),
        world: settings.world.clone(),
        seed: settings.seed,
        starts: 0,
    });
    record.starts += 1;
    Ok(Found {
        record,
        is_new,
        keyring,
    })
}

/// Opens a data folder, or makes it.
pub(crate) fn open(
    settings: Arc<Settings>,
    creating: Creating,
    node: u16,
    progress: Arc<dyn Progress>,
) -> Result<World, Exit> {
    let found = find(&settings, creating)?;
    let chance = chance(&found.record);
    let store = open_store(StoreOptions {
        node,
        ..options(&settings, chance, found.keyring)
    })?;
    agree(&store, &found.record)?;
    found.record.write(&settings.data_dir)?;
    Ok(World {
        settings,
        store: Arc::new(store),
        progress,
        search: None,
        evaluator: ads::evaluator::Evaluator::new(None),
    })
}

/// How the settings open a store.
pub(crate) fn options(settings: &Settings, chance: Rng, keyring: Keyring) -> StoreOptions {
    StoreOptions {
        location: settings.location.clone(),
        data_dir: settings.data_dir.clone(),
        connections: settings.connections,
        node: settings.node,
        migrate: settings.migrate_on_start,
        clock: Clock::System,
        rng: chance,
        keyring,
    }
}

/// Opens a store.
pub(crate) fn open_store(options: StoreOptions) -> Result<Store, Fault> {
    wait(async {
        let store = Store::open(options).await?;
        let indexes = ads::record_indexes();
        let made = store.write(move |tx| Ok(store::records::sync_indexes(tx, &indexes)?));
        match made.await {
            Ok(()) => Ok(store),
            Err(Error::Failed(fault)) => Err(fault),
            Err(Error::Refused(refusal)) => Err(Fault::new(format!("{refusal:?}"))),
        }
    })
}

/// A folder is what it was made as, for good.
fn check_mode(settings: &Settings, record: Option<&Record>) -> Result<(), Exit> {
    match record.map(Record::mode).transpose()? {
        Some(made) if made != settings.mode => Err(Exit::Mode(format!(
            "{} was made by `locum {made}` and is not opened by `locum {}`",
            settings.data_dir.display(),
            settings.mode
        ))),
        _ => Ok(()),
    }
}

/// Randomness after the world was made: the system's in a real network; in a test world it follows
/// from the seed and the number of starts, so that nothing is issued twice.
pub(crate) fn chance(record: &Record) -> Rng {
    if record.mode == Mode::Serve.name() {
        return Rng::Os;
    }
    let stride = 0x9e37_79b9_7f4a_7c15_u64;
    Rng::from_seed(record.seed ^ record.starts.wrapping_mul(stride))
}

/// The database says the same as the folder: they may have been moved apart.
pub(crate) fn agree(store: &Store, record: &Record) -> Result<(), Exit> {
    let mode = record.mode.clone();
    let said = wait(store.write(move |tx| {
        let said = meta::get(tx, "mode")?;
        if said.is_none() {
            meta::set(tx, "mode", &mode)?;
        }
        Ok::<_, Error>(said)
    }))?;
    match said {
        Some(said) if said != record.mode => Err(Exit::Mode(format!(
            "the database was made by `locum {said}` and is not opened by `locum {}`",
            record.mode
        ))),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::{Creating, find};
    use crate::config::{Mode, Settings, Sources, load};
    use crate::exit::Exit;
    use std::path::Path;

    fn settings(mode: Mode, folder: &Path, further: &[String]) -> Settings {
        let mut sets = vec![format!("core.data_dir={}", folder.display())];
        if mode == Mode::Serve {
            sets.push("core.base_url=https://social.example".to_owned());
        }
        sets.extend_from_slice(further);
        let sources = Sources {
            sets,
            ..Sources::default()
        };
        Settings::read(&load(&sources, mode).unwrap()).unwrap()
    }

    #[test]
    fn a_test_folder_is_not_served() {
        let folder = tempfile::tempdir().unwrap();
        let data = folder.path().join("data");
        let dev = settings(Mode::Dev, &data, &[]);
        assert!(find(&dev, Creating::Refused).is_err() && !data.exists());
        let made = find(&dev, Creating::Allowed).unwrap();
        assert!(made.is_new);
        made.record.write(&data).unwrap();
        let again = find(&dev, Creating::Refused).unwrap();
        assert_eq!((again.is_new, again.record.starts), (false, 2));
        let serve = settings(Mode::Serve, &data, &[]);
        assert!(matches!(
            find(&serve, Creating::Allowed),
            Err(Exit::Mode(_))
        ));
    }

    #[test]
    fn a_real_networks_key_lies_apart_from_its_data() {
        let folder = tempfile::tempdir().unwrap();
        let data = folder.path().join("data");
        let bare = settings(Mode::Serve, &data, &[]);
        assert!(matches!(
            find(&bare, Creating::Allowed),
            Err(Exit::Usage(_))
        ));
        assert!(!data.exists(), "nothing was touched");

        let key = folder.path().join("master.key");
        super::key::new_key_file(&key, &base::Rng::Os).unwrap();
        let apart = format!("secrets.master_key_file={}", key.display());
        assert!(find(&settings(Mode::Serve, &data, &[apart]), Creating::Allowed).is_ok());

        let inside = data.join("master.key");
        std::fs::copy(&key, &inside).unwrap();
        let inside = format!("secrets.master_key_file={}", inside.display());
        let refused = find(
            &settings(Mode::Serve, &data, std::slice::from_ref(&inside)),
            Creating::Allowed,
        );
        assert!(matches!(refused, Err(Exit::Mode(_))));
        let danger = "secrets.danger_key_in_data_dir=true".to_owned();
        assert!(
            find(
                &settings(Mode::Serve, &data, &[inside, danger]),
                Creating::Allowed
            )
            .is_ok()
        );
    }

    #[test]
    fn a_lost_key_is_not_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let dev = settings(Mode::Dev, folder.path(), &[]);
        let made = find(&dev, Creating::Allowed).unwrap();
        made.record.write(folder.path()).unwrap();
        std::fs::remove_file(folder.path().join("master.key")).unwrap();
        assert!(find(&dev, Creating::Allowed).is_err());
        assert!(!folder.path().join("master.key").exists());
    }
}
