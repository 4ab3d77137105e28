//! `dev.env`: the address and credentials of a development server, one `LOCUM_NAME=value` per line.

use std::path::{Path, PathBuf};

use base::Fault;
use identity::apps::AppCredentials;

use super::demo_world::{DemoUserKeys, PASSWORD};
use instance::command_error::CommandError;
use instance::write_private;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct EnvFile(pub(crate) Vec<(String, String)>);

const PREFIX: &str = "LOCUM_";

impl EnvFile {
    pub(crate) fn file_path(folder: &Path) -> PathBuf {
        folder.join("dev.env")
    }

    pub(super) fn add_api_keys(&mut self, app: &AppCredentials, suffix: &str) {
        self.add_line(&format!("API_KEY{suffix}"), &app.api_key);
        self.add_line(&format!("API_SECRET{suffix}"), app.api_secret.expose_secret());
        self.add_line(&format!("BEARER_TOKEN{suffix}"), app.bearer.expose_secret());
    }

    /// A public client has no secret.
    pub(super) fn add_oauth_client(&mut self, app: &AppCredentials, suffix: &str) {
        self.add_line(&format!("CLIENT_ID{suffix}"), &app.client_id);
        if let Some(secret) = &app.client_secret {
            self.add_line(&format!("CLIENT_SECRET{suffix}"), secret.expose_secret());
        }
    }

    pub(super) fn add_user(&mut self, user: &DemoUserKeys, suffix: &str) {
        let mut add = |name: &str, value: &str| self.add_line(&format!("{name}{suffix}"), value);
        add("USER_ID", &user.id.to_string());
        add("USERNAME", &user.username);
        add("PASSWORD", PASSWORD);
        add("ACCESS_TOKEN", user.access_token.expose_secret());
        add("ACCESS_TOKEN_SECRET", user.access_token_secret.expose_secret());
        add("USER_TOKEN", user.user_token.expose_secret());
    }

    pub(super) fn add_line(&mut self, name: &str, value: &str) {
        self.0.push((name.to_owned(), value.to_owned()));
    }

    /// Names the world, and where no other world answers.
    pub(crate) fn append_world(mut self, name: &str, url: &str) -> Self {
        self.add_line("WORLD", name);
        self.add_line("WORLD_URL", url);
        self
    }

    pub(super) fn get(&self, name: &str) -> Option<&str> {
        let found = self.0.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| value.as_str())
    }

    pub(crate) fn prepend_addresses(&self, base_url: &str, ads_sandbox: Option<&str>) -> Self {
        let mut lines = Self::default();
        lines.add_line("BASE_URL", base_url);
        lines.add_line("ADS_URL", base_url);
        let sandbox = ads_sandbox.map_or_else(|| sandbox_url(base_url), str::to_owned);
        lines.add_line("ADS_SANDBOX_URL", &sandbox);
        let addresses = ["BASE_URL", "ADS_URL", "ADS_SANDBOX_URL"];
        let rest = self.0.iter().filter(|(name, _)| !addresses.contains(&name.as_str()));
        lines.0.extend(rest.cloned());
        lines
    }

    pub(crate) fn to_text(&self) -> String {
        let lines = self.0.iter().map(|(name, value)| format!("{PREFIX}{name}={value}\n"));
        lines.collect()
    }

    /// Ignores lines that are not `LOCUM_NAME=value`.
    pub(crate) fn parse(text: &str) -> Self {
        let lines = text.lines().filter_map(|line| {
            let (name, value) = line.strip_prefix(PREFIX)?.split_once('=')?;
            Some((name.to_owned(), value.to_owned()))
        });
        Self(lines.collect())
    }

    pub(crate) fn load(folder: &Path) -> Result<Self, CommandError> {
        let path = Self::file_path(folder);
        let text = std::fs::read_to_string(&path).map_err(|error| {
            CommandError::Failed(format!("{}: {error}; start `locum dev` to create it", path.display()))
        })?;
        Ok(Self::parse(&text))
    }

    /// With the prefix of their names.
    pub(crate) fn variables(&self) -> Vec<(String, String)> {
        self.0.iter().map(|(name, value)| (format!("{PREFIX}{name}"), value.clone())).collect()
    }

    pub(crate) fn write(&self, folder: &Path) -> Result<(), Fault> {
        write_private(&Self::file_path(folder), &self.to_text())
    }
}

/// Without a port of its own, the Ads API sandbox is selected by a `localhost` subdomain, which resolves to this
/// machine.
fn sandbox_url(base_url: &str) -> String {
    let (scheme, authority) = base_url.split_once("://").unwrap_or(("http", base_url));
    match authority.rsplit_once(':') {
        Some((_, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => {
            format!("{scheme}://ads-api-sandbox.localhost:{port}")
        }
        _ => format!("{scheme}://ads-api-sandbox.localhost"),
    }
}

#[cfg(test)]
mod tests {
    use super::EnvFile;

    #[test]
    fn a_file_is_read_back_and_moves_to_another_port() {
        let text = "LOCUM_BASE_URL=http://127.0.0.1:1\nLOCUM_API_KEY=a=b\n# note\nOTHER=1\n";
        let lines = EnvFile::parse(text).prepend_addresses("http://127.0.0.1:8080", None);
        assert_eq!(
            lines.to_text(),
            "LOCUM_BASE_URL=http://127.0.0.1:8080\n\
             LOCUM_ADS_URL=http://127.0.0.1:8080\n\
             LOCUM_ADS_SANDBOX_URL=http://ads-api-sandbox.localhost:8080\n\
             LOCUM_API_KEY=a=b\n"
        );
        assert_eq!(lines.get("API_KEY"), Some("a=b"));
        assert_eq!(lines.prepend_addresses("http://127.0.0.1:8080", None), lines);
        let own = lines.prepend_addresses("http://127.0.0.1:8080", Some("http://127.0.0.1:8078"));
        assert_eq!(own.get("ADS_SANDBOX_URL"), Some("http://127.0.0.1:8078"));
    }
}
