//! `locum migrate`.

use serde_json::{Value, json};
use store::{DatabaseLocation, NodePurpose, Store, StoreOptions};

use instance::arguments::{GlobalArgs, MigrateCommand};
use instance::command_error::CommandError;
use instance::config::{DATABASE_FILE, ServerSettings};
use instance::output::OutputOptions;
use instance::{self, CreatePolicy};

pub(crate) fn run_migrate_command(
    common: &GlobalArgs,
    verb: MigrateCommand,
    output: OutputOptions,
) -> Result<(), CommandError> {
    let settings = common.load_settings()?;
    match verb {
        MigrateCommand::Status => print_status(&settings, output),
        MigrateCommand::Up => {
            let store = open_store(&settings)?;
            let applied = store
                .applied_migrations
                .iter()
                .map(|applied| json!({"version": applied.version, "name": applied.name}));
            output.print_value(&json!({"applied": applied.collect::<Vec<_>>()}));
            store.close();
            Ok(())
        }
        MigrateCommand::FromSqlite { file } => {
            let DatabaseLocation::Server(_) = settings.database_location() else {
                return Err(CommandError::Usage("set db.url to the PostgreSQL database to copy into".to_owned()));
            };
            let file = file.unwrap_or_else(|| settings.core.data_dir.join(DATABASE_FILE));
            let found = instance::find_or_create(&settings, CreatePolicy::RequireExisting)?;
            let rng = instance::instance_rng(&found.manifest);
            let copied = Store::import_sqlite(&instance::store_options(&settings, rng, found.keyring), &file)?;
            // Also creates the indexes of advertising records.
            open_store(&settings)?.close();
            output.print_value(&json!({"tables": copied.tables, "rows": copied.rows}));
            Ok(())
        }
    }
}

/// After the migrations that it lacks.
fn open_store(settings: &ServerSettings) -> Result<Store, CommandError> {
    let mut found = instance::find_or_create(settings, CreatePolicy::RequireExisting)?;
    let rng = instance::instance_rng(&found.manifest);
    let store = instance::open_store(StoreOptions {
        purpose: NodePurpose::Command,
        migrate: true,
        ..instance::store_options(settings, rng, found.keyring)
    })?;
    instance::check_store_matches(&store, &mut found.manifest)?;
    found.manifest.write(&settings.core.data_dir)?;
    Ok(store)
}

fn print_status(settings: &ServerSettings, output: OutputOptions) -> Result<(), CommandError> {
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
