//! The table of configuration keys, from which `docs/configuration.md` is generated.

use super::key::{ConfigKey, ConfigValueKind, KeyDefault};
use KeyDefault::{Absent, Literal, Required, Unset};

const fn key_by_mode(
    name: &'static str,
    kind: ConfigValueKind,
    dev: KeyDefault,
    serve: KeyDefault,
    about: &'static str,
) -> ConfigKey {
    ConfigKey { name, kind, dev, serve, description: about }
}

const fn key_in_both_modes(
    name: &'static str,
    kind: ConfigValueKind,
    preset: KeyDefault,
    about: &'static str,
) -> ConfigKey {
    key_by_mode(name, kind, preset, preset, about)
}

const MAX_COUNT: u64 = 1_000_000;

pub(crate) static KEYS: &[ConfigKey] = &[
    key_by_mode(
        "core.data_dir",
        ConfigValueKind::Path,
        Literal("./.locum"),
        Literal("/var/lib/locum"),
        "The data directory.",
    ),
    key_by_mode(
        "core.base_url",
        ConfigValueKind::Origin,
        Unset,
        Required,
        "The base URL that clients use; in dev, the listener's address by default.",
    ),
    key_by_mode(
        "core.public_origins",
        ConfigValueKind::Origins,
        // The origins that unmodified clients sign requests for.
        Literal(
            "https://api.x.com,https://api.twitter.com,\
             https://upload.x.com,https://upload.twitter.com,\
             https://ads-api.x.com,https://ads-api.twitter.com,\
             https://ads-api-sandbox.x.com,https://ads-api-sandbox.twitter.com",
        ),
        Unset,
        "Additional origins for which clients may sign requests.",
    ),
    key_in_both_modes(
        "core.vocabulary",
        ConfigValueKind::OneOf(&["posts", "tweets"]),
        Literal("posts"),
        "The vocabulary when the request does not imply one.",
    ),
    key_in_both_modes(
        "core.site_name",
        ConfigValueKind::Text,
        Literal("Locum"),
        "The name of the platform on its pages and in its emails.",
    ),
    key_in_both_modes(
        "core.problem_base",
        ConfigValueKind::Origin,
        Literal("https://api.x.com"),
        "The base URL of problem types in errors; released clients expect the default.",
    ),
    key_in_both_modes(
        "core.cors_origins",
        ConfigValueKind::Origins,
        Unset,
        "Origins allowed to call the API from a browser (CORS).",
    ),
    key_in_both_modes(
        "core.node",
        ConfigValueKind::Count(0, 1022),
        Literal("0"),
        "This node's number, part of every id; must be unique among nodes on one database.",
    ),
    key_by_mode(
        "core.world",
        ConfigValueKind::OneOf(&["demo", "ads", "empty"]),
        Literal("demo"),
        Absent,
        "The initial data of a new data directory; `ads` is `demo` plus ad campaigns.",
    ),
    key_by_mode(
        "core.seed",
        ConfigValueKind::Count(0, u64::MAX),
        Literal("7"),
        Absent,
        "The seed of generated ids and keys.",
    ),
    key_by_mode(
        "core.expose",
        ConfigValueKind::Boolean,
        Literal("false"),
        Absent,
        "Allows the development server to listen on non-loopback addresses.",
    ),
    key_by_mode(
        "core.danger_plain_http",
        ConfigValueKind::Boolean,
        Absent,
        Literal("false"),
        "Allows a base URL without TLS and without a trusted proxy.",
    ),
    key_in_both_modes(
        "listen.addr",
        ConfigValueKind::Address,
        Literal("127.0.0.1:8080"),
        "The address of the public listener; port 0 picks a free port.",
    ),
    key_by_mode(
        "listen.control_addr",
        ConfigValueKind::Address,
        Literal("127.0.0.1:8079"),
        Unset,
        "The address of the control API, in addition to the socket in the data directory; loopback only.",
    ),
    key_in_both_modes(
        "listen.ads_sandbox_port",
        ConfigValueKind::Count(0, 65_535),
        Unset,
        "A second port on the address of `listen.addr` that serves the Ads API sandbox; 0 picks a free port.",
    ),
    key_in_both_modes(
        "listen.trusted_proxies",
        ConfigValueKind::Hosts,
        Unset,
        "IP addresses of proxies whose `X-Forwarded-*` headers are trusted; `listen.max_connections_per_ip` applies to the addresses that they forward for.",
    ),
    key_in_both_modes(
        "listen.max_connections",
        ConfigValueKind::Count(1, MAX_COUNT),
        Literal("10000"),
        "The maximum number of open connections.",
    ),
    key_in_both_modes(
        "listen.max_connections_per_ip",
        ConfigValueKind::Count(1, MAX_COUNT),
        Literal("256"),
        "The maximum number of open connections per IP address, and of requests that trusted proxies forward for it.",
    ),
    key_in_both_modes(
        "listen.header_timeout",
        ConfigValueKind::Duration,
        Literal("10s"),
        "The time limit for receiving a request's header.",
    ),
    key_in_both_modes(
        "listen.body_timeout",
        ConfigValueKind::Duration,
        Literal("30s"),
        "The maximum pause while receiving a request's body, and the time after which it must arrive with 512 bytes a second on average.",
    ),
    key_in_both_modes(
        "listen.idle_timeout",
        ConfigValueKind::Duration,
        Literal("75s"),
        "How long an idle connection is kept open.",
    ),
    key_in_both_modes(
        "listen.shutdown_grace",
        ConfigValueKind::Duration,
        Literal("20s"),
        "How long shutdown waits for requests in progress.",
    ),
    key_in_both_modes(
        "db.url",
        ConfigValueKind::Database,
        Literal("sqlite"),
        "The database; `sqlite` is the file `locum.db` in the data directory. A PostgreSQL URL takes `sslmode` and `sslrootcert` as in libpq.",
    ),
    key_in_both_modes(
        "db.connections",
        ConfigValueKind::Count(1, 512),
        Literal("4"),
        "Readers on SQLite, connections on PostgreSQL.",
    ),
    key_in_both_modes(
        "db.migrate_on_start",
        ConfigValueKind::Boolean,
        Literal("true"),
        "Applies pending migrations at startup.",
    ),
    key_in_both_modes(
        "db.log_retention",
        ConfigValueKind::Duration,
        Literal("7d"),
        "How long event log entries are kept after all consumers have read them.",
    ),
    key_in_both_modes(
        "secrets.master_key",
        ConfigValueKind::Secret,
        Unset,
        "The master key line, if a key file is not an option.",
    ),
    key_in_both_modes(
        "secrets.old_master_key_files",
        ConfigValueKind::Paths,
        Unset,
        "Previous keys, needed to decrypt secrets that have not been re-encrypted.",
    ),
    key_by_mode(
        "secrets.danger_key_in_data_dir",
        ConfigValueKind::Boolean,
        Absent,
        Literal("false"),
        "Allows the master key inside the data directory that it protects.",
    ),
    key_by_mode(
        "auth.registration",
        ConfigValueKind::OneOf(&["open", "invite", "closed"]),
        Literal("open"),
        Literal("closed"),
        "Who may create an account: anyone, people with an invitation (`locum invite`), or nobody.",
    ),
    key_in_both_modes(
        "auth.session_ttl",
        ConfigValueKind::Duration,
        Literal("30d"),
        "How long a browser session lasts after its last request.",
    ),
    key_by_mode(
        "auth.pkce_plain",
        ConfigValueKind::OneOf(&["allow", "warn"]),
        Literal("allow"),
        Literal("warn"),
        "Whether users and developers are warned when an app uses the `plain` PKCE method.",
    ),
    key_in_both_modes(
        "auth.oauth1_timestamp_skew",
        ConfigValueKind::Duration,
        Literal("300s"),
        "The allowed clock skew of OAuth 1.0a timestamps.",
    ),
    key_in_both_modes(
        "auth.oauth2_access_ttl",
        ConfigValueKind::Duration,
        Literal("2h"),
        "The lifetime of a user's OAuth 2.0 access token.",
    ),
    key_in_both_modes(
        "limits.rate_limits",
        ConfigValueKind::RateLimits,
        Literal("table"),
        "Rate limits: `table` as published, `off`, or `scale=N` to multiply them.",
    ),
    key_by_mode(
        "limits.danger_rate_limits",
        ConfigValueKind::Boolean,
        Absent,
        Literal("false"),
        "Allows production to use other rate limits than the published ones.",
    ),
    key_in_both_modes(
        "limits.body_max",
        ConfigValueKind::Size,
        Literal("1MiB"),
        "The maximum request body size of operations without their own limit.",
    ),
    key_in_both_modes(
        "limits.stream_buffer",
        ConfigValueKind::Size,
        Literal("256KiB"),
        "Unread data per stream connection before it is closed as too slow.",
    ),
    key_in_both_modes(
        "limits.stream_keep_alive",
        ConfigValueKind::Duration,
        Literal("15s"),
        "The keep-alive interval of streams; clients reconnect after 20 seconds of silence.",
    ),
    key_in_both_modes(
        "webhooks.timeout",
        ConfigValueKind::Duration,
        Literal("10s"),
        "The response timeout of webhook receivers.",
    ),
    key_in_both_modes(
        "webhooks.retry",
        ConfigValueKind::Durations,
        Literal("5s,5m,30m,2h,5h,10h,10h"),
        "The delays after failed attempts; after the last one, the delivery is abandoned.",
    ),
    key_in_both_modes(
        "webhooks.disable_after",
        ConfigValueKind::Duration,
        Literal("28h"),
        "How long deliveries may fail before a webhook is disabled.",
    ),
    key_in_both_modes(
        "webhooks.crc_interval",
        ConfigValueKind::Duration,
        Literal("24h"),
        "The interval between challenge (CRC) requests to valid webhooks.",
    ),
    key_in_both_modes(
        "webhooks.retention",
        ConfigValueKind::Duration,
        Literal("5d"),
        "How long deliveries are kept for inspection and replay.",
    ),
    key_by_mode(
        "webhooks.allow_private",
        ConfigValueKind::Blocks,
        Literal("all"),
        Unset,
        "Private address ranges that webhooks may target; link-local addresses, such as metadata \
         services, are never allowed.",
    ),
    key_by_mode(
        "webhooks.allow_http",
        ConfigValueKind::Boolean,
        Literal("true"),
        Literal("false"),
        "Whether webhooks may use plain http and any port.",
    ),
    key_by_mode(
        "webhooks.danger_targets",
        ConfigValueKind::Boolean,
        Absent,
        Literal("false"),
        "Allows production webhooks to target private addresses, plain http and any port.",
    ),
    key_in_both_modes(
        "webhooks.authorities",
        ConfigValueKind::Path,
        Unset,
        "Additional trusted certificate authorities (PEM) for webhook receivers.",
    ),
    key_in_both_modes(
        "webhooks.per_app",
        ConfigValueKind::Count(0, MAX_COUNT),
        Literal("1"),
        "The maximum number of webhooks per app.",
    ),
    key_in_both_modes(
        "webhooks.per_enterprise_app",
        ConfigValueKind::Count(0, MAX_COUNT),
        Literal("100"),
        "The maximum number of webhooks per enterprise app.",
    ),
    key_by_mode(
        "ads.min_audience",
        ConfigValueKind::Count(1, MAX_COUNT),
        Literal("1"),
        Literal("100"),
        "The minimum size at which a custom audience's size is disclosed, in steps of half this value; 1 discloses exact sizes.",
    ),
    key_in_both_modes(
        "ads.audience_delay",
        ConfigValueKind::Duration,
        Literal("5s"),
        "The delay between the last change of a custom audience and its matching.",
    ),
    key_in_both_modes(
        "ads.narrow_audience",
        ConfigValueKind::Count(1, MAX_COUNT),
        Literal("1000"),
        "Audiences with fewer users count as narrow: widening is recommended if the line item \
         underspends.",
    ),
    key_in_both_modes(
        "ads.exchange_rates",
        ConfigValueKind::CurrencyWorths,
        Unset,
        "Exchange rates of ISO 4217 currencies, in micros of a common unit: `USD=1000000,EUR=1080000`. \
         Used to compare bids; charges stay in the account's currency. A currency without a rate is \
         compared with itself only.",
    ),
    key_in_both_modes(
        "ads.count_videos",
        ConfigValueKind::OneOf(&["monetized", "posts"]),
        Literal("monetized"),
        "Which publisher videos are counted: those that carried ads within thirty days, or all posted \
         videos, for a network that has served few ads.",
    ),
    key_in_both_modes(
        "mail.smtp_url",
        ConfigValueKind::Secret,
        Unset,
        "The mail server: `smtps://name:password@host`, `smtp://host:587?tls=required`; without one, \
         emails stay queued, and the development server shows them in its mailbox.",
    ),
    key_in_both_modes(
        "mail.from",
        ConfigValueKind::Text,
        Unset,
        "The sender of emails: an address, or `Name <address>`.",
    ),
    key_in_both_modes(
        "media.dir",
        ConfigValueKind::Path,
        Unset,
        "The directory of media files; `media` in the data directory by default. With a bucket, it holds \
         unfinished uploads, imported files and files from before the bucket.",
    ),
    key_in_both_modes(
        "media.s3_url",
        ConfigValueKind::Text,
        Unset,
        "The S3-compatible bucket for media files: `s3://bucket/prefix`.",
    ),
    key_in_both_modes(
        "media.s3_endpoint",
        ConfigValueKind::Origin,
        Unset,
        "The S3 endpoint, with path-style bucket addressing; the region's public endpoint by default.",
    ),
    key_in_both_modes(
        "media.s3_region",
        ConfigValueKind::Text,
        Literal("us-east-1"),
        "The S3 region for request signing.",
    ),
    key_in_both_modes("media.s3_access_key", ConfigValueKind::Text, Unset, "The S3 access key id."),
    key_in_both_modes("media.s3_secret_key", ConfigValueKind::Secret, Unset, "The S3 secret access key."),
    key_by_mode(
        "media.danger_plain_s3",
        ConfigValueKind::Boolean,
        Absent,
        Literal("false"),
        "Allows production to use plain http for S3.",
    ),
    key_in_both_modes(
        "observe.audit_retention",
        ConfigValueKind::Duration,
        Literal("400d"),
        "How long audit log entries are kept.",
    ),
    key_by_mode(
        "observe.log_format",
        ConfigValueKind::OneOf(&["pretty", "json"]),
        Literal("pretty"),
        Literal("json"),
        "The format of the log on stderr.",
    ),
    key_in_both_modes(
        "observe.log_level",
        ConfigValueKind::Text,
        Literal("info"),
        "The log level: `error`, `warn`, `info`, `debug`, `trace`, or a filter such as `info,web=debug`.",
    ),
];

#[cfg(test)]
mod tests {
    use super::{KEYS, KeyDefault};
    use crate::config::{RunMode, parse};

    #[test]
    fn every_default_is_valid_and_every_name_is_used_once() {
        let mut names: Vec<_> = KEYS.iter().map(|key| key.name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), KEYS.len());
        for key in KEYS {
            assert_eq!(key.name.matches('.').count(), 1, "{}", key.name);
            for mode in [RunMode::Dev, RunMode::Serve] {
                if let KeyDefault::Literal(text) = key.default_for_mode(mode) {
                    assert_eq!(parse::validate_value(key.kind, text), Ok(()), "{}", key.name);
                }
            }
        }
    }
}
