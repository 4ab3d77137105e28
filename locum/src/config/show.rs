//! The configuration as a person may see it.

use super::key::{Key, Kind};
use super::table::KEYS;
use super::values::Values;

/// One line of `locum conf show`.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Row {
    /// The key.
    pub(crate) name: &'static str,
    /// Its value, masked when it is secret; `—` when it has none.
    pub(crate) value: String,
    /// Where it came from.
    pub(crate) origin: String,
}

/// Every key of the mode, in the table's order.
pub(crate) fn rows(values: &Values) -> Vec<Row> {
    let mode = values.mode;
    let known = KEYS
        .iter()
        .filter(|key| key.preset(mode) != super::Preset::Absent);
    known.map(|key| row(key, values)).collect()
}

fn row(key: &Key, values: &Values) -> Row {
    match values.get(key.name) {
        Some(value) => Row {
            name: key.name,
            value: masked(key.kind, &value.text),
            origin: value.origin.to_string(),
        },
        None => Row {
            name: key.name,
            value: "—".to_owned(),
            origin: "not set".to_owned(),
        },
    }
}

fn masked(kind: Kind, text: &str) -> String {
    match kind {
        Kind::Secret => "••••••".to_owned(),
        Kind::Database => masked_url(text),
        _ => text.to_owned(),
    }
}

/// A database address without its password, wherever that stands.
pub(crate) fn masked_url(text: &str) -> String {
    let Some((scheme, rest)) = text.split_once("://") else {
        return text.to_owned();
    };
    let (address, query) = rest.split_once('?').unwrap_or((rest, ""));
    let address = match address.rsplit_once('@') {
        Some((who, place)) => match who.split_once(':') {
            Some((user, _)) => format!("{user}:••••••@{place}"),
            None => address.to_owned(),
        },
        None => address.to_owned(),
    };
    let query: Vec<_> = query
        .split('&')
        .map(|pair| match pair.split_once('=') {
            Some((name, _)) if name.contains("pass") => format!("{name}=••••••"),
            _ => pair.to_owned(),
        })
        .collect();
    let query = query.join("&");
    let mark = if query.is_empty() { "" } else { "?" };
    format!("{scheme}://{address}{mark}{query}")
}

#[cfg(test)]
mod tests {
    use super::{masked_url, rows};
    use crate::config::{Mode, Sources, load};

    #[test]
    fn no_secret_is_shown() {
        let set = [
            "secrets.master_key=locum-key-1 00000000 hush",
            "db.url=postgres://a:hush@h/d?password=hush&x=1",
        ];
        let sources = Sources {
            sets: set.map(str::to_owned).to_vec(),
            ..Sources::default()
        };
        let values = load(&sources, Mode::Dev).unwrap();
        let shown = format!("{:?}", rows(&values));
        assert!(!shown.contains("hush"), "{shown}");
        assert!(
            shown.contains("postgres://a:••••••@h/d?password=••••••&x=1"),
            "{shown}"
        );
    }

    #[test]
    fn an_address_without_a_password_is_shown_whole() {
        for text in [
            "sqlite",
            "/var/lib/x.db",
            "postgres://ada@h/d",
            "postgres:///d?host=/run",
        ] {
            assert_eq!(masked_url(text), text);
        }
    }
}
