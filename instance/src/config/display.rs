//! The configuration with secrets masked.

use super::key::{ConfigKey, KeySecrecy};
use super::keys::KEYS;
use super::values::ConfigValues;

/// The name, the value (masked if secret; `—` if unset) and the origin of each key, in the order of [`KEYS`].
pub fn config_rows(values: &ConfigValues) -> Vec<(&'static str, String, String)> {
    let known = KEYS.iter().filter(|key| !key.is_absent(values.mode));
    let row = |key: &'static ConfigKey| match values.get(key.name) {
        Some(value) => (key.name, mask_value(key.secrecy, &value.text), value.origin.to_string()),
        None => (key.name, "—".to_owned(), "not set".to_owned()),
    };
    known.map(row).collect()
}

fn mask_value(secrecy: KeySecrecy, text: &str) -> String {
    match secrecy {
        KeySecrecy::Secret => "••••••".to_owned(),
        KeySecrecy::Password => mask_url_password(text),
        KeySecrecy::Public => text.to_owned(),
    }
}

/// Masks the password in the authority and in query parameters.
fn mask_url_password(text: &str) -> String {
    let Some((scheme, rest)) = text.split_once("://") else {
        return text.to_owned();
    };
    // A password may contain a question mark.
    let credentials = rest.split_once('@').and_then(|(who, place)| Some((who.split_once(':')?.0, place)));
    let place = credentials.map_or(rest, |(_, place)| place);
    let user = credentials.map_or_else(String::new, |(user, _)| format!("{user}:••••••@"));
    let (place, query) = place.split_once('?').unwrap_or((place, ""));
    // Or the sign that ends it, if the database takes the last one.
    let place = place.rsplit_once('@').filter(|_| !user.is_empty()).map_or(place, |(_, place)| place);
    let query: Vec<_> = query
        .split('&')
        .map(|pair| match pair.split_once('=') {
            Some((name, _)) if name.contains("pass") => format!("{name}=••••••"),
            _ => pair.to_owned(),
        })
        .collect();
    let query = query.join("&");
    let mark = if query.is_empty() { "" } else { "?" };
    format!("{scheme}://{user}{place}{mark}{query}")
}

#[cfg(test)]
mod tests {
    use super::{config_rows, mask_url_password};
    use crate::config::{ConfigSources, RunMode, load};

    #[test]
    fn no_secret_is_shown() {
        let set = [
            "secrets.master_key=locum-key-1 00000000 hush",
            "db.url=postgres://a:hu?sh@h/d?password=hush&x=1",
            "limits.url=redis://:hush@h:6379/2",
        ];
        let sources = ConfigSources { set_flags: set.map(str::to_owned).to_vec(), ..ConfigSources::default() };
        let values = load(&sources, RunMode::Dev).unwrap();
        let shown = format!("{:?}", config_rows(&values));
        assert!(!shown.contains("hush") && !shown.contains("hu?sh"), "{shown}");
        assert!(shown.contains("postgres://a:••••••@h/d?password=••••••&x=1"), "{shown}");
        assert!(shown.contains("redis://:••••••@h:6379/2"), "{shown}");
    }

    #[test]
    fn an_address_without_a_password_is_shown_whole() {
        for text in ["sqlite", "/var/lib/x.db", "postgres://ada@h/d", "postgres:///d?host=/run"] {
            assert_eq!(mask_url_password(text), text);
        }
    }
}
