//! The typed configuration.

mod typed_values;

use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::time::Duration;

use base::{Secret, Vocabulary};
use network::registration::RegistrationPolicy;
use store::DatabaseLocation;

use self::typed_values::TypedValues;
use super::key::RunMode;
use super::parse::{self, RateLimitPolicy};
use super::values::ConfigValues;
use crate::command_error::CommandError;

#[derive(Clone, Debug)]
pub(crate) struct ServerSettings {
    pub(crate) mode: RunMode,
    pub(crate) data_dir: PathBuf,
    pub(crate) base_url: Option<String>,
    pub(crate) public_origins: Vec<String>,
    pub(crate) site_name: String,
    pub(crate) vocabulary: Vocabulary,
    pub(crate) node: u16,
    pub(crate) initial_world: String,
    pub(crate) seed: u64,
    pub(crate) addr: SocketAddr,
    pub(crate) control_addr: Option<SocketAddr>,
    pub(crate) ads_sandbox_port: Option<u16>,
    /// Whether to fall back to a free port if the control port is taken.
    pub(crate) control_port_may_change: bool,
    pub(crate) trusted_proxies: Vec<IpAddr>,
    pub(crate) problem_base: String,
    pub(crate) cors_origins: Vec<String>,
    pub(crate) connection_limits: edge::ListenerLimits,
    pub(crate) database_location: DatabaseLocation,
    pub(crate) database_connections: usize,
    pub(crate) migrate_on_start: bool,
    pub(crate) log_retention: Duration,
    pub(crate) keys: MasterKeySettings,
    pub(crate) registration: RegistrationPolicy,
    pub(crate) session_ttl: Duration,
    pub(crate) warn_on_plain_pkce: bool,
    pub(crate) mail: Option<MailSettings>,
    pub(crate) audit_retention: Duration,
    pub(crate) timestamp_skew: Duration,
    pub(crate) access_ttl: Duration,
    pub(crate) rate_limits: RateLimitPolicy,
    pub(crate) body_max: usize,
    pub(crate) stream_buffer: usize,
    pub(crate) stream_keep_alive: Duration,
    pub(crate) media_folder: Option<PathBuf>,
    pub(crate) media_bucket: Option<media::Bucket>,
    pub(crate) webhooks: deliver::webhooks::WebhookSettings,
    pub(crate) webhook_retention: Duration,
    pub(crate) audiences: ads_delivery::audience_matching::MatchingConfig,
    pub(crate) ads: ads_engine::AdsConfig,
    pub(crate) min_audience: i64,
    pub(crate) log_json: bool,
    pub(crate) log_level: String,
    pub(crate) dangers: Vec<&'static str>,
}

#[derive(Clone, Debug)]
pub(crate) struct MailSettings {
    pub(crate) url: Secret,
    pub(crate) from: String,
}

#[derive(Clone, Debug)]
pub(crate) struct MasterKeySettings {
    pub(crate) key_line: Option<Secret>,
    pub(crate) file: Option<PathBuf>,
    pub(crate) old_key_files: Vec<PathBuf>,
    pub(crate) allow_in_data_dir: bool,
}

/// An unspecified address becomes loopback.
pub(crate) fn local_url(bound: SocketAddr) -> String {
    if bound.ip().is_unspecified() { format!("http://127.0.0.1:{}", bound.port()) } else { format!("http://{bound}") }
}

impl ServerSettings {
    /// Includes the checks that involve more than one key.
    #[expect(clippy::too_many_lines, reason = "one line for each setting")]
    pub(crate) fn from_values(values: &ConfigValues) -> Result<Self, CommandError> {
        let reader = TypedValues(values);
        let data_dir = reader.path("core.data_dir");
        let settings = Self {
            mode: values.mode,
            base_url: reader.text("core.base_url").map(str::to_owned),
            public_origins: reader.list("core.public_origins"),
            site_name: reader.text("core.site_name").unwrap_or("Locum").to_owned(),
            vocabulary: match reader.text("core.vocabulary") {
                Some("tweets") => Vocabulary::Tweet,
                _ => Vocabulary::Post,
            },
            node: reader.parse_value("core.node")?,
            initial_world: reader.text("core.world").unwrap_or("empty").to_owned(),
            seed: reader.parse_value("core.seed").unwrap_or_default(),
            addr: reader.parse_value("listen.addr")?,
            control_addr: reader.text("listen.control_addr").and_then(|text| text.parse().ok()),
            ads_sandbox_port: reader.text("listen.ads_sandbox_port").and_then(|text| text.parse().ok()),
            control_port_may_change: !values.is_set("listen.control_addr"),
            trusted_proxies: reader
                .list("listen.trusted_proxies")
                .iter()
                .filter_map(|host| host.parse().ok())
                .collect(),
            problem_base: reader.text("core.problem_base").unwrap_or_default().to_owned(),
            cors_origins: reader.list("core.cors_origins"),
            connection_limits: reader.connection_limits()?,
            database_location: database_location(reader.text("db.url").unwrap_or_default(), &data_dir),
            database_connections: reader.parse_value("db.connections")?,
            migrate_on_start: reader.boolean("db.migrate_on_start"),
            log_retention: reader.duration("db.log_retention"),
            keys: reader.master_key_settings(),
            registration: reader.registration_policy(),
            session_ttl: reader.duration("auth.session_ttl"),
            warn_on_plain_pkce: reader.text("auth.pkce_plain") == Some("warn"),
            mail: reader.mail_settings()?,
            audit_retention: reader.duration("observe.audit_retention"),
            timestamp_skew: reader.duration("auth.oauth1_timestamp_skew"),
            access_ttl: reader.duration("auth.oauth2_access_ttl"),
            rate_limits: reader.rate_limit_policy(),
            body_max: reader.text("limits.body_max").and_then(parse::parse_byte_size).unwrap_or(1024 * 1024),
            stream_buffer: reader.text("limits.stream_buffer").and_then(parse::parse_byte_size).unwrap_or(256 * 1024),
            stream_keep_alive: reader.duration("limits.stream_keep_alive"),
            media_folder: reader.text("media.dir").map(PathBuf::from),
            media_bucket: reader.media_bucket()?,
            webhooks: super::webhooks::webhook_settings(values, reader.parse_value("core.node")?)?,
            webhook_retention: reader.duration("webhooks.retention"),
            min_audience: reader.parse_value("ads.min_audience")?,
            audiences: ads_delivery::audience_matching::MatchingConfig {
                delay_ms: i64::try_from(reader.duration("ads.audience_delay").as_millis()).unwrap_or(i64::MAX),
            },
            ads: reader.ads_config()?,
            log_json: reader.text("observe.log_format") == Some("json"),
            log_level: reader.text("observe.log_level").unwrap_or("info").to_owned(),
            dangers: reader.enabled_dangers(),
            data_dir,
        };
        settings.validate(&reader)?;
        Ok(settings)
    }

