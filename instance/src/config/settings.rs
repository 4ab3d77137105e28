//! The configuration of a server, with the values that follow from several keys.

use std::net::SocketAddr;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use base::Secret;
use deliver::links::LinkFetchSettings;
use deliver::webhooks::WebhookSettings;
use store::{DatabaseLocation, NodeRole, NodeRoles};
use web::limits::RateLimitMode;

use super::acme::{AcmeSettings, acme_settings};
use super::key::RunMode;
use super::keys::{
    AdsSection, AuthSection, BackupSection, ClusterSection, Config, CoreSection, DbSection, EmulateSection,
    JournalSection, KEYS, LimitsSection, LinksSection, ListenSection, MailSection, MediaSection, ObserveSection,
    SearchSection, SecretsSection, TlsSection,
};
use super::text::from_text;
use super::types::{CountedVideos, FfmpegSetting, HostName};
use super::values::{ConfigValues, ValueOrigin};
use super::webhooks::webhook_settings;
use crate::command_error::CommandError;

/// A SQLite database in the data directory, and in backups.
pub const DATABASE_FILE: &str = "locum.db";
const MAX_HOSTS: usize = 256;
const PLAIN_S3: &str = "media.s3_endpoint uses plain http: production requires https, or media.danger_plain_s3";

#[derive(Clone, Debug)]
pub struct ServerSettings {
    pub mode: RunMode,
    pub core: CoreSection,
    pub listen: ListenSection,
    pub tls: TlsSection,
    /// If the certificate comes from an ACME server.
    pub acme: Option<AcmeSettings>,
    pub emulate: EmulateSection,
    pub db: DbSection,
    pub cluster: ClusterSection,
    pub search: SearchSection,
    pub secrets: SecretsSection,
    pub auth: AuthSection,
    pub limits: LimitsSection,
    pub links: LinksSection,
    pub ads: AdsSection,
    pub backup: BackupSection,
    pub observe: ObserveSection,
    pub journal: JournalSection,
    /// The file that `secrets.master_key_file` names.
    pub master_key_file: Option<PathBuf>,
    /// Whether to fall back to a free port if the control port is taken.
    pub control_port_may_change: bool,
    /// The same for the port of the Ads API sandbox.
    pub sandbox_port_may_change: bool,
    /// Whether a free port replaces the base URL, which cannot name it: in dev, unless a flag gave the URL.
    base_url_may_change: bool,
    pub mail: Option<MailSettings>,
    pub media_dir: PathBuf,
    pub media_bucket: Option<media::Bucket>,
    pub media: MediaSection,
    pub webhooks: WebhookSettings,
    pub webhook_retention_ms: i64,
    pub dangers: Vec<&'static str>,
}

#[derive(Clone, Debug)]
pub struct MailSettings {
    pub url: Secret,
    pub from: String,
}

/// An unspecified address becomes loopback.
pub fn local_url(bound: SocketAddr) -> String {
    if bound.ip().is_unspecified() { format!("http://127.0.0.1:{}", bound.port()) } else { format!("http://{bound}") }
}

impl ServerSettings {
    /// Includes the checks that involve more than one key.
    pub fn from_values(values: &ConfigValues) -> Result<Self, CommandError> {
        let config = values.to_config()?;
        check_addresses(&config, values.mode)?;
        check_tls(&config, values.mode)?;
        check_emulated_hosts(&config.emulate)?;
        check_cluster(&config, values.mode)?;
        let media_bucket = media_bucket(&config.media)?;
        if values.mode == RunMode::Serve {
            check_dangers(&config, media_bucket.as_ref())?;
        }
        Ok(Self {
            mode: values.mode,
            master_key_file: values.get("secrets.master_key").and_then(|value| match &value.origin {
                ValueOrigin::SecretFile(path, _) => Some(path.clone()),
                _ => None,
            }),
            control_port_may_change: !values.is_set("listen.control_addr"),
            sandbox_port_may_change: !values.is_set("listen.ads_sandbox_port"),
            base_url_may_change: values.mode == RunMode::Dev
                && values.get("core.base_url").is_some_and(|value| !matches!(value.origin, ValueOrigin::Flag(_))),
            mail: mail_settings(config.mail)?,
            media_dir: config.media.dir.clone().unwrap_or_else(|| config.core.data_dir.join("media")),
            media_bucket,
            media: config.media,
            webhook_retention_ms: config.webhooks.retention.as_ms(),
            webhooks: webhook_settings(config.webhooks)?,
            dangers: enabled_dangers(values),
            listen: config.listen,
            acme: acme_settings(&config.tls, config.core.base_url.as_ref())?,
            tls: config.tls,
            core: config.core,
            emulate: config.emulate,
            db: config.db,
            cluster: config.cluster,
            search: config.search,
            secrets: config.secrets,
            auth: config.auth,
            limits: config.limits,
            links: config.links,
            ads: config.ads,
            backup: config.backup,
            observe: config.observe,
            journal: config.journal,
        })
    }

