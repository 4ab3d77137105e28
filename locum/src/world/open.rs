//! Opening a data folder: nothing is touched unless everything fits.

use std::path::Path;
use std::sync::Arc;

use base::{Chance, Clock, Fault, Stop};
use store::{Location, Options, Store, meta};

use super::record::Record;
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

/// An open world, and what was found.
pub(crate) struct Opened {
    /// The world.
    pub(crate) world: World,
    /// What the folder is.
    pub(crate) record: Record,
    /// Whether it was made just now.
    pub(crate) is_new: bool,
}

/// Node number of commands that work beside a server on the same database.
const COMMANDS_NODE: u16 = 1023;

/// Opens a data folder, or makes it. `as_command`: beside servers that may run elsewhere.
pub(crate) async fn open(
    settings: Arc<Settings>,
    creating: Creating,
    as_command: bool,
    progress: Arc<dyn Progress>,
) -> Result<Opened, Exit> {
    let found = Record::read(&settings.data_dir)?;
    check_mode(&settings, found.as_ref())?;
    let is_new = found.is_none();
    if is_new && creating == Creating::Refused {
        return Err(Exit::Unreachable(format!(
            "there is no data folder at {}: start `locum dev` or `locum serve`, or name one with \
             --data-dir",
            settings.data_dir.display()
        )));
    }
    let mut record = found.unwrap_or_else(|| new_record(&settings));
    let chance = chance_for(settings.mode, &record);
    if is_new {
        key::master_key(&settings, &chance, false).or_else(|exit| match settings.mode {
            Mode::Dev => Ok(base::seal::Keyring::new(
                base::seal::MasterKey::new(&Chance::Os)?,
                Vec::new(),
            )),
            Mode::Serve if settings.keys.beside_data => Ok(base::seal::Keyring::new(
                base::seal::MasterKey::new(&Chance::Os)?,
                Vec::new(),
            )),
            Mode::Serve => Err(exit),
        })?;
        folder::make(&settings.data_dir)?;
    }
    let keyring = key::master_key(&settings, &Chance::Os, is_new)?;
    record.starts += 1;
    record.write(&settings.data_dir)?;
    let mut options = options(&settings, chance, keyring);
    if as_command {
        options.node = COMMANDS_NODE;
    }
    let store = raw_store(options).await?;
    agree(&store, &record).await?;
    let world = World {
        settings,
        store: Arc::new(store),
        progress,
    };
    Ok(Opened {
        world,
        record,
        is_new,
    })
}

/// How the settings open a store.
pub(crate) fn options(
    settings: &Settings,
    chance: Chance,
    keyring: base::seal::Keyring,
) -> Options {
    Options {
        location: settings.location.clone(),
        data_dir: settings.data_dir.clone(),
        connections: settings.connections,
        node: settings.node,
        migrate: settings.migrate_on_start,
        clock: Clock::System,
        chance,
        keyring,
    }
}

/// Opens a store. Its engine may block, so it has a thread of its own for that.
pub(crate) async fn raw_store(options: Options) -> Result<Store, Fault> {
    let runtime = tokio::runtime::Handle::current();
    let opening = tokio::task::spawn_blocking(move || {
        let _entered = &runtime;
        futures_executor(Store::open(options))
    });
    opening
        .await
        .map_err(Fault::when("opening the store"))?
}
