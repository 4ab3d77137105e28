//! The testing tools of a world.

use std::sync::Arc;

use emulator::Emulator;
use emulator::faults::FaultRules;
use emulator::journal::{Journal, JournalFile, JournalLimits};
use emulator::worlds::WorldControl;

use instance::command_error::CommandError;
use instance::config::ServerSettings;

pub(super) fn open_emulator(
    settings: &ServerSettings,
    journal: Journal,
    worlds: Arc<dyn WorldControl>,
) -> Arc<Emulator> {
    let ca_file = settings.core.data_dir.join("ca/ca.pem");
    Arc::new(Emulator {
        journal,
        faults: Arc::new(FaultRules::from_seed(settings.core.seed)),
        ca_file: (!settings.emulated_hosts().is_empty()).then_some(ca_file),
        worlds: Some(worlds),
        ..Emulator::default()
    })
}

pub(super) fn journal_limits(settings: &ServerSettings) -> JournalLimits {
    let section = &settings.journal;
    JournalLimits { entries: section.size, bytes: section.memory.0, stores_bodies: section.bodies }
}

/// The journal of the main world, which alone writes the file.
pub(super) fn open_journal(settings: &ServerSettings) -> Result<Journal, CommandError> {
    let (section, limits) = (&settings.journal, journal_limits(settings));
    let Some(path) = section.file.as_deref() else {
        return Ok(Journal::new(limits, None));
    };
    let size = u64::try_from(section.file_size.0).unwrap_or(u64::MAX);
    let file = JournalFile::open(path, size)
        .map_err(|error| CommandError::Failed(format!("journal.file: {}: {error}", path.display())))?;
    Ok(Journal::new(limits, Some(file)))
}
