//! From four layers to one value for every key; everything wrong is told at once.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::key::{Key, Kind, Mode, Preset};
use super::values::{Origin, Value, Values};
use super::{environment, file, parse, table::KEYS};
use crate::exit::Exit;

/// Where values may come from.
#[derive(Debug, Default)]
pub(crate) struct Sources {
    /// Keys that flags set, with the flag.
    pub(crate) flags: Vec<(&'static str, String, String)>,
    /// `--set key=value`.
    pub(crate) sets: Vec<String>,
    /// The environment.
    pub(crate) variables: Vec<(String, String)>,
    /// The file that was named, if one was.
    pub(crate) file: Option<PathBuf>,
    /// The file that is read when none was named and it is there.
    pub(crate) usual_file: Option<PathBuf>,
}

/// A value on its way to its key.
#[derive(Debug)]
pub(super) struct Found {
    pub(super) name: String,
    pub(super) text: String,
    pub(super) origin: Origin,
}

/// What was wrong, and whether it was a key of the other mode.
#[derive(Default)]
struct Wrong {
    usage: Vec<String>,
    mode: Vec<String>,
}

/// Reads every layer. An unknown key, a bad value and an unreadable secret are told together,
/// each with its file and line.
pub(crate) fn load(sources: &Sources, mode: Mode) -> Result<Values, Exit> {
    let mut wrong = Wrong::default();
    let mut held = defaults(mode);
    let layers = [
        file_layer(sources, &mut wrong),
        environment::read(&sources.variables),
        flag_layer(sources, &mut wrong),
    ];
    for layer in layers {
        for (key, value) in settle(layer, mode, &mut wrong) {
            held.insert(key.name, value);
        }
    }
    for key in KEYS {
        if key.preset(mode) == Preset::Required && !held.contains_key(key.name) {
            wrong.usage.push(format!(
                "{} is not set; {mode} needs it ({}, or in locum.toml)",
                key.name,
                key.variable()
            ));
        }
    }
    wrong.into_result()?;
    Ok(Values { mode, held })
}

/// The data folder that the layers name, before anything else is checked.
pub(crate) fn data_dir(sources: &Sources) -> Option<PathBuf> {
    let mut wrong = Wrong::default();
    let layers = [
        flag_layer(sources, &mut wrong),
        environment::read(&sources.variables),
        file_layer(sources, &mut wrong),
    ];
    let mut all = layers.into_iter().flatten();
    all.find(|found| found.name == "core.data_dir")
        .map(|found| PathBuf::from(found.text))
}

impl Wrong {
    fn into_result(self) -> Result<(), Exit> {
        if !self.usage.is_empty() {
            Err(Exit::Usage(self.usage.join("\n       ")))
        } else if !self.mode.is_empty() {
            Err(Exit::Mode(self.mode.join("\n       ")))
        } else {
            Ok(())
        }
    }
}

fn defaults(mode: Mode) -> BTreeMap<&'static str, Value> {
    let set = KEYS.iter().filter_map(|key| match key.preset(mode) {
        Preset::Is(text) => Some((key.name, text)),
        Preset::Unset | Preset::Required | Preset::Absent => None,
    });
    let value = |text: &str| Value {
        text: text.to_owned(),
        origin: Origin::Default(mode),
    };
    set.map(|(name, text)| (name, value(text))).collect()
}

fn flag_layer(sources: &Sources, wrong: &mut Wrong) -> Vec<Found> {
    let flags = sources.flags.iter().map(|(name, text, flag)| Found {
        name: (*name).to_owned(),
        text: text.clone(),
        origin: Origin::Flag(flag.clone()),
    });
    let mut found: Vec<_> = flags.collect();
    for set in &sources.sets {
        match set.split_once('=') {
            Some((name, text)) => found.push(Found {
                name: name.trim().to_owned(),
                text: text.to_owned(),
                origin: Origin::Flag("--set".to_owned()),
            }),
            None => wrong
                .usage
                .push(format!("--set {set}: write it as key=value")),
        }
    }
    found
}

fn file_layer(sources: &Sources, wrong: &mut Wrong) -> Vec<Found> {
    let (path, named) = match (&sources.file, &sources.usual_file) {
        (Some(path), _) => (path, true),
        (None, Some(path)) => (path, false),
        (None, None) => return Vec::new(),
    };
    let text = match std::fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if !named && error.kind() == std::io::ErrorKind::NotFound => return Vec::new(),
        Err(error) => {
            wrong.usage.push(format!("{}: {error}", path.display()));
            return Vec::new();
        }
    };
    file::read(path, &text).unwrap_or_else(|mut lines| {
        wrong.usage.append(&mut lines);
        Vec::new()
    })
}

