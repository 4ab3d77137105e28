//! `locum init`.

use base::Rng;

use instance::arguments::InitArgs;
use instance::command_error::CommandError;
use instance::config::{ConfigType, DatabaseUrl, Origin, from_text};
use instance::output::{print_diagnostic, print_line};

/// Creates the master key file if its path is given.
pub(crate) fn print_initial_config(args: &InitArgs, db: Option<&str>) -> Result<(), CommandError> {
    let wrong = |flag: &str, expected: String| CommandError::Usage(format!("{flag} is invalid; expected {expected}"));
    from_text::<Origin>(&args.base_url)
        .map_err(|_| wrong(&format!("--base-url [{}]", args.base_url), Origin::type_name()))?;
    let db = db.unwrap_or("sqlite");
    from_text::<DatabaseUrl>(db).map_err(|_| wrong("--db", DatabaseUrl::type_name()))?;
    let key = args.master_key.clone().unwrap_or_else(|| "/etc/locum/master.key".into());
    let key = std::path::absolute(&key).map_err(|error| CommandError::Usage(format!("{}: {error}", key.display())))?;
    if args.master_key.is_some() && !key.exists() {
        instance::create_key_file(&key, &Rng::Os)?;
        let key = key.display();
        print_diagnostic(&format!("created {key} (mode 0600); keep a copy separate from the backups"));
    }
    print_line(&config_text(&args.base_url, db, &key.display().to_string()));
    Ok(())
}

fn config_text(base_url: &str, db: &str, key: &str) -> String {
    let quote = |text: &str| serde_json::Value::from(text).to_string();
    format!(
        "# Configuration of a production server. See `locum conf keys`; validate with `locum conf check`.\n\
         \n\
         [core]\n\
         base_url = {}\n\
         data_dir = \"/var/lib/locum\"\n\
         \n\
         [listen]\n\
         addr = \"127.0.0.1:8080\"\n\
         # The proxy that terminates TLS; its X-Forwarded-* headers are trusted.\n\
         trusted_proxies = [\"127.0.0.1\"]\n\
         \n\
         [db]\n\
         url = {}\n\
         \n\
         [secrets]\n\
         # Decrypts the secrets in the database. Keep it outside the data directory and the backups.\n\
         master_key_file = {}\n\
         \n\
         [auth]\n\
         # Who may create an account: open, approval, invite (see `locum invite`) or closed.\n\
         registration = \"closed\"\n\
         \n\
         # Without a mail server, users cannot confirm an address or reset their password.\n\
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
    use instance::config::{ConfigSources, RunMode, ServerSettings, load};

    #[test]
    fn what_it_prints_is_a_configuration() {
        let folder = tempfile::tempdir().unwrap();
        let key = folder.path().join("master.key");
        instance::create_key_file(&key, &base::Rng::Os).unwrap();
        let file = folder.path().join("locum.toml");
        let text = config_text("https://social.example", "postgres://a:b@c/d", &key.display().to_string());
        std::fs::write(&file, text).unwrap();
        let sources = ConfigSources { file: Some(file), ..ConfigSources::default() };
        let settings = ServerSettings::from_values(&load(&sources, RunMode::Serve).unwrap()).unwrap();
        assert_eq!(settings.core.base_url.map(|url| url.0).as_deref(), Some("https://social.example"));
        assert_eq!(settings.master_key_file, Some(key));
    }
}
