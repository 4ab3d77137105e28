//! Merges defaults, the configuration file, the environment and flags; reports all errors at once.

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::key::{ConfigKey, KeyDefault, KeySecrecy, RunMode};
use super::values::{ConfigValue, ConfigValues, LayerEntry, ValueOrigin};
use super::{config_file, environment, keys::KEYS};
use crate::command_error::CommandError;

#[derive(Debug, Default)]
pub struct ConfigSources {
    pub flags: Vec<(&'static str, String, String)>,
    pub set_flags: Vec<String>,
    pub variables: Vec<(String, String)>,
    pub file: Option<PathBuf>,
    pub default_file: Option<PathBuf>,
}

#[derive(Default)]
struct ConfigErrors {
    usage_errors: Vec<String>,
    mode_errors: Vec<String>,
}

/// Reports all unknown keys, invalid values and unreadable secrets together, each with its file and line.
pub fn load(sources: &ConfigSources, mode: RunMode) -> Result<ConfigValues, CommandError> {
    let mut errors = ConfigErrors::default();
    let mut by_name = default_values(mode);
    for entry in list_entries(sources, &mut errors) {
        if let Some((key, value)) = resolve_entry(entry, mode, &mut errors) {
            by_name.insert(key.name, value);
        }
    }
    for key in KEYS {
        if key.default_for_mode(mode) == KeyDefault::Required && !by_name.contains_key(key.name) {
            errors.usage_errors.push(format!(
                "{} is not set; {mode} requires it (set {} or use locum.toml)",
                key.name,
                key.env_variable()
            ));
        }
    }
    errors.into_result()?;
    Ok(ConfigValues { mode, by_name })
}

/// Used before the configuration is validated, to find the mode of the data directory.
pub fn configured_data_dir(sources: &ConfigSources) -> Option<PathBuf> {
    let entries = list_entries(sources, &mut ConfigErrors::default());
    let last = entries.into_iter().rfind(|entry| entry.name == "core.data_dir");
    last.map(|entry| PathBuf::from(entry.value.text))
}

/// Used while the files of secrets are still missing.
pub fn names_database_server(sources: &ConfigSources) -> bool {
    let entries = list_entries(sources, &mut ConfigErrors::default());
    let last = entries.into_iter().rfind(|entry| matches!(&*entry.name, "db.url" | "db.url_file"));
    let url = last.map(|entry| if entry.name == "db.url" { Ok(entry.value) } else { read_secret_file(&entry) });
    url.is_some_and(|url| url.is_ok_and(|url| url.text.contains("://")))
}

/// Production if a public address is set, and what a development server makes for itself: a certificate or a key.
pub fn implied_mode(sources: &ConfigSources) -> Option<RunMode> {
    let entries = list_entries(sources, &mut ConfigErrors::default());
    let is_set = |prefix: &str| entries.iter().any(|entry| entry.name.starts_with(prefix));
    (is_set("core.base_url") && (is_set("tls.") || is_set("secrets.master_key"))).then_some(RunMode::Serve)
}

/// In ascending order of precedence.
fn list_entries(sources: &ConfigSources, errors: &mut ConfigErrors) -> Vec<LayerEntry> {
    let mut entries = file_layer(sources, errors);
    entries.extend(environment::read_variables(&sources.variables));
    entries.extend(flag_layer(sources, errors));
    entries
}

impl ConfigErrors {
    fn into_result(self) -> Result<(), CommandError> {
        if !self.usage_errors.is_empty() {
            Err(CommandError::Usage(self.usage_errors.join("\n       ")))
        } else if !self.mode_errors.is_empty() {
            Err(CommandError::WrongMode(self.mode_errors.join("\n       ")))
        } else {
            Ok(())
        }
    }
}

fn default_values(mode: RunMode) -> BTreeMap<&'static str, ConfigValue> {
    let set = KEYS.iter().filter_map(|key| match key.default_for_mode(mode) {
        KeyDefault::Unset | KeyDefault::Required | KeyDefault::Absent("") => None,
        KeyDefault::Literal(text) | KeyDefault::Absent(text) => {
            Some((key.name, ConfigValue { text: text.to_owned(), origin: ValueOrigin::Default(mode) }))
        }
    });
    set.collect()
}

