//! `locum init`.

use base::Rng;

use crate::cli::{InitArgs, print_line};
use crate::command_error::CommandError;
use crate::config::{ConfigValueKind, validate_value};
use crate::instance;

/// Prints a configuration of a real network, and makes its master key if that has a place.
pub(crate) fn print_initial_config(args: &InitArgs, db: Option<&str>) -> Result<(), CommandError> {
    validate_value(ConfigValueKind::Origin, &args.base_url)
        .map_err(|takes| CommandError::Usage(format!("--base-url [{}] is not {takes}", args.base_url)))?;
    let db = db.unwrap_or("sqlite");
    validate_value(ConfigValueKind::Database, db)
        .map_err(|takes| CommandError::Usage(format!("--db is not {takes}")))?;
    let key = args
        .master_key
        .clone()
        .unwrap_or_else(|| "/etc/locum/master.key".into());
    let key = std::path::absolute(&key).map_err(|error| CommandError::Usage(format!("{}: {error}", key.display())))?;
    if args.master_key.is_some() && !key.exists() {
        instance::create_key_file(&key, &Rng::Os)?;
        eprintln!("made {} (mode 0600); keep a copy apart from the backups", key.display());
    }
    print_line(&config_text(&args.base_url, db, &key.display().to_string()));
    Ok(())
}

fn config_text(base_url: &str, db: &str, key: &str) -> String {
    let quote = |text: &str| serde_json::Value::from(text).to_string();
    format!(
        "# Locum, a real network. `locum conf keys` lists every key; `locum conf check` reads this.\n\
         \n\
         [core]\n\
         base_url = {}\n\
         data_dir = \"/var/lib/locum\"\n\
         \n\
         [listen]\n\
         addr = \"127.0.0.1:8080\"\n\
         # The proxy that ends TLS, so that its X-Forwarded-* headers are believed.\n\
         trusted_proxies = [\"127.0.0.1\"]\n\
         \n\
         [db]\n\
         url = {}\n\
         \n\
         [secrets]\n\
         # Opens everything that is encrypted in the database: outside the data folder, in no backup.\n\
         master_key_file = {}\n\
         \n\
         [auth]\n\
         # Who may create an account: open, invite (`locum invite` makes the links) or closed.\n\
         registration = \"closed\"\n\
         \n\
         # Without a mail server nobody can confirm an address or get back in.\n\
         # [mail]\n\
         # smtp_url_file = \"/etc/locum/smtp_url\"   # smtps://name:password@mail.example\n\
         # from = \"Locum <no-reply@social.example>\"\n",
        quote(base_url),
        quote(db),
        quote(key),
    )
}

#[cfg(test)]
mod tests {
    use super::config_text;
    use crate::config::{ConfigSources, RunMode, ServerSettings, load};

    #[test]
    fn what_it_prints_is_a_configuration() {
        let folder = tempfile::tempdir().unwrap();
        let key = folder.path().join("master.key");
        crate::instance::create_key_file(&key, &base::Rng::Os).unwrap();
        let file = folder.path().join("locum.toml");
        let text = config_text(
            "https://social.example",
            "postgres://a:b@c/d",
            &key.display().to_string(),
        );
        std::fs::write(&file, text).unwrap();
        let sources = ConfigSources {
            file: Some(file),
            ..ConfigSources::default()
        };
        let settings = ServerSettings::from_values(&load(&sources, RunMode::Serve).unwrap()).unwrap();
        assert_eq!(settings.base_url.as_deref(), Some("https://social.example"));
        assert_eq!(settings.keys.file, Some(key));
    }
}