/// One layer's values by key. A value beats its own `_file` twin of the same layer.
fn settle(layer: Vec<Found>, mode: Mode, wrong: &mut Wrong) -> Vec<(&'static Key, Value)> {
    let mut settled = Vec::new();
    for found in layer {
        if let Some(key) = KEYS.iter().find(|key| key.name == found.name) {
            let value = Value {
                text: found.text,
                origin: found.origin,
            };
            take(key, value, mode, wrong, &mut settled);
        } else if let Some(key) = twin(&found.name) {
            match held_in_file(&found) {
                Ok(value) => take(key, value, mode, wrong, &mut settled),
                Err(error) => wrong.usage.push(error),
            }
        } else {
            wrong.usage.push(unknown(&found));
        }
    }
    settled
}

fn take(
    key: &'static Key,
    value: Value,
    mode: Mode,
    wrong: &mut Wrong,
    settled: &mut Vec<(&'static Key, Value)>,
) {
    if key.preset(mode) == Preset::Absent {
        wrong.mode.push(format!(
            "{}: {} does not exist in {mode}",
            value.origin, key.name
        ));
    } else if let Err(expected) = parse::check(key.kind, &value.text) {
        let shown = if key.kind == Kind::Secret || key.kind == Kind::Database {
            String::new()
        } else {
            format!(" [{}]", value.text)
        };
        wrong.usage.push(format!(
            "{}: {}{shown} is not what it takes: {expected}",
            value.origin, key.name
        ));
    } else {
        settled.push((key, value));
    }
}

fn twin(name: &str) -> Option<&'static Key> {
    let name = name.strip_suffix("_file")?;
    KEYS.iter()
        .find(|key| key.name == name && key.kind.is_secret())
}

fn held_in_file(found: &Found) -> Result<Value, String> {
    let path = Path::new(&found.text);
    let text = std::fs::read_to_string(path)
        .map_err(|error| format!("{}: {} [{}]: {error}", found.origin, found.name, found.text))?;
    Ok(Value {
        text: text.trim_end_matches(['\r', '\n']).to_owned(),
        origin: Origin::Held(path.to_owned(), Box::new(found.origin.clone())),
    })
}

fn unknown(found: &Found) -> String {
    let Found { name, origin, .. } = found;
    match nearest(name) {
        Some(key) => {
            let meant = match origin {
                Origin::Variable(_) => key.variable(),
                _ => key.name.to_owned(),
            };
            format!("{origin}: no key is called {name}; did you mean {meant}?")
        }
        None => format!("{origin}: no key is called {name}; `locum conf keys` lists them"),
    }
}

/// The key whose name, or whose name without its area, is most like what was written.
fn nearest(name: &str) -> Option<&'static Key> {
    let likeness = |key: &&Key| {
        let last = key.name.split('.').next_back().unwrap_or(key.name);
        let written = name.split('.').next_back().unwrap_or(name);
        let whole = strsim::normalized_damerau_levenshtein(name, key.name);
        whole.max(strsim::normalized_damerau_levenshtein(written, last) * 0.95)
    };
    let best = KEYS
        .iter()
        .max_by(|one, other| likeness(one).total_cmp(&likeness(other)))?;
    (likeness(&best) > 0.6).then_some(best)
}

#[cfg(test)]
mod tests {
    use super::{Sources, load};
    use crate::config::{Mode, Values};
    use crate::exit::Exit;