    pub fn public_url(&self, bound: SocketAddr) -> String {
        match &self.core.base_url {
            Some(url) => url.0.trim_end_matches('/').to_owned(),
            None => local_url(bound),
        }
    }

    pub fn database_location(&self) -> DatabaseLocation {
        match self.db.url.0.expose_secret() {
            url if url.contains("://") => DatabaseLocation::Server(url.to_owned()),
            "sqlite" => DatabaseLocation::File(self.core.data_dir.join(DATABASE_FILE)),
            path => DatabaseLocation::File(PathBuf::from(path)),
        }
    }

    pub fn roles(&self) -> NodeRoles {
        node_roles(&self.cluster)
    }

    pub fn connection_limits(&self) -> edge::ListenerLimits {
        let own = edge::ListenerLimits::default();
        edge::ListenerLimits {
            header_timeout: self.listen.header_timeout.0,
            body_timeout: self.listen.body_timeout.0,
            idle_timeout: self.listen.idle_timeout.0,
            max_connections: self.listen.max_connections,
            max_connections_per_ip: self.listen.max_connections_per_ip,
            max_body_memory: own.max_body_memory.max(self.limits.body_max.0.saturating_mul(16)),
            max_body_memory_per_ip: own.max_body_memory_per_ip.max(self.limits.body_max.0.saturating_mul(2)),
            trusted_proxies: self.listen.trusted_proxies.clone(),
            shutdown_grace: self.listen.shutdown_grace.0,
            ..own
        }
    }

    pub fn ads_config(&self) -> ads_engine::AdsConfig {
        ads_engine::AdsConfig {
            rates: self.ads.exchange_rates.0.clone(),
            count_videos_immediately: self.ads.count_videos == CountedVideos::Posts,
            narrow_audience_size: self.ads.narrow_audience,
        }
    }

    pub fn open_media_files(&self) -> Result<media::FileStore, CommandError> {
        let files = media::FileStore::local(&self.media_dir)
            .map_err(|error| CommandError::Failed(format!("{}: {error}", self.media_dir.display())))?;
        match &self.media_bucket {
            None => Ok(files),
            Some(bucket) => {
                files.with_bucket(bucket).map_err(|error| CommandError::Failed(format!("{bucket}: {error}")))
            }
        }
    }

    /// None if the pages behind links are not fetched.
    pub fn link_fetches(&self) -> Option<LinkFetchSettings> {
        let base = base_host(&self.core);
        let short = self.core.short_link_host.as_ref().map(|host| host.0.clone());
        let own_hosts = base.into_iter().chain(short).collect();
        self.links.fetch.then(|| LinkFetchSettings { max_age_ms: self.links.max_age.as_ms(), own_hosts })
    }

    /// None if uploads are not transcoded.
    pub fn transcoder(&self) -> Result<Option<media::Transcoder>, CommandError> {
        let found = match &self.media.ffmpeg {
            FfmpegSetting::Off => None,
            FfmpegSetting::Auto => find_on_path("ffmpeg"),
            FfmpegSetting::Path(path) if is_executable(path) => Some(path.clone()),
            FfmpegSetting::Path(path) => {
                return Err(CommandError::Usage(format!("media.ffmpeg: {} is not an executable file", path.display())));
            }
        };
        // ffmpeg runs in a folder of its own.
        let absolute = |path: PathBuf| std::path::absolute(&path).unwrap_or(path);
        let timeout = self.media.ffmpeg_timeout.0;
        Ok(found.map(|path| media::Transcoder { ffmpeg: absolute(path), timeout }))
    }

    /// Certificate and key of the public listener.
    pub fn certificate_files(&self) -> Option<(&Path, &Path)> {
        self.tls.cert.as_deref().zip(self.tls.key.as_deref())
    }

    /// None in production.
    pub fn emulated_hosts(&self) -> Vec<String> {
        let mut hosts = host_names(&self.emulate.hosts);
        if self.mode == RunMode::Dev
            && let Some(HostName(own)) = &self.core.short_link_host
            && !hosts.contains(own)
        {
            hosts.push(own.clone());
        }
        hosts
    }

    pub fn passed_hosts(&self) -> Vec<String> {
        host_names(&self.emulate.pass_through)
    }

