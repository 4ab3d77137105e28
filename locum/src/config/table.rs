//! Every key there is. The documentation of the configuration is printed from here.

use super::key::{Key, Kind, Preset};
use Preset::{Absent, Is, Required, Unset};

const fn key(
    name: &'static str,
    kind: Kind,
    dev: Preset,
    serve: Preset,
    about: &'static str,
) -> Key {
    Key {
        name,
        kind,
        dev,
        serve,
        about,
    }
}

/// A key with the same default in both modes.
const fn both(name: &'static str, kind: Kind, preset: Preset, about: &'static str) -> Key {
    key(name, kind, preset, preset, about)
}

const MANY: u64 = 1_000_000;

/// All keys, by area.
pub(crate) static KEYS: &[Key] = &[
    key(
        "core.data_dir",
        Kind::Path,
        Is("./.locum"),
        Is("/var/lib/locum"),
        "The folder that everything is kept in.",
    ),
    key(
        "core.base_url",
        Kind::Origin,
        Unset,
        Required,
        "The address that clients use; in dev, the listener's own by default.",
    ),
    key(
        "core.public_origins",
        Kind::Origins,
        // What unchanged clients sign for, wherever their requests are led.
        Is("https://api.x.com,https://api.twitter.com,\
             https://upload.x.com,https://upload.twitter.com,\
             https://ads-api.x.com,https://ads-api.twitter.com,\
             https://ads-api-sandbox.x.com,https://ads-api-sandbox.twitter.com"),
        Unset,
        "Further addresses that clients may have signed their requests for.",
    ),
    both(
        "core.vocabulary",
        Kind::OneOf(&["posts", "tweets"]),
        Is("posts"),
        "The vocabulary where nothing in a request decides it.",
    ),
    both(
        "core.site_name",
        Kind::Text,
        Is("Locum"),
        "What the platform is called on its pages and in its letters.",
    ),
    both(
        "core.problem_base",
        Kind::Origin,
        Is("https://api.x.com"),
        "Under which address the types of problem documents stand; released clients know this one.",
    ),
    both(
        "core.cors_origins",
        Kind::Origins,
        Unset,
        "Origins whose pages may call the interface.",
    ),
    both(
        "core.node",
        Kind::Count(0, 1022),
        Is("0"),
        "This node's number, part of every id; nodes on one database differ.",
    ),
    key(
        "core.world",
        Kind::OneOf(&["demo", "ads", "empty"]),
        Is("demo"),
        Absent,
        "What a new data folder begins with: `ads` is the demo world with an advertiser's campaigns.",
    ),
    key(
        "core.seed",
        Kind::Count(0, u64::MAX),
        Is("7"),
        Absent,
        "Where a new world's ids and keys come from.",
    ),
    key(
        "core.expose",
        Kind::Switch,
        Is("false"),
        Absent,
        "Lets the test platform listen beyond this machine.",
    ),
    key(
        "core.danger_plain_http",
        Kind::Switch,
        Absent,
        Is("false"),
        "Accepts a base URL without TLS where no proxy is trusted.",
    ),
    both(
        "listen.addr",
        Kind::Address,
        Is("127.0.0.1:8080"),
        "Where clients come to; port 0 takes a free one.",
    ),
    key(
        "listen.control_addr",
        Kind::Address,
        Is("127.0.0.1:8079"),
        Unset,
        "Where administration comes to, beside the socket in the data folder; loopback only.",
    ),
    both(
        "listen.ads_sandbox_port",
        Kind::Count(0, 65_535),
        Unset,
        "A second port beside that of `listen.addr`, whose requests are in the sandbox of the \
         advertising interface; 0 takes a free one.",
    ),
    both(
        "listen.trusted_proxies",
        Kind::Hosts,
        Unset,
        "IP addresses of proxies whose `X-Forwarded-*` headers are believed.",
    ),
    both(
        "listen.max_connections",
        Kind::Count(1, MANY),
        Is("10000"),
        "Open connections altogether.",
    ),
    both(
        "listen.max_connections_per_ip",
        Kind::Count(1, MANY),
        Is("256"),
        "Open connections of one address.",
    ),
    both(
        "listen.header_timeout",
        Kind::Span,
        Is("10s"),
        "From a connection to its request's complete head.",
    ),
    both(
        "listen.body_timeout",
        Kind::Span,
        Is("30s"),
        "The longest silence inside a request's body.",
    ),
    both(
        "listen.idle_timeout",
        Kind::Span,
        Is("75s"),
        "The longest rest between two requests.",
    ),
    both(
        "listen.shutdown_grace",
        Kind::Span,
        Is("20s"),
        "From the signal to stop until what is still open is cut off.",
    ),
    both(
        "db.url",
        Kind::Database,
        Is("sqlite"),
        "`sqlite` is the file `locum.db` in the data folder.",
    ),
    both(
        "db.connections",
        Kind::Count(1, 512),
        Is("4"),
        "Readers on SQLite, connections on PostgreSQL.",
    ),
    both(
        "db.migrate_on_start",
        Kind::Switch,
        Is("true"),
        "Applies missing migrations at start.",
    ),
    both(
        "db.log_retention",
        Kind::Span,
        Is("7d"),
        "How long the log of events is kept once every reader has passed.",
    ),
    both(
        "secrets.master_key",
        Kind::Secret,
        Unset,
        "The key line itself, for where a file is out of reach.",
    ),
    both(
        "secrets.old_master_key_files",
        Kind::Paths,
        Unset,
        "Keys that still open what was sealed before a rotation.",
    ),
    key(
        "secrets.danger_key_in_data_dir",
        Kind::Switch,
        Absent,
        Is("false"),
        "Accepts a master key that lies beside the data it protects.",
    ),
    key(
        "auth.registration",
        Kind::OneOf(&["open", "invite", "closed"]),
        Is("open"),
        Is("closed"),
        "Who may create an account: anyone, whoever has an invitation (`locum invite`), or nobody.",
    ),
    both(
        "auth.session_ttl",
        Kind::Span,
        Is("30d"),
        "How long a browser stays signed in after it was last seen.",
    ),
    key(
        "auth.pkce_plain",
        Kind::OneOf(&["allow", "warn"]),
        Is("allow"),
        Is("warn"),
        "Whether people and developers are told when an app uses the weaker method of PKCE.",
    ),
    both(
        "auth.oauth1_timestamp_skew",
        Kind::Span,
        Is("300s"),
        "How far a signature's timestamp may be off.",
    ),
    both(
        "auth.oauth2_access_ttl",
        Kind::Span,
        Is("2h"),
        "How long a user's OAuth 2.0 token lives.",
    ),
    both(
        "limits.rate_limits",
        Kind::RateLimits,
        Is("table"),
        "`table` as published, `off`, or every limit times N.",
    ),
    key(
        "limits.danger_rate_limits",
        Kind::Switch,
        Absent,
        Is("false"),
        "Lets a real network run with other rate limits than the table's.",
    ),
    both(
        "limits.body_max",
        Kind::Size,
        Is("1MiB"),
        "The largest request body, where an operation has no limit of its own.",
    ),
    both(
        "limits.stream_buffer",
        Kind::Size,
        Is("256KiB"),
        "What may wait for a reader of a stream before it is let go.",
    ),
    both(
        "limits.stream_keep_alive",
        Kind::Span,
        Is("15s"),
        "The longest silence on a stream; clients take one of 20 seconds for its end.",
    ),
    both(
        "webhooks.timeout",
        Kind::Span,
        Is("10s"),
        "How long a receiver may take to answer.",
    ),
    both(
        "webhooks.retry",
        Kind::Spans,
        Is("5s,5m,30m,2h,5h,10h,10h"),
        "How long is waited after each try that failed; after the last, the delivery is given up.",
    ),
    both(
        "webhooks.disable_after",
        Kind::Span,
        Is("28h"),
        "For how long nothing may reach a receiver before it gets nothing any more.",
    ),
    both(
        "webhooks.crc_interval",
        Kind::Span,
        Is("24h"),
        "How often a receiver is challenged that answered the last time.",
    ),
    both(
        "webhooks.retention",
        Kind::Span,
        Is("5d"),
        "How long what was sent is kept, to be looked at and replayed.",
    ),
    key(
        "webhooks.allow_private",
        Kind::Blocks,
        Is("all"),
        Unset,
        "Private addresses that receivers may have; link-local ones, where machines keep their \
         credentials, are never among them.",
    ),
    key(
        "webhooks.allow_http",
        Kind::Switch,
        Is("true"),
        Is("false"),
        "Whether receivers may be at plain http and at any port.",
    ),
    key(
        "webhooks.danger_targets",
        Kind::Switch,
        Absent,
        Is("false"),
        "Lets a real network send to private addresses, at plain http and to any port.",
    ),
    both(
        "webhooks.authorities",
        Kind::Path,
        Unset,
        "Certificates (PEM) of authorities that receivers' certificates may come from, beside those \
         that the system trusts.",
    ),
    both(
        "webhooks.per_app",
        Kind::Count(0, MANY),
        Is("1"),
        "How many webhooks an app may have.",
    ),
    both(
        "webhooks.per_enterprise_app",
        Kind::Count(0, MANY),
        Is("100"),
        "The same for an app of the enterprise tier.",
    ),
    key(
        "ads.min_audience",
        Kind::Count(1, MANY),
        Is("1"),
        Is("100"),
        "How many users a custom audience must come to before anything is told of it; sizes are told in steps of half of that. With 1 everything is told.",
    ),
    both(
        "ads.audience_delay",
        Kind::Span,
        Is("5s"),
        "How long after the last change a custom audience is worked out.",
    ),
    both(
        "ads.narrow_audience",
        Kind::Count(1, MANY),
        Is("1000"),
        "An audience of fewer users is narrow: where its line item hardly spends, it is recommended to \
         widen it.",
    ),
    both(
        "ads.exchange_rates",
        Kind::Worths,
        Unset,
        "What one unit of a currency (ISO 4217) is worth, in millionths of one that all are measured in: \
         `USD=1000000,EUR=1080000`. Bids in these currencies are compared by that, and charged in their \
         own. A currency that is not named here is compared with itself only.",
    ),
    both(
        "ads.count_videos",
        Kind::OneOf(&["monetized", "posts"]),
        Is("monetized"),
        "Which videos of publishers are counted: those that something was shown before within thirty \
         days, or all that were posted, for a network that has shown little yet.",
    ),
    both(
        "mail.smtp_url",
        Kind::Secret,
        Unset,
        "The mail server: `smtps://name:password@host`, `smtp://host:587?tls=required`; without one, \
         letters wait, and a test platform shows them in its mailbox.",
    ),
    both(
        "mail.from",
        Kind::Text,
        Unset,
        "What letters say that they come from: an address, or `Name <address>`.",
    ),
    both(
        "media.dir",
        Kind::Path,
        Unset,
        "The folder that media files are kept in; `media` in the data folder by default. With a bucket: \
         what is being uploaded, and what was imported or there before.",
    ),
    both(
        "media.s3_url",
        Kind::Text,
        Unset,
        "The bucket of an S3-compatible server that media files are kept in: `s3://bucket/prefix`.",
    ),
    both(
        "media.s3_endpoint",
        Kind::Origin,
        Unset,
        "The address of that server, whose buckets are the first part of the path; the region's public \
         one by default.",
    ),
    both(
        "media.s3_region",
        Kind::Text,
        Is("us-east-1"),
        "The region that requests to the bucket are signed for.",
    ),
    both(
        "media.s3_access_key",
        Kind::Text,
        Unset,
        "The id of the key to the bucket.",
    ),
    both(
        "media.s3_secret_key",
        Kind::Secret,
        Unset,
        "The key to the bucket.",
    ),
    key(
        "media.danger_plain_s3",
        Kind::Switch,
        Absent,
        Is("false"),
        "Lets a real network speak plain http with the bucket's server.",
    ),
    both(
        "observe.audit_retention",
        Kind::Span,
        Is("400d"),
        "How long the record of what was done to accounts and apps is kept.",
    ),
    key(
        "observe.log_format",
        Kind::OneOf(&["pretty", "json"]),
        Is("pretty"),
        Is("json"),
        "How the log on stderr is written.",
    ),
    both(
        "observe.log_level",
        Kind::Text,
        Is("info"),
        "`error`, `warn`, `info`, `debug`, `trace`, or a filter such as `info,web=debug`.",
    ),
];

#[cfg(test)]
mod tests {
    use super::{KEYS, Preset};
    use crate::config::{Mode, parse};

    #[test]
    fn every_default_is_valid_and_every_name_is_used_once() {
        let mut names: Vec<_> = KEYS.iter().map(|key| key.name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), KEYS.len());
        for key in KEYS {
            assert_eq!(key.name.matches('.').count(), 1, "{}", key.name);
            for mode in [Mode::Dev, Mode::Serve] {
                if let Preset::Is(text) = key.preset(mode) {
                    assert_eq!(parse::check(key.kind, text), Ok(()), "{}", key.name);
                }
            }
        }
    }
}