    fn sources(file: &str) -> (tempfile::TempDir, Sources) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("locum.toml");
        std::fs::write(&path, file).unwrap();
        let sources = Sources {
            file: Some(path),
            ..Sources::default()
        };
        (folder, sources)
    }

    fn wrong(file: &str, mode: Mode) -> String {
        let (folder, sources) = sources(file);
        let exit = load(&sources, mode).unwrap_err();
        let text = exit
            .message()
            .replace(&folder.path().display().to_string(), "");
        format!("{} {text}", exit.number())
    }

    fn origin(values: &Values, name: &str) -> String {
        values.get(name).unwrap().origin.to_string()
    }

    #[test]
    fn a_flag_beats_the_environment_beats_the_file_beats_the_default() {
        let (folder, mut sources) = sources("[listen]\naddr = '127.0.0.1:1'\nidle_timeout = 5\n");
        let values = load(&sources, Mode::Dev).unwrap();
        assert_eq!(values.text("listen.addr"), Some("127.0.0.1:1"));
        assert_eq!(
            origin(&values, "listen.addr"),
            format!("{}/locum.toml:2", folder.path().display())
        );
        assert_eq!(values.text("listen.idle_timeout"), Some("5"));
        assert_eq!(origin(&values, "listen.body_timeout"), "default of dev");

        sources.variables = vec![("LOCUM_LISTEN__ADDR".to_owned(), "127.0.0.1:2".to_owned())];
        let values = load(&sources, Mode::Dev).unwrap();
        assert_eq!(origin(&values, "listen.addr"), "env LOCUM_LISTEN__ADDR");

        sources.flags = vec![(
            "listen.addr",
            "127.0.0.1:3".to_owned(),
            "--listen".to_owned(),
        )];
        let values = load(&sources, Mode::Dev).unwrap();
        assert_eq!(values.text("listen.addr"), Some("127.0.0.1:3"));
        assert_eq!(origin(&values, "listen.addr"), "flag --listen");
    }

    #[test]
    fn what_is_wrong_names_its_file_and_line_and_a_better_word() {
        assert_eq!(
            wrong("[listen]\n\nadr = '127.0.0.1:1'\n", Mode::Dev),
            "2 /locum.toml:3: no key is called listen.adr; did you mean listen.addr?"
        );
        assert_eq!(
            wrong("data_dir = '/x'\n", Mode::Dev),
            "2 /locum.toml:1: no key is called data_dir; did you mean core.data_dir?"
        );
        assert_eq!(
            wrong("[core]\nnode = 'first'\n", Mode::Dev),
            "2 /locum.toml:2: core.node [first] is not what it takes: 0–1022"
        );
        assert!(wrong("[limits\n", Mode::Dev).starts_with("2 /locum.toml:1: "));
        assert!(
            wrong("[db]\nurl_file = '/nowhere'\n", Mode::Dev)
                .starts_with("2 /locum.toml:2: db.url_file [/nowhere]: ")
        );
    }

    #[test]
    fn a_key_of_the_other_mode_is_refused_by_mode() {
        let base = "[core]\nbase_url = 'https://s.example'\n";
        for key in ["world = 'demo'", "seed = 7", "expose = true"] {
            let told = wrong(&format!("{base}{key}\n"), Mode::Serve);
            assert!(told.starts_with("4 /locum.toml:3: core."), "{told}");
            assert!(told.ends_with("does not exist in serve"), "{told}");
        }
        let (_folder, sources) = sources("");
        let exit = load(&sources, Mode::Serve).unwrap_err();
        assert!(matches!(exit, Exit::Usage(text) if text.starts_with("core.base_url is not set")));
    }

    #[test]
    fn a_secret_may_lie_in_a_file_and_is_not_told() {
        let folder = tempfile::tempdir().unwrap();
        let secret = folder.path().join("url");
        std::fs::write(&secret, "postgres://ada:hush@db/locum\n").unwrap();
        let variables = vec![(
            "LOCUM_DB__URL_FILE".to_owned(),
            secret.display().to_string(),
        )];
        let mut sources = Sources {
            variables,
            ..Sources::default()
        };
        let values = load(&sources, Mode::Dev).unwrap();
        assert_eq!(values.text("db.url"), Some("postgres://ada:hush@db/locum"));

        sources.flags = vec![("db.url", "mysql://hush".to_owned(), "--db".to_owned())];
        let exit = load(&sources, Mode::Dev).unwrap_err();
        assert!(!exit.message().contains("hush"), "{}", exit.message());
    }

    #[test]
    fn what_clients_read_is_not_configuration() {
        let variables = [
            "LOCUM_BASE_URL",
            "LOCUM_USER_ID_2",
            "LOCUM_CONFIG",
            "LOCUM_X",
            "PATH",
        ];
        let sources = Sources {
            variables: variables
                .map(|name| (name.to_owned(), "x".to_owned()))
                .to_vec(),
            ..Sources::default()
        };
        assert!(load(&sources, Mode::Dev).is_ok());

        let sources = Sources {
            variables: vec![("LOCUM_DATA_DIR".to_owned(), "x".to_owned())],
            ..Sources::default()
        };
        let told = load(&sources, Mode::Dev).unwrap_err();
        assert!(
            told.message()
                .ends_with("did you mean LOCUM_CORE__DATA_DIR?"),
            "{told:?}"
        );
    }
}