    /// A bucket for backups, on the S3 server of `media`.
    pub fn bucket_at(&self, url: &str) -> Result<media::Bucket, CommandError> {
        let bucket = configured_bucket(&self.media, url, "a backup's bucket")?;
        if self.mode == RunMode::Serve && bucket.uses_plain_http() && !self.media.danger_plain_s3 {
            return Err(CommandError::WrongMode(PLAIN_S3.to_owned()));
        }
        Ok(bucket)
    }

    /// With port 0, the control port and that of the sandbox become free ports as well, and a development server's base
    /// URL is its listener's.
    pub fn set_port(&mut self, port: Option<u16>) {
        let Some(port) = port else { return };
        self.listen.addr.set_port(port);
        if port != 0 {
            return;
        }
        if let Some(control) = self.listen.control_addr.as_mut().filter(|_| self.control_port_may_change) {
            control.set_port(0);
        }
        if let Some(sandbox) = self.listen.ads_sandbox_port.as_mut().filter(|_| self.sandbox_port_may_change) {
            *sandbox = 0;
        }
        if self.base_url_may_change {
            self.core.base_url = None;
        }
    }
}

/// In lower case.
fn base_host(section: &CoreSection) -> Option<String> {
    let url = section.base_url.as_ref()?.0.parse::<http::Uri>().ok()?;
    url.host().map(str::to_ascii_lowercase)
}

fn find_on_path(program: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|folder| folder.join(program)).find(|file| is_executable(file))
}

fn is_executable(path: &Path) -> bool {
    std::fs::metadata(path).is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
}

fn check_addresses(config: &Config, mode: RunMode) -> Result<(), CommandError> {
    if config.listen.control_addr.is_some_and(|addr| !addr.ip().is_loopback()) {
        let text = "listen.control_addr must be a loopback address (127.0.0.1 or ::1)";
        return Err(CommandError::Usage(text.to_owned()));
    }
    let short_host = config.core.short_link_host.as_ref().map(|host| host.0.as_str());
    if short_host.is_some() && base_host(&config.core).as_deref() == short_host {
        let text = "core.short_link_host must be another host than that of core.base_url: it answers short links only";
        return Err(CommandError::Usage(text.to_owned()));
    }
    let addr = config.listen.addr;
    if mode == RunMode::Dev && !addr.ip().is_loopback() && !config.core.expose {
        return Err(CommandError::WrongMode(format!(
            "the development server uses well-known credentials and listens on loopback only; listening on {addr} \
             requires --expose"
        )));
    }
    Ok(())
}

fn check_tls(config: &Config, mode: RunMode) -> Result<(), CommandError> {
    let section = &config.tls;
    let has_files = section.cert.is_some() || section.key.is_some();
    let is_on = has_files || section.acme;
    let has_base = config.core.base_url.as_ref().is_some_and(|url| url.0.starts_with("https://"));
    let problem = if mode == RunMode::Dev && (is_on || section.redirect_addr.is_some()) {
        "tls.cert, tls.key, tls.redirect_addr: a development server issues its own certificates"
    } else if section.acme && has_files {
        "tls.acme obtains the certificate: tls.cert and tls.key must not be set"
    } else if section.cert.is_some() != section.key.is_some() {
        "tls.cert and tls.key are needed together"
    } else if section.redirect_addr.is_some() && !is_on {
        "tls.redirect_addr: without tls.cert or tls.acme there is nothing to redirect to"
    } else if is_on && !has_base {
        "tls.cert, tls.acme: core.base_url must begin with https://"
    } else {
        return Ok(());
    };
    Err(CommandError::Usage(problem.to_owned()))
}

/// Each emulated host may get a certificate.
fn check_emulated_hosts(section: &EmulateSection) -> Result<(), CommandError> {
    if section.hosts.len().max(section.pass_through.len()) <= MAX_HOSTS {
        return Ok(());
    }
    Err(CommandError::Usage(format!("emulate.hosts, emulate.pass_through: at most {MAX_HOSTS} hosts each")))
}

fn host_names(hosts: &[HostName]) -> Vec<String> {
    hosts.iter().map(|host| host.0.clone()).collect()
}

fn node_roles(section: &ClusterSection) -> NodeRoles {
    section.roles.iter().map(|name| NodeRole::from(*name)).collect()
}

