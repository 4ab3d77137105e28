//! `locum conf`.

use serde_json::{Value, json};

use crate::runtime::BackupSchedule;
use crate::tls::load_certificate;
use instance::arguments::{ConfigCommand, GlobalArgs};
use instance::command_error::CommandError;
use instance::config::{ServerSettings, config_rows};
use instance::output::OutputOptions;

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
        check_files(&settings)?;
        let set = config_rows(&values).iter().filter(|(key, ..)| values.is_set(key)).count();
        let mode = settings.mode.name();
        output.print_value(&json!({"valid": true, "mode": mode, "set": set}));
    }
    Ok(())
}

/// What a start refuses besides the values themselves.
fn check_files(settings: &ServerSettings) -> Result<(), CommandError> {
    instance::check_key_files(settings)?;
    settings.transcoder()?;
    BackupSchedule::from_settings(settings)?;
    if let Some((certificate, key)) = settings.certificate_files() {
        load_certificate(certificate, key)
            .map_err(|fault| CommandError::Usage(format!("tls.cert, tls.key: {fault}")))?;
    }
    Ok(())
}
