//! The configuration as the program uses it.

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

/// Every value with its type.
#[derive(Clone, Debug)]
pub(crate) struct ServerSettings {
    /// The mode that the defaults were taken from.
    pub(crate) mode: RunMode,
    /// The data folder.
    pub(crate) data_dir: PathBuf,
    /// The address that clients use, when it is set.
    pub(crate) base_url: Option<String>,
    /// Further addresses that requests may be signed for.
    pub(crate) public_origins: Vec<String>,
    /// What the platform is called.
    pub(crate) site_name: String,
    /// The vocabulary where nothing else decides.
    pub(crate) vocabulary: Vocabulary,
    /// This node's number.
    pub(crate) node: u16,
    /// What a new test platform begins with.
    pub(crate) initial_world: String,
    /// Where its ids and keys come from.
    pub(crate) seed: u64,
    /// Where clients come to.
    pub(crate) addr: SocketAddr,
    /// Where administration comes to, beside the socket.
    pub(crate) control_addr: Option<SocketAddr>,
    /// The second port, where the sandbox of the advertising interface is, if there is one.
    pub(crate) ads_sandbox_port: Option<u16>,
    /// Whether another control port may be taken when that one is not free.
    pub(crate) control_port_may_change: bool,
    /// Whose forwarding headers are believed.
    pub(crate) trusted_proxies: Vec<IpAddr>,
    /// Under which address problem types stand.
    pub(crate) problem_base: String,
    /// Origins whose pages may call.
    pub(crate) cors_origins: Vec<String>,
    /// What one client may take.
    pub(crate) connection_limits: edge::ListenerLimits,
    /// Where the database is.
    pub(crate) database_location: DatabaseLocation,
    /// Readers or connections.
    pub(crate) database_connections: usize,
    /// Whether missing migrations are applied at start.
    pub(crate) migrate_on_start: bool,
    /// How long the log of events is kept.
    pub(crate) log_retention: Duration,
    /// The keys that secrets are encrypted with.
    pub(crate) keys: MasterKeySettings,
    /// Who may create an account.
    pub(crate) registration: RegistrationPolicy,
    /// How long a browser stays signed in after it was last seen.
    pub(crate) session_ttl: Duration,
    /// Whether the weaker method of PKCE is warned of.
    pub(crate) warn_on_plain_pkce: bool,
    /// The mail server, if there is one.
    pub(crate) mail: Option<MailSettings>,
    /// How long the record of acts is kept.
    pub(crate) audit_retention: Duration,
    /// How far a signature's timestamp may be off.
    pub(crate) timestamp_skew: Duration,
    /// How long a user's OAuth 2.0 token lives.
    pub(crate) access_ttl: Duration,
    /// How rate limits are held.
    pub(crate) rate_limits: RateLimitPolicy,
    /// The largest request body.
    pub(crate) body_max: usize,
    /// What may wait for a reader of a stream.
    pub(crate) stream_buffer: usize,
    /// The longest silence on a stream.
    pub(crate) stream_keep_alive: Duration,
    /// Where media files are kept, when it is not in the data folder.
    pub(crate) media_folder: Option<PathBuf>,
    /// The bucket that media files are kept in instead, if there is one.
    pub(crate) media_bucket: Option<media::Bucket>,
    /// How webhooks are served.
    pub(crate) webhooks: deliver::webhooks::WebhookSettings,
    /// How long what was sent to them is kept.
    pub(crate) webhook_retention: Duration,
    /// How custom audiences are worked out.
    pub(crate) audiences: ads::audience_matching::MatchingConfig,
    /// What else the operator decided about advertising.
    pub(crate) ads: ads::AdsConfig,
    /// How many users an audience must come to before anything is told of it.
    pub(crate) min_audience: i64,
    /// Whether the log is written as JSON.
    pub(crate) log_json: bool,
    /// What is logged.
    pub(crate) log_level: String,
    /// The `danger_*` keys that are on.
    pub(crate) dangers: Vec<&'static str>,
}

/// How letters leave.
#[derive(Clone, Debug)]
pub(crate) struct MailSettings {
    /// The server's address, with its password.
    pub(crate) url: Secret,
    /// What letters say that they come from.
    pub(crate) from: String,
}