    pub(crate) fn public_url(&self, bound: SocketAddr) -> String {
        match &self.base_url {
            Some(url) => url.trim_end_matches('/').to_owned(),
            None => local_url(bound),
        }
    }

    pub(crate) fn media_dir(&self) -> PathBuf {
        let folder = self.media_folder.clone();
        folder.unwrap_or_else(|| self.data_dir.join("media"))
    }

    pub(crate) fn open_media_files(&self) -> Result<media::FileStore, CommandError> {
        let folder = self.media_dir();
        let files = media::FileStore::local(&folder)
            .map_err(|error| CommandError::Failed(format!("{}: {error}", folder.display())))?;
        match &self.media_bucket {
            None => Ok(files),
            Some(bucket) => {
                files.with_bucket(bucket).map_err(|error| CommandError::Failed(format!("{bucket}: {error}")))
            }
        }
    }

    /// With port 0, the control port becomes a free port as well.
    pub(crate) fn set_port(&mut self, port: Option<u16>) {
        let Some(port) = port else { return };
        self.addr.set_port(port);
        if port == 0
            && self.control_port_may_change
            && let Some(control) = &mut self.control_addr
        {
            control.set_port(0);
        }
    }

    fn validate(&self, reader: &TypedValues<'_>) -> Result<(), CommandError> {
        let control_open = self.control_addr.is_some_and(|addr| !addr.ip().is_loopback());
        if control_open {
            let text = "listen.control_addr must be a loopback address (127.0.0.1 or ::1)";
            return Err(CommandError::Usage(text.to_owned()));
        }
        match self.mode {
            RunMode::Dev if !self.addr.ip().is_loopback() && !reader.boolean("core.expose") => {
                Err(CommandError::WrongMode(format!(
                    "the development server uses well-known credentials and listens on loopback only; \
                     listening on {} requires --expose",
                    self.addr
                )))
            }
            RunMode::Dev => Ok(()),
            RunMode::Serve => self.validate_serve_mode(reader),
        }
    }

    fn validate_serve_mode(&self, reader: &TypedValues<'_>) -> Result<(), CommandError> {
        let plain = self.base_url.as_ref().is_some_and(|url| url.starts_with("http://"));
        let behind_proxy = !self.trusted_proxies.is_empty();
        if plain && !behind_proxy && !reader.boolean("core.danger_plain_http") {
            return Err(CommandError::WrongMode(
                "core.base_url uses plain http: production requires https, a trusted proxy \
                 (listen.trusted_proxies), or core.danger_plain_http"
                    .to_owned(),
            ));
        }
        let bare = self.media_bucket.as_ref().is_some_and(media::Bucket::uses_plain_http);
        if bare && !reader.boolean("media.danger_plain_s3") {
            return Err(CommandError::WrongMode(
                "media.s3_endpoint uses plain http: production requires https, or \
                 media.danger_plain_s3"
                    .to_owned(),
            ));
        }
        let moved = self.rate_limits != RateLimitPolicy::Table;
        if moved && !reader.boolean("limits.danger_rate_limits") {
            return Err(CommandError::WrongMode(
                "limits.rate_limits: production uses the published limits unless \
                 limits.danger_rate_limits is set"
                    .to_owned(),
            ));
        }
        Ok(())
    }
}

fn database_location(text: &str, data_dir: &std::path::Path) -> DatabaseLocation {
    if text.starts_with("postgres") && text.contains("://") {
        DatabaseLocation::Server(text.to_owned())
    } else if text == "sqlite" || text.is_empty() {
        DatabaseLocation::File(data_dir.join("locum.db"))
    } else {
        DatabaseLocation::File(PathBuf::from(text))
    }
}

#[cfg(test)]
mod tests;
