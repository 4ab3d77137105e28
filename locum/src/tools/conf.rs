//! `locum conf`.

use serde_json::{Value, json};

use crate::cli::{Common, ConfVerb, Output};
use crate::config::{Settings, rows};
use crate::exit::Exit;

/// Checks or shows the configuration.
pub(crate) fn conf(common: &Common, verb: ConfVerb, output: Output) -> Result<(), Exit> {
    let values = common.found_values()?;
    let settings = Settings::read(&values)?;
    if let ConfVerb::Show { origin } = verb {
        let rows: Value = rows(&values)
            .into_iter()
            .map(|row| {
                if origin {
                    json!({"key": row.name, "value": row.value, "origin": row.origin})
                } else {
                    json!({"key": row.name, "value": row.value})
                }
            })
            .collect();
        output.value(&rows);
    } else {
        let set = rows(&values)
            .iter()
            .filter(|row| values.is_set(row.name))
            .count();
        let mode = settings.mode.name();
        output.value(&json!({"valid": true, "mode": mode, "set": set}));
    }
    Ok(())
}