fn flag_layer(sources: &ConfigSources, errors: &mut ConfigErrors) -> Vec<LayerEntry> {
    let entry = |name: &str, text: &str, flag: &str| LayerEntry {
        name: name.to_owned(),
        value: ConfigValue { text: text.to_owned(), origin: ValueOrigin::Flag(flag.to_owned()) },
    };
    let mut entries: Vec<_> = sources.flags.iter().map(|(name, text, flag)| entry(name, text, flag)).collect();
    for set in &sources.set_flags {
        match set.split_once('=') {
            Some((name, text)) => entries.push(entry(name.trim(), text, "--set")),
            None => errors.usage_errors.push(format!("--set {set}: expected key=value")),
        }
    }
    entries
}

fn file_layer(sources: &ConfigSources, errors: &mut ConfigErrors) -> Vec<LayerEntry> {
    let (path, named) = match (&sources.file, &sources.default_file) {
        (Some(path), _) => (path, true),
        (None, Some(path)) => (path, false),
        (None, None) => return Vec::new(),
    };
    let text = match std::fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if !named && error.kind() == std::io::ErrorKind::NotFound => return Vec::new(),
        Err(error) => {
            errors.usage_errors.push(format!("{}: {error}", path.display()));
            return Vec::new();
        }
    };
    config_file::parse_file(path, &text).unwrap_or_else(|mut lines| {
        errors.usage_errors.append(&mut lines);
        Vec::new()
    })
}

fn resolve_entry(
    entry: LayerEntry,
    mode: RunMode,
    errors: &mut ConfigErrors,
) -> Option<(&'static ConfigKey, ConfigValue)> {
    let found = if let Some(key) = KEYS.iter().find(|key| key.name == entry.name) {
        Ok((key, entry.value))
    } else if let Some(key) = find_key_of_file_variant(&entry.name) {
        read_secret_file(&entry).map(|value| (key, value))
    } else {
        Err(unknown_key_message(&entry))
    };
    match found {
        Ok((key, value)) if key.is_absent(mode) => {
            errors.mode_errors.push(format!("{}: {} is not available in {mode} mode", value.origin, key.name));
        }
        Ok((key, value)) if !key.accepts(&value.text) => errors.usage_errors.push(invalid_value_message(key, &value)),
        Ok(resolved) => return Some(resolved),
        Err(error) => errors.usage_errors.push(error),
    }
    None
}

fn invalid_value_message(key: &ConfigKey, value: &ConfigValue) -> String {
    let shown = if key.secrecy == KeySecrecy::Public { format!(" [{}]", value.text) } else { String::new() };
    format!("{}: {}{shown} is invalid; expected {}", value.origin, key.name, key.expected_values())
}

fn find_key_of_file_variant(name: &str) -> Option<&'static ConfigKey> {
    let name = name.strip_suffix("_file")?;
    KEYS.iter().find(|key| key.name == name && key.secrecy != KeySecrecy::Public)
}

fn read_secret_file(entry: &LayerEntry) -> Result<ConfigValue, String> {
    let ConfigValue { text: path, origin } = &entry.value;
    let text = std::fs::read_to_string(path).map_err(|error| format!("{origin}: {} [{path}]: {error}", entry.name))?;
    Ok(ConfigValue {
        text: text.trim_end_matches(['\r', '\n']).to_owned(),
        origin: ValueOrigin::SecretFile(PathBuf::from(path), Box::new(origin.clone())),
    })
}

/// In bytes; shorter names, such as `url`, mean something else in each area.
const MIN_DISTINCT_NAME: usize = 6;

fn unknown_key_message(entry: &LayerEntry) -> String {
    let LayerEntry { name, value: ConfigValue { origin, .. } } = entry;
    match closest_key(name) {
        Some(key) => {
            let meant = match origin {
                ValueOrigin::Variable(_) => key.env_variable(),
                _ => key.name.to_owned(),
            };
            format!("{origin}: unknown key {name}; did you mean {meant}?")
        }
        None => format!("{origin}: unknown key {name}; run `locum conf keys` for a list"),
    }
}

