//! The variables with which programs reach this world, as `dev.env` has them.

use base::Error;
use emulator::ENVIRONMENT_FACT_KEY;
use emulator::journal::{CurlVariables, JournalEntry};
use web::request_context::{RequestContext, SANDBOX_HOST, SANDBOX_PREFIX};

/// Characters of a secret that are shown.
const SHOWN_CHARACTERS: usize = 6;

pub(crate) struct WorldEnvironment {
    base_url: String,
    /// Names start with `LOCUM_`.
    credentials: Vec<(String, String)>,
}

impl WorldEnvironment {
    pub(crate) async fn load(call: &RequestContext) -> Result<Self, Error> {
        let text = call.read(|tx| Ok(store::meta::get_encrypted(tx, ENVIRONMENT_FACT_KEY)?)).await?;
        let text = String::from_utf8(text.unwrap_or_default()).unwrap_or_default();
        let pairs = text.lines().filter_map(|line| line.split_once('='));
        let credentials = pairs.filter(|(name, _)| name.starts_with("LOCUM_"));
        Ok(Self {
            base_url: call.site().url.to_owned(),
            credentials: credentials.map(|(name, value)| (name.to_owned(), value.to_owned())).collect(),
        })
    }

    /// The base URLs of both APIs and of the Ads API sandbox.
    pub(crate) fn addresses(&self) -> Vec<(String, String)> {
        let of = |name: &str, suffix: &str| (name.to_owned(), format!("{}{suffix}", self.base_url));
        vec![of("LOCUM_BASE_URL", ""), of("LOCUM_ADS_URL", ""), of("LOCUM_ADS_SANDBOX_URL", SANDBOX_PREFIX)]
    }

    pub(crate) fn credentials(&self, is_revealed: bool) -> Vec<(String, String)> {
        let shown = |value: &str, name: &str| {
            if is_revealed || !is_secret(name) { value.to_owned() } else { mask(value) }
        };
        self.credentials.iter().map(|(name, value)| (name.clone(), shown(value, name))).collect()
    }

    /// Without the prefix of the name.
    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        let mut all = self.credentials.iter();
        all.find(|(known, _)| known.strip_prefix("LOCUM_") == Some(name)).map(|(_, value)| value.as_str())
    }

    /// Those with tokens of the user and the app of a request.
    pub(crate) async fn curl_variables(call: &RequestContext, entry: &JournalEntry) -> Result<CurlVariables, Error> {
        let environment = Self::load(call).await?;
        let app = match entry.app {
            Some(id) => call.read(move |tx| Ok(store::apps::find_by_id(tx, id)?)).await?,
            None => None,
        };
        let user = entry.user.map(|user| user.to_string());
        Ok(CurlVariables {
            base_url: environment.emulated_base_url(call, entry),
            user_token: user.and_then(|user| environment.find_sibling("USER_ID", &user, "USER_TOKEN")),
            bearer_token: app.and_then(|app| environment.find_sibling("API_KEY", &app.api_key, "BEARER_TOKEN")),
        })
    }

    /// None if the request named no emulated host. Short links are not served at the server's own address.
    fn emulated_base_url(&self, call: &RequestContext, entry: &JournalEntry) -> Option<String> {
        let config = &call.state.page_context.config;
        let host = entry.host();
        if !config.emulated_hosts.iter().any(|emulated| emulated == host)
            || config.short_link_host.as_deref() == Some(host)
        {
            return None;
        }
        let is_sandbox = host.starts_with(SANDBOX_HOST) && !entry.path().starts_with(SANDBOX_PREFIX);
        Some(format!("{}{}", self.base_url, if is_sandbox { SANDBOX_PREFIX } else { "" }))
    }

    /// The full name of the variable `wanted` with the suffix that `name` has where its value is this one.
    fn find_sibling(&self, name: &str, value: &str, wanted: &str) -> Option<String> {
        let suffixes = self.credentials.iter().filter(|(_, known)| known == value);
        let mut suffixes = suffixes.filter_map(|(known, _)| known.strip_prefix("LOCUM_")?.strip_prefix(name));
        let found = suffixes.find(|suffix| self.get(&format!("{wanted}{suffix}")).is_some());
        found.map(|suffix| format!("LOCUM_{wanted}{suffix}"))
    }

    /// The name of the variable with a value.
    pub(crate) fn find_name(&self, value: &str) -> Option<&str> {
        self.credentials.iter().find(|(_, known)| known == value).map(|(name, _)| name.as_str())
    }
}

fn is_secret(name: &str) -> bool {
    ["SECRET", "TOKEN", "API_KEY"].iter().any(|word| name.contains(word))
}

/// The start of a secret.
pub(crate) fn mask(value: &str) -> String {
    let start: String = value.chars().take(SHOWN_CHARACTERS).collect();
    format!("{start}…")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_masked_until_they_are_revealed() {
        let pairs = [("LOCUM_API_SECRET", "0123456789"), ("LOCUM_USERNAME", "ada-lovelace")];
        let credentials = pairs.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec();
        let environment = WorldEnvironment { base_url: "http://127.0.0.1:1".to_owned(), credentials };
        let values = |is_revealed| environment.credentials(is_revealed).into_iter().map(|(_, value)| value);
        assert_eq!(values(false).collect::<Vec<_>>(), ["012345…", "ada-lovelace"]);
        assert_eq!(values(true).collect::<Vec<_>>(), ["0123456789", "ada-lovelace"]);
        assert_eq!(environment.get("API_SECRET"), Some("0123456789"));
        assert_eq!(environment.find_name("0123456789"), Some("LOCUM_API_SECRET"));
        assert_eq!(environment.addresses()[2].1, "http://127.0.0.1:1/ads-sandbox");
    }
}
