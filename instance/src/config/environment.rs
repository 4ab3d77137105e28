//! Environment variables: `LOCUM_AREA__NAME`.

use super::keys::KEYS;
use super::values::{ConfigValue, LayerEntry, ValueOrigin};

const PREFIX: &str = "LOCUM_";

/// Names that `locum env` exports to clients, without their prefix and `_2` suffix. They are not configuration: a
/// shell that has them set can still start a server.
const CLIENT_NAMES: &str = "BASE_URL ADS_URL ADS_SANDBOX_URL API_KEY API_SECRET BEARER_TOKEN USER_ID USERNAME PASSWORD \
     ACCESS_TOKEN ACCESS_TOKEN_SECRET USER_TOKEN CLIENT_ID CLIENT_SECRET PUBLIC_CLIENT_ID CALLBACK_URL ADS_ACCOUNT_ID \
     ADS_FOREIGN_ACCOUNT_ID ADS_FUNDING_INSTRUMENT_ID WORLD WORLD_URL";

const CONFIG_PATH_VARIABLE: &str = "LOCUM_CONFIG";

pub(super) fn read_variables(variables: &[(String, String)]) -> Vec<LayerEntry> {
    let ours = variables.iter().filter(|(name, _)| is_configuration(name));
    ours.map(|(name, value)| LayerEntry {
        name: key_name(name),
        value: ConfigValue { text: value.clone(), origin: ValueOrigin::Variable(name.clone()) },
    })
    .collect()
}

fn is_configuration(name: &str) -> bool {
    let Some(rest) = name.strip_prefix(PREFIX) else {
        return false;
    };
    let first = rest.strip_suffix("_2").unwrap_or(rest);
    // Every key has an area. A name without one is reported only if it resembles a key.
    name != CONFIG_PATH_VARIABLE
        && CLIENT_NAMES.split(' ').all(|name| name != first)
        && (rest.contains("__") || resembles_key(rest))
}

/// A key without its area, or with other underscores than it has.
fn resembles_key(rest: &str) -> bool {
    let name = rest.to_ascii_lowercase();
    let letters = |text: &str| text.replace(['_', '.'], "");
    KEYS.iter().any(|key| key.short_name == name || letters(key.name) == letters(&name))
}

fn key_name(variable: &str) -> String {
    let rest = variable.strip_prefix(PREFIX).unwrap_or(variable);
    rest.to_ascii_lowercase().replace("__", ".")
}
