//! The configuration keys, from which the table in `docs/configuration.md` is generated.

use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;

use super::key::KeyDefault::{Absent, Literal, Required, Unset};
use super::key::{ConfigKey, config_keys};
use super::text::from_text;
use super::types::{
    AddressBlocks, BackupInterval, ByteSize, ConfigType, CountedVideos, DatabaseUrl, EmailAddress, ExchangeRates,
    FfmpegSetting, HostName, HttpsUrl, LogFilter, LogFormat, Origin, PlainPkce, PositiveByteSize, PositiveTimeSpan,
    RateLimits, RedisUrl, RegistrationName, RoleName, SecretText, TimeSpan, VocabularyName, WorldDate, WorldName,
};

const MAX_COUNT: u64 = 1_000_000;

config_keys! {
    core: CoreSection {
        /// The data directory.
        data_dir: PathBuf = Literal("./.locum"), Literal("/var/lib/locum");
        /// The base URL that clients use; in dev, the listener's address by default, and with `--port 0` unless `--base-url`
        /// gives another.
        base_url: Option<Origin> = Unset, Required;
        /// The host of short links in posts, which serves nothing else; by default they are below `/t/` of the base URL. It
        /// must lead to this server.
        short_link_host: Option<HostName> = Unset;
        /// Additional origins for which clients may sign requests.
        public_origins: Vec<Origin> = Literal(
            "https://api.x.com,https://api.twitter.com,https://upload.x.com,https://upload.twitter.com,\
             https://ads-api.x.com,https://ads-api.twitter.com,\
             https://ads-api-sandbox.x.com,https://ads-api-sandbox.twitter.com"
        ), Unset;
        /// The vocabulary when the request does not imply one.
        vocabulary: VocabularyName = Literal("posts");
        /// The name of the platform on its pages and in its emails, unless its owners have set another.
        site_name: String = Literal("Locum");
        /// The base URL of problem types in errors; released clients expect the default.
        problem_base: Origin = Literal("https://api.x.com");
        /// Origins allowed to call the API from a browser (CORS).
        cors_origins: Vec<Origin> = Unset;
        /// The preferred number of this node, part of every id; the lowest free one is taken while another node has it.
        node: u16 [0..=1022] = Literal("0");
        /// The initial data of a new data directory; `ads` is `demo` plus ad campaigns.
        world: WorldName = Literal("demo"), Absent("empty");
        /// The last day (UTC) of a new demo world, whose newest posts are from noon; `today` means yesterday, so that
        /// nothing lies in the future. The same seed and date give the same ids everywhere.
        world_date: WorldDate = Literal("today"), Absent("today");
        /// The seed of generated ids and keys.
        seed: u64 [0..=u64::MAX] = Literal("7"), Absent("0");
        /// Allows the development server to listen on non-loopback addresses.
        expose: bool = Literal("false"), Absent("false");
        /// Allows a base URL without TLS and without a trusted proxy.
        danger_plain_http: bool = Absent("false"), Literal("false");
    }
    listen: ListenSection {
        /// The address of the public listener; port 0 picks a free port.
        addr: SocketAddr = Literal("127.0.0.1:8080");
        /// The address of the control API, in addition to the socket in the data directory; loopback only.
        control_addr: Option<SocketAddr> = Literal("127.0.0.1:8079"), Unset;
        /// A second port on the address of `listen.addr` that serves the Ads API sandbox; 0 picks a free port.
        ads_sandbox_port: Option<u16> [0..=65_535] = Literal("8078"), Unset;
        /// IP addresses of proxies whose `X-Forwarded-*` headers are trusted; `listen.max_connections_per_ip` applies to
        /// the addresses that they forward for.
        trusted_proxies: Vec<IpAddr> = Unset;
        /// The maximum number of open connections.
        max_connections: usize [1..=MAX_COUNT] = Literal("10000");
        /// The maximum number of open connections per IP address, and of requests that trusted proxies forward for it; also
        /// that of its requests in progress on HTTP/2, which share connections.
        max_connections_per_ip: usize [1..=MAX_COUNT] = Literal("256");
        /// The time limit for receiving a request's header.
        header_timeout: PositiveTimeSpan = Literal("10s");
        /// The maximum pause while receiving a request's body, and the time after which it must arrive with 512 bytes a
        /// second on average.
        body_timeout: PositiveTimeSpan = Literal("30s");
        /// How long an idle connection is kept open.
        idle_timeout: PositiveTimeSpan = Literal("75s");
        /// How long a server that was told to stop still takes requests, while `/readyz` answers 404: long enough for a
        /// balancer to notice.
        shutdown_delay: TimeSpan = Literal("0s");
        /// How long shutdown then waits for requests in progress.
        shutdown_grace: TimeSpan = Literal("20s");
    }
    tls: TlsSection {
        /// The certificate chain (PEM) with which the public listener of `serve` accepts TLS instead of plain HTTP. A
        /// changed file is used within seconds, or on SIGHUP.
        cert: Option<PathBuf> = Unset;
        /// The private key (PEM) of `tls.cert`.
        key: Option<PathBuf> = Unset;
        /// Obtains and renews the certificate for the host of `core.base_url` from an ACME server, whose terms of service
        /// this accepts, instead of reading `tls.cert`.
        acme: bool = Absent("false"), Literal("false");
        /// The email address that a new ACME account names.
        acme_email: Option<EmailAddress> = Unset;
        /// The directory of the ACME server.
        acme_directory: HttpsUrl = Literal("https://acme-v02.api.letsencrypt.org/directory");
        /// Additional trusted certificate authorities (PEM) for the ACME server.
        acme_authorities: Option<PathBuf> = Unset;
        /// An address that redirects plain HTTP to the base URL.
        redirect_addr: Option<SocketAddr> = Unset;
    }
    emulate: EmulateSection {
        /// Hosts that the development server answers for, over TLS with its own certificate authority and as a proxy
        /// (`CONNECT`).
        hosts: Vec<HostName> = Literal(
            "api.x.com,api.twitter.com,upload.x.com,upload.twitter.com,ads-api.x.com,ads-api.twitter.com,\
             ads-api-sandbox.x.com,ads-api-sandbox.twitter.com,ads.x.com,ads.twitter.com,stream.x.com,\
             stream.twitter.com,publish.x.com,publish.twitter.com,x.com,twitter.com,www.x.com,www.twitter.com,\
             mobile.x.com,mobile.twitter.com"
        ), Absent("");
        /// Further hosts that clients may reach through the development server (`CONNECT`); all others are refused.
        pass_through: Vec<HostName> = Unset, Absent("");
    }
    db: DbSection {
        /// The database; `sqlite` is the file `locum.db` in the data directory. A PostgreSQL URL takes `sslmode` and
        /// `sslrootcert` as in libpq.
        url: DatabaseUrl = Literal("sqlite");
        /// Readers on SQLite. On PostgreSQL, connections for requests that read; as many are for background work, and
        /// twice as many for requests that write.
        connections: usize [1..=512] = Literal("4");
        /// The time limit of each query that a request makes; beyond it, the request fails with status 503.
        query_timeout: PositiveTimeSpan = Literal("10s");
        /// On PostgreSQL, the time limit of each transaction of a request, including the wait for a connection; beyond
        /// it, the request fails with status 503.
        transaction_timeout: PositiveTimeSpan = Literal("5s");
        /// Applies pending migrations at startup. Leave it on for the first start, which creates the tables.
        migrate_on_start: bool = Literal("true");
        /// How long event log entries are kept after all consumers have read them; on PostgreSQL, up to a day longer.
        log_retention: TimeSpan = Literal("7d");
    }
    cluster: ClusterSection {
        /// What this node does. Only nodes on PostgreSQL can share the work; together they need every role.
        roles: Vec<RoleName> = Literal("api,stream,search,deliver");
        /// The address on which other nodes use the search index of this one.
        listen: Option<SocketAddr> = Unset;
        /// Where other nodes reach `cluster.listen`, as `host:port`; that address by default.
        advertise: Option<String> = Unset;
    }
    search: SearchSection {
        /// With PostgreSQL and a bucket (`media.s3_url`), the interval between snapshots of the search index, from which new
        /// search nodes start; with `0s`, none are made or used.
        snapshot_interval: TimeSpan = Literal("6h");
        /// How many events since the last snapshot make another one worthwhile; half of `db.log_retention` later, any
        /// number does.
        snapshot_min_events: i64 [1..=MAX_COUNT] = Literal("1000");
    }
    secrets: SecretsSection {
        /// The master key line, if a key file is not an option.
        master_key: Option<SecretText> = Unset;
        /// Previous keys, needed to decrypt secrets that have not been re-encrypted.
        old_master_key_files: Vec<PathBuf> = Unset;
        /// Allows the master key inside the data directory that it protects.
        danger_key_in_data_dir: bool = Absent("false"), Literal("false");
    }
    auth: AuthSection {
        /// Who may create an account: anyone, people whom a moderator accepts, people with an invitation
        /// (`locum invite`), or nobody. `locum site set registrations` overrides it.
        registration: RegistrationName = Literal("open"), Literal("closed");
        /// How long a browser session lasts after its last request.
        session_ttl: PositiveTimeSpan = Literal("30d");
        /// Whether users and developers are warned when an app uses the `plain` PKCE method.
        pkce_plain: PlainPkce = Literal("allow"), Literal("warn");
        /// The allowed clock skew of OAuth 1.0a timestamps.
        oauth1_timestamp_skew: PositiveTimeSpan = Literal("300s");
        /// The lifetime of a user's OAuth 2.0 access token.
        oauth2_access_ttl: PositiveTimeSpan = Literal("2h");
        /// For how long a used refresh token returns the same tokens again to its app, in case the answer was lost; its
        /// later use, or use after those tokens were refreshed, revokes all tokens of the authorization.
        refresh_grace: TimeSpan = Literal("30s");
    }
    limits: LimitsSection {
        /// Rate limits: `table` as published, `relaxed` as published but without those of the reference lists of the Ads
        /// API (5 requests in 15 minutes), `off`, or `scale=N` to multiply them.
        rate_limits: RateLimits = Literal("relaxed"), Literal("table");
        /// The Valkey or Redis server that counts rate limits for all nodes: `redis://:password@host:6379/0`, or
        /// `rediss://` with TLS; one database number for each network. By default, they are counted in PostgreSQL.
        url: Option<RedisUrl> = Unset;
        /// Allows production to use other rate limits than the published ones.
        danger_rate_limits: bool = Absent("false"), Literal("false");
        /// The maximum request body size of operations without their own limit.
        body_max: PositiveByteSize = Literal("1MiB");
        /// Unread data per stream connection before it is closed as too slow.
        stream_buffer: PositiveByteSize = Literal("256KiB");
        /// The keep-alive interval of streams; clients reconnect after 20 seconds of silence.
        stream_keep_alive: PositiveTimeSpan = Literal("15s");
    }
    webhooks: WebhooksSection {
        /// The response timeout of webhook receivers.
        timeout: PositiveTimeSpan = Literal("10s");
        /// The delays after failed attempts; after the last one, the delivery is abandoned.
        retry: Vec<TimeSpan> = Literal("5s,5m,30m,2h,5h,10h,10h");
        /// How long deliveries may fail before a webhook is disabled.
        disable_after: TimeSpan = Literal("28h");
        /// The interval between challenge (CRC) requests to valid webhooks.
        crc_interval: PositiveTimeSpan = Literal("24h");
        /// How long deliveries are kept for inspection and replay; on PostgreSQL, up to a day longer.
        retention: TimeSpan = Literal("5d");
        /// Private address ranges that webhooks and scheduled product feeds may target; link-local addresses, such as
        /// metadata services, are never allowed.
        allow_private: AddressBlocks = Literal("all"), Unset;
        /// Whether webhooks may use plain http and any port.
        allow_http: bool = Literal("true"), Literal("false");
        /// Allows production webhooks to target private addresses, plain http and any port.
        danger_targets: bool = Absent("false"), Literal("false");
        /// Additional trusted certificate authorities (PEM) for webhook receivers.
        authorities: Option<PathBuf> = Unset;
        /// The maximum number of webhooks per app.
        per_app: i64 [0..=MAX_COUNT] = Literal("1");
        /// The maximum number of webhooks per enterprise app.
        per_enterprise_app: i64 [0..=MAX_COUNT] = Literal("100");
    }
    links: LinksSection {
        /// Whether the server fetches the pages behind the links of new public posts, to show their titles, descriptions
        /// and images. They are reached like webhooks (`webhooks.timeout`, `webhooks.allow_private`,
        /// `webhooks.authorities`), by http or https, on other ports only with `webhooks.allow_http`.
        fetch: bool = Literal("false");
        /// The age from which a page is fetched again when another post links to it.
        max_age: TimeSpan = Literal("7d");
    }
    ads: AdsSection {
        /// The minimum size at which a custom audience's size is disclosed, in steps of half this value, and the number of
        /// people whom figures by age or gender need; 1 discloses exact sizes and all figures.
        min_audience: i64 [1..=MAX_COUNT] = Literal("1"), Literal("100");
        /// The delay between the last change of a custom audience and its matching.
        audience_delay: TimeSpan = Literal("5s");
        /// Audiences with fewer users count as narrow: widening is recommended if the line item underspends.
        narrow_audience: u64 [1..=MAX_COUNT] = Literal("1000");
        /// Exchange rates of ISO 4217 currencies, in micros of a common unit: `USD=1000000,EUR=1080000`. Used to
        /// compare bids, and to convert sales that advertisers report with conversions; charges stay in the account's
        /// currency. A currency without a rate is compared with itself only, and sales in it are unknown to accounts
        /// with another one.
        exchange_rates: ExchangeRates = Unset;
        /// Which publisher videos are counted: those that carried ads within thirty days, or all posted videos, for a
        /// network that has served few ads.
        count_videos: CountedVideos = Literal("monetized");
    }
    mail: MailSection {
        /// The mail server: `smtps://name:password@host`, `smtp://host:587?tls=required`; without one, emails stay
        /// queued, and the development server shows them in its mailbox.
        smtp_url: Option<SecretText> = Unset;
        /// The sender of emails: an address, or `Name <address>`.
        from: Option<String> = Unset;
    }
    media: MediaSection {
        /// The directory of media files; `media` in the data directory by default. With a bucket, it holds files
        /// that this node works on, imported files and files from before the bucket.
        dir: Option<PathBuf> = Unset;
        /// The S3-compatible bucket for media files: `s3://bucket/prefix`.
        s3_url: Option<String> = Unset;
        /// The S3 endpoint, with path-style bucket addressing; the region's public endpoint by default.
        s3_endpoint: Option<Origin> = Unset;
        /// The S3 region for request signing.
        s3_region: String = Literal("us-east-1");
        /// The S3 access key id.
        s3_access_key: Option<String> = Unset;
        /// The S3 secret access key.
        s3_secret_key: Option<SecretText> = Unset;
        /// The program that makes smaller videos, stills and the videos of animated GIFs: a path, or `auto` for the `ffmpeg`
        /// found on PATH, if any. It needs libx264.
        ffmpeg: FfmpegSetting = Literal("auto");
        /// The time limit of each run of ffmpeg; a file that takes longer keeps only its original.
        ffmpeg_timeout: PositiveTimeSpan = Literal("5m");
        /// Allows production to use plain http for S3.
        danger_plain_s3: bool = Absent("false"), Literal("false");
    }
    backup: BackupSection {
        /// Where the server makes scheduled backups: a folder or `s3://bucket/prefix` on the S3 server of `media`.
        to: Option<String> = Unset;
        /// The interval between scheduled backups.
        every: BackupInterval = Literal("24h");
        /// How many scheduled backups are kept.
        keep: usize [1..=1000] = Literal("7");
    }
    observe: ObserveSection {
        /// How long audit log entries are kept.
        audit_retention: TimeSpan = Literal("400d");
        /// The format of the log on stderr.
        log_format: LogFormat = Literal("pretty"), Literal("json");
        /// The log level: `error`, `warn`, `info`, `debug`, `trace`, or a filter such as `info,web=debug`.
        log_level: LogFilter = Literal("info");
    }
    journal: JournalSection {
        /// How many requests the journal of the development server keeps; 0 turns it off, and the list of connected clients.
        size: usize [0..=1_000_000] = Literal("10000"), Absent("0");
        /// The memory that they take at most; the oldest are removed earlier if their bodies are large.
        memory: ByteSize = Literal("64MiB"), Absent("64MiB");
        /// Stores the start of request and response bodies, with secrets masked.
        bodies: bool = Literal("true"), Absent("false");
        /// A file to which each request is appended as a line of JSON. At half of `journal.file_size` it becomes `FILE.1`,
        /// which replaces an older one.
        file: Option<PathBuf> = Unset, Absent("");
        /// The size of both files together, at most.
        file_size: ByteSize = Literal("128MiB"), Absent("128MiB");
    }
}

#[cfg(test)]
mod tests {
    use super::KEYS;
    use crate::config::{KeyDefault, RunMode};

    #[test]
    fn every_default_is_valid_and_every_name_is_used_once() {
        let mut names: Vec<_> = KEYS.iter().map(|key| key.name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), KEYS.len());
        for key in KEYS {
            for mode in [RunMode::Dev, RunMode::Serve] {
                if let KeyDefault::Literal(text) | KeyDefault::Absent(text) = key.default_for_mode(mode) {
                    assert!(text.is_empty() || key.accepts(text), "{}", key.name);
                }
            }
        }
    }
}
