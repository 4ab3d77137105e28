//! Every key there is. The documentation of the configuration is printed from here.

use super::key::{ConfigKey, ConfigValueKind, KeyDefault};
use KeyDefault::{Absent, Literal, Required, Unset};

const fn key_by_mode(
    name: &'static str,
    kind: ConfigValueKind,
    dev: KeyDefault,
    serve: KeyDefault,
    about: &'static str,
) -> ConfigKey {
    ConfigKey {
        name,
        kind,
        dev,
        serve,
        description: about,
    }
}

/// A key with the same default in both modes.
const fn key_in_both_modes(
    name: &'static str,
    kind: ConfigValueKind,
    preset: KeyDefault,
    about: &'static str,
) -> ConfigKey {
    key_by_mode(name, kind, preset, preset, about)
}

const MAX_COUNT: u64 = 1_000_000;

/// All keys, by area.
pub(crate) static KEYS: &[ConfigKey] = &[
    key_by_mode(
        "core.data_dir",
        ConfigValueKind::Path,
        Literal("./.locum"),
        Literal("/var/lib/locum"),
        "The folder that everything is kept in.",
    ),
    key_by_mode(
        "core.base_url",
        ConfigValueKind::Origin,
        Unset,
        Required,
        "The address that clients use; in dev, the listener's own by default.",
    ),
    key_by_mode(
        "core.public_origins",
        ConfigValueKind::Origins,
        // What unchanged clients sign for, wherever their requests are led.
        Literal(
            "https://api.x.com,https://api.twitter.com,\
             https://upload.x.com,https://upload.twitter.com,\
             https://ads-api.x.com,https://ads-api.twitter.com,\
             https://ads-api-sandbox.x.com,https://ads-api-sandbox.twitter.com",
        ),
        Unset,
        "Further addresses that clients may have signed their requests for.",
    ),
    key_in_both_modes(
        "core.vocabulary",
        ConfigValueKind::OneOf(&["posts", "tweets"]),
        Literal("posts"),
        "The vocabulary where nothing in a request decides it.",
    ),
    key_in_both_modes(
        "core.site_name",
        ConfigValueKind::Text,
        Literal("Locum"),
        "What the platform is called on its pages and in its letters.",
    ),
    key_in_both_modes(
        "core.problem_base",
        ConfigValueKind::Origin,
        Literal("https://api.x.com"),
        "Under which address the types of problem documents stand; released clients know this one.",
    ),
    key_in_both_modes(
        "core.cors_origins",
        ConfigValueKind::Origins,
        Unset,
        "Origins whose pages may call the interface.",
    ),
    key_in_both_modes(
        "core.node",
        ConfigValueKind::Count(0, 1022),
        Literal("0"),
        "This node's number, part of every id; nodes on one database differ.",
    ),
    key_by_mode(
        "core.world",
        ConfigValueKind::OneOf(&["demo", "ads", "empty"]),
        Literal("demo"),
        Absent,
        "What a new data folder begins with: `ads` is the demo world with an advertiser's campaigns.",
    ),
    key_by_mode(
        "core.seed",
        ConfigValueKind::Count(0, u64::MAX),
        Literal("7"),
        Absent,
        "Where a new world's ids and keys come from.",
    ),
    key_by_mode(
        "core.expose",
        ConfigValueKind::Boolean,
        Literal("false"),
        Absent,
        "Lets the test platform listen beyond this machine.",
    ),
    key_by_mode(
        "core.danger_plain_http",
        ConfigValueKind::Boolean,
        Absent,
        Literal("false"),
        "Accepts a base URL without TLS where no proxy is trusted.",
    ),
    key_in_both_modes(
        "listen.addr",
        ConfigValueKind::Address,
        Literal("127.0.0.1:8080"),
        "Where clients come to; port 0 takes a free one.",
    ),
    key_by_mode(
        "listen.control_addr",
        ConfigValueKind::Address,
        Literal("127.0.0.1:8079"),
        Unset,
        "Where administration comes to, beside the socket in the data folder; loopback only.",
    ),
    key_in_both_modes(
        "listen.ads_sandbox_port",
        ConfigValueKind::Count(0, 65_535),
        Unset,
        "A second port beside that of `listen.addr`, whose requests are in the sandbox of the \
         advertising interface; 0 takes a free one.",
    ),
    key_in_both_modes(
        "listen.trusted_proxies",
        ConfigValueKind::Hosts,
        Unset,
        "IP addresses of proxies whose `X-Forwarded-*` headers are believed.",
    ),
    key_in_both_modes(
        "listen.max_connections",
        ConfigValueKind::Count(1, MAX_COUNT),
        Literal("10000"),
        "Open connections altogether.",
    ),
    key_in_both_modes(
        "listen.max_connections_per_ip",
        ConfigValueKind::Count(1, MAX_COUNT),
        Literal("256"),
        "Open connections of one address.",
    ),
    key_in_both_modes(
        "listen.header_timeout",
        ConfigValueKind::Duration,
        Literal("10s"),
        "From a connection to its request's complete head.",
    ),
    key_in_both_modes(
        "listen.body_timeout",
        ConfigValueKind::Duration,
        Literal("30s"),
        "The longest silence inside a request's body.",
    ),
    key_in_both_modes(
        "listen.idle_timeout",
        ConfigValueKind::Duration,
        Literal("75s"),
        "The longest rest between two requests.",
    ),
    key_in_both_modes(
        "listen.shutdown_grace",
        ConfigValueKind::Duration,
        Literal("20s"),
        "From the signal to stop until what is still open is cut off.",
    ),
    key_in_both_modes(
        "db.url",
        ConfigValueKind::Database,
        Literal("sqlite"),
        "`sqlite` is the file `locum.db` in the data folder. The URL of a server takes `sslmode` and `sslrootcert`, as in libpq.",
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
        "Applies missing migrations at start.",
    ),
    key_in_both_modes(
        "db.log_retention",
        ConfigValueKind::Duration,
        Literal("7d"),
        "How long the log of events is kept once every reader has passed.",
    ),
    key_in_both_modes(
        "secrets.master_key",
        ConfigValueKind::Secret,
        Unset,
        "The key line itself, for where a file is out of reach.",
    ),
    key_in_both_modes(
        "secrets.old_master_key_files",
        ConfigValueKind::Paths,
        Unset,
        "Keys that still open what was sealed before a rotation.",
    ),
    key_by_mode(
        "secrets.danger_key_in_data_dir",
        ConfigValueKind::Boolean,
        Absent,
        Literal("false"),
        "Accepts a master key that lies beside the data it protects.",
    ),
    key_by_mode(
        "auth.registration",
        ConfigValueKind::OneOf(&["open", "invite", "closed"]),
        Literal("open"),
        Literal("closed"),
        "Who may create an account: anyone, whoever has an invitation (`locum invite`), or nobody.",
    ),
    key_in_both_modes(
        "auth.session_ttl",
        ConfigValueKind::Duration,
        Literal("30d"),
        "How long a browser stays signed in after it was last seen.",
    ),
    key_by_mode(
        "auth.pkce_plain",
        ConfigValueKind::OneOf(&["allow", "warn"]),
        Literal("allow"),
        Literal("warn"),
        "Whether people and developers are told when an app uses the weaker method of PKCE.",
    ),
    key_in_both_modes(
        "auth.oauth1_timestamp_skew",
        ConfigValueKind::Duration,
        Literal("300s"),
        "How far a signature's timestamp may be off.",
    ),
    key_in_both_modes(
        "auth.oauth2_access_ttl",
        ConfigValueKind::Duration,
        Literal("2h"),
        "How long a user's OAuth 2.0 token lives.",
    ),
    key_in_both_modes(
        "limits.rate_limits",
        ConfigValueKind::RateLimits,
        Literal("table"),
        "`table` as published, `off`, or every limit times N.",
    ),
    key_by_mode(
        "limits.danger_rate_limits",
        ConfigValueKind::Boolean,
        Absent,
        Literal("false"),
        "Lets a real network run with other rate limits than the table's.",
    ),
    key_in_both_modes(
        "limits.body_max",
        ConfigValueKind::Size,
        Literal("1MiB"),
        "The largest request body, where an operation has no limit of its own.",
    ),
    key_in_both_modes(
        "limits.stream_buffer",
        ConfigValueKind::Size,
        Literal("256KiB"),
        "What may wait for a reader of a stream before it is let go.",
    ),
    key_in_both_modes(
        "limits.stream_keep_alive",
        ConfigValueKind::Duration,
        Literal("15s"),
        "The longest silence on a stream; clients take one of 20 seconds for its end.",
    ),
    key_in_both_modes(
        "webhooks.timeout",
        ConfigValueKind::Duration,
        Literal("10s"),
        "How long a receiver may take to answer.",
    ),
    key_in_both_modes(
        "webhooks.retry",
        ConfigValueKind::Durations,
        Literal("5s,5m,30m,2h,5h,10h,10h"),
        "How long is waited after each try that failed; after the last, the delivery is given up.",
    ),
    key_in_both_modes(
        "webhooks.disable_after",
        ConfigValueKind::Duration,
        Literal("28h"),
        "For how long nothing may reach a receiver before it gets nothing any more.",
    ),
    key_in_both_modes(
        "webhooks.crc_interval",
        ConfigValueKind::Duration,
        Literal("24h"),
        "How often a receiver is challenged that answered the last time.",
    ),
    key_in_both_modes(
        "webhooks.retention",
        ConfigValueKind::Duration,
        Literal("5d"),
        "How long what was sent is kept, to be looked at and replayed.",
    ),
    key_by_mode(
        "webhooks.allow_private",
        ConfigValueKind::Blocks,
        Literal("all"),
        Unset,
        "Private addresses that receivers may have; link-local ones, where machines keep their \
         credentials, are never among them.",
    ),
    key_by_mode(
        "webhooks.allow_http",
        ConfigValueKind::Boolean,
        Literal("true"),
        Literal("false"),
        "Whether receivers may be at plain http and at any port.",
    ),
    key_by_mode(
        "webhooks.danger_targets",
        ConfigValueKind::Boolean,
        Absent,
        Literal("false"),
        "Lets a real network send to private addresses, at plain http and to any port.",
    ),
    key_in_both_modes(
        "webhooks.authorities",
        ConfigValueKind::Path,
        Unset,
        "Certificates (PEM) of authorities that receivers' certificates may come from, beside those \
         that the system trusts.",
    ),
    key_in_both_modes(
        "webhooks.per_app",
        ConfigValueKind::Count(0, MAX_COUNT),
        Literal("1"),
        "How many webhooks an app may have.",
    ),
    key_in_both_modes(
        "webhooks.per_enterprise_app",
        ConfigValueKind::Count(0, MAX_COUNT),
        Literal("100"),
        "The same for an app of the enterprise tier.",
    ),
    key_by_mode(
        "ads.min_audience",
        ConfigValueKind::Count(1, MAX_COUNT),
        Literal("1"),
        Literal("100"),
        "How many users a custom audience must come to before anything is told of it; sizes are told in steps of half of that. With 1 everything is told.",
    ),
    key_in_both_modes(
        "ads.audience_delay",
        ConfigValueKind::Duration,
        Literal("5s"),
        "How long after the last change a custom audience is worked out.",
    ),
    key_in_both_modes(
        "ads.narrow_audience",
        ConfigValueKind::Count(1, MAX_COUNT),
        Literal("1000"),
        "An audience of fewer users is narrow: where its line item hardly spends, it is recommended to \
         widen it.",
    ),
    key_in_both_modes(
        "ads.exchange_rates",
        ConfigValueKind::CurrencyWorths,
        Unset,
        "What one unit of a currency (ISO 4217) is worth, in millionths of one that all are measured in: \
         `USD=1000000,EUR=1080000`. Bids in these currencies are compared by that, and charged in their \
         own. A currency that is not named here is compared with itself only.",
    ),
    key_in_both_modes(
        "ads.count_videos",
        ConfigValueKind::OneOf(&["monetized", "posts"]),
        Literal("monetized"),
        "Which videos of publishers are counted: those that something was shown before within thirty \
         days, or all that were posted, for a network that has shown little yet.",
    ),
    key_in_both_modes(
        "mail.smtp_url",
        ConfigValueKind::Secret,
        Unset,
        "The mail server: `smtps://name:password@host`, `smtp://host:587?tls=required`; without one, \
         letters wait, and a test platform shows them in its mailbox.",
    ),
    key_in_both_modes(
        "mail.from",
        ConfigValueKind::Text,
        Unset,
        "What letters say that they come from: an address, or `Name <address>`.",
    ),
    key_in_both_modes(
        "media.dir",
        ConfigValueKind::Path,
        Unset,
        "The folder that media files are kept in; `media` in the data folder by default. With a bucket: \
         what is being uploaded, and what was imported or there before.",
    ),
    key_in_both_modes(
        "media.s3_url",
        ConfigValueKind::Text,
        Unset,
        "The bucket of an S3-compatible server that media files are kept in: `s3://bucket/prefix`.",
    ),
    key_in_both_modes(
        "media.s3_endpoint",
        ConfigValueKind::Origin,
        Unset,
        "The address of that server, whose buckets are the first part of the path; the region's public \
         one by default.",
    ),
    key_in_both_modes(
        "media.s3_region",
        ConfigValueKind::Text,
        Literal("us-east-1"),
        "The region that requests to the bucket are signed for.",
    ),
    key_in_both_modes(
        "media.s3_access_key",
        ConfigValueKind::Text,
        Unset,
        "The id of the key to the bucket.",
    ),
    key_in_both_modes(
        "media.s3_secret_key",
        ConfigValueKind::Secret,
        Unset,
        "The key to the bucket.",
    ),
    key_by_mode(
        "media.danger_plain_s3",
        ConfigValueKind::Boolean,
        Absent,
        Literal("false"),
        "Lets a real network speak plain http with the bucket's server.",
    ),
    key_in_both_modes(
        "observe.audit_retention",
        ConfigValueKind::Duration,
        Literal("400d"),
        "How long the record of what was done to accounts and apps is kept.",
    ),
    key_by_mode(
        "observe.log_format",
        ConfigValueKind::OneOf(&["pretty", "json"]),
        Literal("pretty"),
        Literal("json"),
        "How the log on stderr is written.",
    ),
    key_in_both_modes(
        "observe.log_level",
        ConfigValueKind::Text,
        Literal("info"),
        "`error`, `warn`, `info`, `debug`, `trace`, or a filter such as `info,web=debug`.",
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