/// A name that differs by a typing error, lacks its area, or has another area.
fn closest_key(name: &str) -> Option<&'static ConfigKey> {
    let (area, written) = name.rsplit_once('.').map_or((None, name), |(area, last)| (Some(area), last));
    let max_edits = (written.len() / 3).clamp(1, 3);
    let edits = |key: &&'static ConfigKey| {
        let last = key.name.rsplit('.').next().unwrap_or(key.name);
        let whole = strsim::damerau_levenshtein(name, key.name);
        match area {
            None => whole.min(strsim::damerau_levenshtein(written, last)),
            Some(_) if last == written && written.len() >= MIN_DISTINCT_NAME => max_edits,
            Some(_) => whole,
        }
    };
    let best = KEYS.iter().min_by_key(edits)?;
    (edits(&best) <= max_edits).then_some(best)
}

#[cfg(test)]
mod tests {
    use super::{ConfigSources, implied_mode, load};
    use crate::command_error::CommandError;
    use crate::config::{ConfigValues, RunMode};

    fn temp_file_sources(file: &str) -> (tempfile::TempDir, ConfigSources) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("locum.toml");
        std::fs::write(&path, file).unwrap();
        let sources = ConfigSources { file: Some(path), ..ConfigSources::default() };
        (folder, sources)
    }

    fn load_error(file: &str, mode: RunMode) -> String {
        let (folder, sources) = temp_file_sources(file);
        let exit = load(&sources, mode).unwrap_err();
        let text = exit.message().replace(&folder.path().display().to_string(), "");
        format!("{} {text}", exit.exit_code())
    }

    fn value_origin(values: &ConfigValues, name: &str) -> String {
        values.get(name).unwrap().origin.to_string()
    }

    #[test]
    fn a_flag_beats_the_environment_beats_the_file_beats_the_default() {
        let (folder, mut sources) = temp_file_sources("[listen]\naddr = '127.0.0.1:1'\nidle_timeout = '5s'\n");
        let values = load(&sources, RunMode::Dev).unwrap();
        assert_eq!(values.get_text("listen.addr"), Some("127.0.0.1:1"));
        assert_eq!(value_origin(&values, "listen.addr"), format!("{}/locum.toml:2", folder.path().display()));
        assert_eq!(values.get_text("listen.idle_timeout"), Some("5s"));
        assert_eq!(value_origin(&values, "listen.body_timeout"), "default of dev");

        sources.variables = vec![("LOCUM_LISTEN__ADDR".to_owned(), "127.0.0.1:2".to_owned())];
        let values = load(&sources, RunMode::Dev).unwrap();
        assert_eq!(value_origin(&values, "listen.addr"), "env LOCUM_LISTEN__ADDR");

        sources.flags = vec![("listen.addr", "127.0.0.1:3".to_owned(), "--listen".to_owned())];
        let values = load(&sources, RunMode::Dev).unwrap();
        assert_eq!(values.get_text("listen.addr"), Some("127.0.0.1:3"));
        assert_eq!(value_origin(&values, "listen.addr"), "flag --listen");
    }

    #[test]
    fn what_is_wrong_names_its_file_and_line_and_a_better_word() {
        assert_eq!(
            load_error("[listen]\n\nadr = '127.0.0.1:1'\n", RunMode::Dev),
            "2 /locum.toml:3: unknown key listen.adr; did you mean listen.addr?"
        );
        assert_eq!(
            load_error("data_dir = '/x'\n", RunMode::Dev),
            "2 /locum.toml:1: unknown key data_dir; did you mean core.data_dir?"
        );
        for (file, hint) in [
            ("[lisen]\naddr = '1'\n", "did you mean listen.addr?"),
            ("[server]\nshutdown_grace = '1'\n", "did you mean listen.shutdown_grace?"),
            ("[limits]\nrate_limit = '1'\n", "did you mean limits.rate_limits?"),
            ("[database]\nurl = '1'\n", "run `locum conf keys` for a list"),
            ("[db]\nhost = '1'\n", "run `locum conf keys` for a list"),
            ("[limits]\nfoo = '1'\n", "run `locum conf keys` for a list"),
            ("[journal]\nmax = '1'\n", "run `locum conf keys` for a list"),
        ] {
            let error = load_error(file, RunMode::Dev);
            assert!(error.ends_with(hint), "{error}");
        }
        assert_eq!(
            load_error("[core]\nnode = 'first'\n", RunMode::Dev),
            "2 /locum.toml:2: core.node [first] is invalid; expected 0–1022"
        );
        assert!(load_error("[limits\n", RunMode::Dev).starts_with("2 /locum.toml:1: "));
        assert!(
            load_error("[db]\nurl_file = '/nowhere'\n", RunMode::Dev)
                .starts_with("2 /locum.toml:2: db.url_file [/nowhere]: ")
        );
    }

    #[test]
    fn a_key_of_the_other_mode_is_refused_by_mode() {
        let base = "[core]\nbase_url = 'https://s.example'\n";
        for key in ["world = 'demo'", "seed = 7", "expose = true"] {
            let told = load_error(&format!("{base}{key}\n"), RunMode::Serve);
            assert!(told.starts_with("4 /locum.toml:3: core."), "{told}");
            assert!(told.ends_with("is not available in serve mode"), "{told}");
        }
        let (_folder, sources) = temp_file_sources("");
        let exit = load(&sources, RunMode::Serve).unwrap_err();
        assert!(matches!(exit, CommandError::Usage(text) if text.starts_with("core.base_url is not set")));
    }

    #[test]
    fn settings_of_production_imply_its_mode() {
        let base = "[core]\nbase_url = 'https://social.example'\n";
        let cases = [
            ("[tls]\ncert = 'c.pem'\n", Some(RunMode::Serve)),
            ("[secrets]\nmaster_key_file = 'key'\n", Some(RunMode::Serve)),
            ("", None),
        ];
        for (text, mode) in cases {
            let (_folder, sources) = temp_file_sources(&format!("{base}{text}"));
            assert_eq!(implied_mode(&sources), mode, "{text}");
        }
    }

    #[test]
    fn a_secret_may_lie_in_a_file_and_is_not_told() {
        let folder = tempfile::tempdir().unwrap();
        let secret = folder.path().join("url");
        std::fs::write(&secret, "postgres://ada:hush@db/locum\n").unwrap();
        let variables = vec![("LOCUM_DB__URL_FILE".to_owned(), secret.display().to_string())];
        let mut sources = ConfigSources { variables, ..ConfigSources::default() };
        let values = load(&sources, RunMode::Dev).unwrap();
        assert_eq!(values.get_text("db.url"), Some("postgres://ada:hush@db/locum"));

        sources.flags = vec![("db.url", "mysql://hush".to_owned(), "--db".to_owned())];
        let exit = load(&sources, RunMode::Dev).unwrap_err();
        assert!(!exit.message().contains("hush"), "{}", exit.message());
    }

    #[test]
    fn what_clients_read_is_not_configuration() {
        let variables =
            ["LOCUM_BASE_URL", "LOCUM_USER_ID_2", "LOCUM_WORLD", "LOCUM_WORLD_URL", "LOCUM_CONFIG", "LOCUM_X", "PATH"];
        let sources = ConfigSources {
            variables: variables.map(|name| (name.to_owned(), "x".to_owned())).to_vec(),
            ..ConfigSources::default()
        };
        assert!(load(&sources, RunMode::Dev).is_ok());

        let sources = ConfigSources {
            variables: vec![("LOCUM_DATA_DIR".to_owned(), "x".to_owned())],
            ..ConfigSources::default()
        };
        let told = load(&sources, RunMode::Dev).unwrap_err();
        assert!(told.message().ends_with("did you mean LOCUM_CORE__DATA_DIR?"), "{told:?}");

        let variables = vec![("LOCUM_LIMITS_RATE_LIMITS".to_owned(), "off".to_owned())];
        let sources = ConfigSources { variables, ..ConfigSources::default() };
        let told = load(&sources, RunMode::Dev).unwrap_err();
        assert!(told.message().ends_with("did you mean LOCUM_LIMITS__RATE_LIMITS?"), "{told:?}");
    }
}