/// Where the master key and its predecessors are.
#[derive(Clone, Debug)]
pub(crate) struct MasterKeySettings {
    /// The key line itself.
    pub(crate) key_line: Option<Secret>,
    /// The file that it was read from, if it was.
    pub(crate) file: Option<PathBuf>,
    /// Older keys.
    pub(crate) old_key_files: Vec<PathBuf>,
    /// Whether the key may lie in the data folder of a real network.
    pub(crate) allow_in_data_dir: bool,
}

/// The address under which a listener is reached from its own machine.
pub(crate) fn local_url(bound: SocketAddr) -> String {
    if bound.ip().is_unspecified() {
        format!("http://127.0.0.1:{}", bound.port())
    } else {
        format!("http://{bound}")
    }
}

impl ServerSettings {
    /// The typed values, with the checks that need more than one key.
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
            ads_sandbox_port: reader
                .text("listen.ads_sandbox_port")
                .and_then(|text| text.parse().ok()),
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
            body_max: reader
                .text("limits.body_max")
                .and_then(parse::parse_byte_size)
                .unwrap_or(1024 * 1024),
            stream_buffer: reader
                .text("limits.stream_buffer")
                .and_then(parse::parse_byte_size)
                .unwrap_or(256 * 1024),
            stream_keep_alive: reader.duration("limits.stream_keep_alive"),
            media_folder: reader.text("media.dir").map(PathBuf::from),
            media_bucket: reader.media_bucket()?,
            webhooks: super::webhooks::webhook_settings(values, reader.parse_value("core.node")?)?,
            webhook_retention: reader.duration("webhooks.retention"),
            min_audience: reader.parse_value("ads.min_audience")?,
            audiences: ads::audience_matching::MatchingConfig {
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

    /// The address that clients use: the one that is set, or the listener's own.
    pub(crate) fn public_url(&self, bound: SocketAddr) -> String {
        match &self.base_url {
            Some(url) => url.trim_end_matches('/').to_owned(),
            None => local_url(bound),
        }
    }

    /// The folder that media files are kept in.
    pub(crate) fn media_dir(&self) -> PathBuf {
        let folder = self.media_folder.clone();
        folder.unwrap_or_else(|| self.data_dir.join("media"))
    }

    /// The media files.
    pub(crate) fn open_media_files(&self) -> Result<media::FileStore, CommandError> {
        let folder = self.media_dir();
        let files = media::FileStore::local(&folder)
            .map_err(|error| CommandError::Failed(format!("{}: {error}", folder.display())))?;
        match &self.media_bucket {
            None => Ok(files),
            Some(bucket) => files
                .with_bucket(bucket)
                .map_err(|error| CommandError::Failed(format!("{bucket}: {error}"))),
        }
    }

    /// Takes the port that a flag names; with a free one, the control port is free as well.
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
            let text = "listen.control_addr: administration stays on this machine (127.0.0.1 or ::1)";
            return Err(CommandError::Usage(text.to_owned()));
        }
        match self.mode {
            RunMode::Dev if !self.addr.ip().is_loopback() && !reader.boolean("core.expose") => {
                Err(CommandError::WrongMode(format!(
                    "the test platform has open doors and listens on this machine only; \
                     {} needs --expose",
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
                "core.base_url is plain http: a real network needs https, a trusted proxy \
                 (listen.trusted_proxies), or core.danger_plain_http"
                    .to_owned(),
            ));
        }
        let bare = self.media_bucket.as_ref().is_some_and(media::Bucket::uses_plain_http);
        if bare && !reader.boolean("media.danger_plain_s3") {
            return Err(CommandError::WrongMode(
                "media.s3_endpoint is plain http: a real network needs https, or \
                 media.danger_plain_s3"
                    .to_owned(),
            ));
        }
        let moved = self.rate_limits != RateLimitPolicy::Table;
        if moved && !reader.boolean("limits.danger_rate_limits") {
            return Err(CommandError::WrongMode(
                "limits.rate_limits: a real network holds the table's, unless \
                 limits.danger_rate_limits is set"
                    .to_owned(),
            ));
        }
        Ok(())
    }
}

/// Where the database is, from what the key says.
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
