//! `locum migrate`.

use serde_json::{Value, json};
use store::{NodePurpose, Store, StoreOptions};

use crate::arguments::{GlobalArgs, MigrateCommand};
use crate::command_error::CommandError;
use crate::instance::{self, CreatePolicy};
use crate::output::OutputOptions;

pub(crate) fn run_migrate_command(
    common: &GlobalArgs,
    verb: MigrateCommand,
    output: OutputOptions,
) -> Result<(), CommandError> {
    let settings = common.load_settings()?;
    if matches!(verb, MigrateCommand::Up) {
        let mut found = instance::find_or_create(&settings, CreatePolicy::RequireExisting)?;
        let rng = instance::instance_rng(&found.manifest);
        let store = instance::open_store(StoreOptions {
            purpose: NodePurpose::Command,
            migrate: true,
            ..instance::store_options(&settings, rng, found.keyring)
        })?;
        instance::check_store_matches(&store, &mut found.manifest)?;
        found.manifest.write(&settings.core.data_dir)?;
        let applied =
            store.applied_migrations.iter().map(|applied| json!({"version": applied.version, "name": applied.name}));
        output.print_value(&json!({"applied": applied.collect::<Vec<_>>()}));
        store.close();
        return Ok(());
    }
    let all = instance::block_on(Store::migration_status(settings.database_location()))?;
    let rows: Value = all
        .iter()
        .map(|migration| {
            json!({
                "version": migration.version,
                "name": migration.name,
                "kind": if migration.is_contraction { "contraction" } else { "expansion" },
                "applied_at": migration.applied_at.map(|at| at.to_string()),
            })
        })
        .collect();
    output.print_value(&rows);
    Ok(())
}
