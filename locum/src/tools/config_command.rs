//! `locum conf`.

use serde_json::{Value, json};

use crate::cli::{ConfigCommand, GlobalArgs, OutputOptions};
use crate::command_error::CommandError;
use crate::config::{ServerSettings, config_rows};

pub(crate) fn run_config_command(
    common: &GlobalArgs,
    verb: ConfigCommand,
    output: OutputOptions,
) -> Result<(), CommandError> {
    let values = common.values_of_data_folder()?;
    let settings = ServerSettings::from_values(&values)?;
    if let ConfigCommand::Show { origin } = verb {
        let rows: Value = config_rows(&values)
            .into_iter()
            .map(|row| {
                if origin {
                    json!({"key": row.name, "value": row.value, "origin": row.origin})
                } else {
                    json!({"key": row.name, "value": row.value})
                }
            })
            .collect();
        output.print_value(&rows);
    } else {
        let set = config_rows(&values).iter().filter(|row| values.is_set(row.name)).count();
        let mode = settings.mode.name();
        output.print_value(&json!({"valid": true, "mode": mode, "set": set}));
    }
    Ok(())
}