fn check_cluster(config: &Config, mode: RunMode) -> Result<(), CommandError> {
    let (section, roles) = (&config.cluster, node_roles(&config.cluster));
    let is_alone = mode == RunMode::Dev || !config.db.url.0.expose_secret().contains("://");
    let is_unspecified = section.listen.is_some_and(|addr| addr.ip().is_unspecified());
    let problem = if roles == NodeRoles::NONE {
        "cluster.roles names no role: expected api, stream, search or deliver"
    } else if is_alone && roles != NodeRoles::ALL {
        "cluster.roles: only nodes of `locum serve` on PostgreSQL can share the work; any other server has all roles"
    } else if is_alone && section.listen.is_some() {
        "cluster.listen: only nodes of `locum serve` on PostgreSQL have other nodes"
    } else if roles != NodeRoles::ALL && roles.contains(NodeRole::Search) && section.listen.is_none() {
        "cluster.listen is not set: other nodes have to reach a search node"
    } else if is_unspecified && section.advertise.is_none() {
        "cluster.advertise is not set: cluster.listen is not an address that other nodes can reach"
    } else {
        return Ok(());
    };
    Err(CommandError::Usage(problem.to_owned()))
}

/// What production refuses without the `danger_` key that allows it.
fn check_dangers(config: &Config, bucket: Option<&media::Bucket>) -> Result<(), CommandError> {
    let is_plain = config.core.base_url.as_ref().is_some_and(|url| url.0.starts_with("http://"));
    let is_open = config.webhooks.allow_http || !config.webhooks.allow_private.0.is_empty();
    let dangers = [
        (
            is_open && !config.webhooks.danger_targets,
            "webhooks.allow_http, webhooks.allow_private: production sends only to public addresses over https unless \
             webhooks.danger_targets is set",
        ),
        (
            is_plain && config.listen.trusted_proxies.is_empty() && !config.core.danger_plain_http,
            "core.base_url uses plain http: production requires https, a trusted proxy (listen.trusted_proxies), or \
             core.danger_plain_http",
        ),
        (bucket.is_some_and(media::Bucket::uses_plain_http) && !config.media.danger_plain_s3, PLAIN_S3),
        (
            config.limits.rate_limits.0 != RateLimitMode::Table && !config.limits.danger_rate_limits,
            "limits.rate_limits: production uses the published limits unless limits.danger_rate_limits is set",
        ),
    ];
    match dangers.into_iter().find(|(is_refused, _)| *is_refused) {
        Some((_, text)) => Err(CommandError::WrongMode(text.to_owned())),
        None => Ok(()),
    }
}

/// Errors never contain the password.
fn mail_settings(section: MailSection) -> Result<Option<MailSettings>, CommandError> {
    let Some(url) = section.smtp_url else {
        return match section.from {
            Some(from) if !mail::is_sender_address(&from) => {
                Err(CommandError::Usage("mail.from: expected an address, or `Name <address>`".to_owned()))
            }
            _ => Ok(None),
        };
    };
    let url = url.0;
    let from = section.from.ok_or_else(|| {
        CommandError::Usage("mail.from is not set; mail.smtp_url requires a sender address".to_owned())
    })?;
    mail::SmtpMailer::new(&url, &from)
        .map_err(|fault| CommandError::Usage(format!("mail.smtp_url, mail.from: {fault}")))?;
    Ok(Some(MailSettings { url, from }))
}

fn media_bucket(section: &MediaSection) -> Result<Option<media::Bucket>, CommandError> {
    section.s3_url.as_ref().map(|url| configured_bucket(section, url, "media.s3_url")).transpose()
}

/// `key` is what names the URL.
fn configured_bucket(section: &MediaSection, url: &str, key: &str) -> Result<media::Bucket, CommandError> {
    let mut bucket = media::Bucket::parse_url(url)
        .ok_or_else(|| CommandError::Usage(format!("{key}: expected `s3://bucket` or `s3://bucket/prefix`")))?;
    let missing = |name| CommandError::Usage(format!("{name} is not set; {key} requires it"));
    bucket.endpoint = section.s3_endpoint.as_ref().map(|endpoint| endpoint.0.clone());
    bucket.region.clone_from(&section.s3_region);
    bucket.access_key = section.s3_access_key.clone().ok_or_else(|| missing("media.s3_access_key"))?;
    let secret = section.s3_secret_key.as_ref().ok_or_else(|| missing("media.s3_secret_key"))?;
    secret.0.expose_secret().clone_into(&mut bucket.secret_key);
    Ok(bucket)
}

fn enabled_dangers(values: &ConfigValues) -> Vec<&'static str> {
    let is_enabled = |name| values.get_text(name).is_some_and(|text| from_text(text).unwrap_or(false));
    KEYS.iter().filter(|key| key.is_dangerous() && is_enabled(key.name)).map(|key| key.name).collect()
}

#[cfg(test)]
mod tests;
