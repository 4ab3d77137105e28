//! `locum conf`.

use serde_json::{Value, json};

use crate::arguments::{ConfigCommand, GlobalArgs};
use crate::command_error::CommandError;
use crate::config::{ServerSettings, config_rows};
use crate::output::OutputOptions;

pub(crate) fn run_config_command(
    common: &GlobalArgs,
    verb: ConfigCommand,
    output: OutputOptions,
) -> Result<(), CommandError> {
    let values = common.values_of_data_folder()?;
    let settings = ServerSettings::from_values(&values)?;
    if let ConfigCommand::Show { origin } = verb {
        let rows = config_rows(&values).into_iter().map(|(key, value, from)| {
            if origin {
                json!({"key": key, "value": value, "origin": from})
            } else {
                json!({"key": key, "value": value})
            }
        });
        output.print_value(&rows.collect::<Value>());
    } else {
        let set = config_rows(&values).iter().filter(|(key, ..)| values.is_set(key)).count();
        let mode = settings.mode.name();
        output.print_value(&json!({"valid": true, "mode": mode, "set": set}));
    }
    Ok(())
}
