//! `locum migrate`.

use serde_json::{Value, json};
use store::{Store, StoreOptions};

use crate::cli::{Common, MigrateVerb, Output};
use crate::exit::Exit;
use crate::world::{self, COMMANDS_NODE, Creating};

/// Shows or applies migrations.
pub(crate) fn migrate(common: &Common, verb: MigrateVerb, output: Output) -> Result<(), Exit> {
    let settings = common.settings()?;
    if matches!(verb, MigrateVerb::Up) {
        let found = world::find(&settings, Creating::Refused)?;
        let chance = world::chance(&found.record);
        let store = world::open_store(StoreOptions {
            node: COMMANDS_NODE,
            migrate: true,
            ..world::options(&settings, chance, found.keyring)
        })?;
        world::agree(&store, &found.record)?;
        found.record.write(&settings.data_dir)?;
        let applied = store
            .applied_migrations
            .iter()
            .map(|applied| json!({"version": applied.version, "name": applied.name}));
        output.value(&json!({"applied": applied.collect::<Vec<_>>()}));
        store.close();
        return Ok(());
    }
    let all = world::wait(Store::migration_status(settings.location.clone()))?;
    let rows: Value = all
        .iter()
        .map(|migration| {
            json!({
                "version": migration.version,
                "name": migration.name,
                "applied_at": migration.applied_at.map(|at| at.to_string()),
            })
        })
        .collect();
    output.value(&rows);
    Ok(())
}
