//! What rules consist of: each effect and each condition, declared once. Checks, error messages, flags of commands, the
//! form of the console and the documentation derive from these.

use serde_json::{Value, json};

use super::matching::{FaultOccasion, FaultSubject, RoutePattern};

base::named_enum! {
    /// What an effect applies to.
    pub enum FaultScope {
        Request = "requests",
        Stream = "streams",
        Webhook = "webhooks",
    }
}

#[derive(Clone, Copy, Debug)]
pub enum FaultFieldKind {
    Text,
    /// The minimum and maximum, both included.
    Number(u32, u32),
    /// Above 0 and at most 1.
    Probability,
    /// RFC 3339.
    Time,
}

/// A condition of a rule, or a parameter of an effect.
#[derive(Clone, Copy, Debug)]
pub struct FaultField {
    pub name: &'static str,
    pub kind: FaultFieldKind,
    pub summary: &'static str,
    /// What the condition exists for.
    pub scopes: &'static [FaultScope],
}

#[derive(Debug)]
pub struct EffectDeclaration {
    pub name: &'static str,
    pub scope: FaultScope,
    /// When rules with this effect are looked at; each time counts as a match.
    pub occasions: &'static [FaultOccasion],
    pub summary: &'static str,
    pub required: &'static [FaultField],
    pub optional: &'static [FaultField],
    /// The only routes that it applies to; empty for all.
    pub routes: &'static [&'static str],
}

const EVERYWHERE: &[FaultScope] = &[FaultScope::Request, FaultScope::Stream, FaultScope::Webhook];
const REQUESTS: &[FaultScope] = &[FaultScope::Request];
const MAX_COUNT: u32 = 1_000_000_000;

pub static MATCH_FIELDS: &[FaultField] = &[
    condition("method", FaultFieldKind::Text, REQUESTS, "An HTTP method: GET, POST, PUT, PATCH or DELETE"),
    condition(
        "route",
        FaultFieldKind::Text,
        REQUESTS,
        "A path, with a method before it if wanted: \"GET /2/users/me\", \"/2/tweets/{id}\", \"/2/tweets/*\"",
    ),
    condition("app", FaultFieldKind::Text, EVERYWHERE, "The id or name of an app"),
    condition("user", FaultFieldKind::Text, REQUESTS, "The id or @name of the user that the request acts for"),
    condition("account", FaultFieldKind::Text, REQUESTS, "The id of an ads account"),
    condition("stream", FaultFieldKind::Text, &[FaultScope::Stream], "A stream's name: filtered_stream"),
    condition("webhook", FaultFieldKind::Text, &[FaultScope::Webhook], "The id of a webhook"),
    condition("nth", FaultFieldKind::Number(1, MAX_COUNT), EVERYWHERE, "Only this match, from 1"),
    condition("after", FaultFieldKind::Number(1, MAX_COUNT), EVERYWHERE, "Only matches after this many"),
    condition("every", FaultFieldKind::Number(1, MAX_COUNT), EVERYWHERE, "Only each such match, after `after`"),
    condition("probability", FaultFieldKind::Probability, EVERYWHERE, "The share of matches, as 0.25; seeded"),
    condition("times", FaultFieldKind::Number(1, MAX_COUNT), EVERYWHERE, "At most this many times"),
    condition("until", FaultFieldKind::Time, EVERYWHERE, "Until this time of the world's clock"),
];

const fn condition(
    name: &'static str,
    kind: FaultFieldKind,
    scopes: &'static [FaultScope],
    summary: &'static str,
) -> FaultField {
    FaultField { name, kind, summary, scopes }
}

const fn number(name: &'static str, min: u32, max: u32, summary: &'static str) -> FaultField {
    FaultField { name, kind: FaultFieldKind::Number(min, max), summary, scopes: &[] }
}

const LONGEST_MS: u32 = 120_000;
const MS: FaultField = number("ms", 1, LONGEST_MS, "Milliseconds");
const MAX_MS: FaultField = number("max_ms", 1, LONGEST_MS, "The upper end of a uniform delay from `ms`");
const P99_MS: FaultField = number("p99_ms", 1, LONGEST_MS, "The 99th percentile of a long tail with the median `ms`");
const STATUS: FaultField = number("status", 400, 599, "The HTTP status");
const RESET_SECONDS: FaultField =
    number("reset_seconds", 1, 86_400, "Until x-rate-limit-reset, in real time; 900 if absent");
const BYTES: FaultField = number("bytes", 0, 1_000_000_000, "How much of the body is sent; half if absent");
const CHUNK_BYTES: FaultField = number("chunk_bytes", 1, 1_000_000, "Bytes at a time; 64 if absent");
const INTERVAL_MS: FaultField = number("interval_ms", 1, LONGEST_MS, "Between two chunks; 100 if absent");
const SECONDS: FaultField = number("seconds", 1, 86_400, "Seconds");

/// All parameters of effects, each once.
pub fn effect_fields() -> Vec<&'static FaultField> {
    let mut fields: Vec<&FaultField> = Vec::new();
    for field in EFFECTS.iter().flat_map(EffectDeclaration::fields) {
        if !fields.iter().any(|known| known.name == field.name) {
            fields.push(field);
        }
    }
    fields
}

const REQUEST: &[FaultOccasion] = &[FaultOccasion::Request, FaultOccasion::TokenRefresh];
const MESSAGE: &[FaultOccasion] = &[FaultOccasion::StreamMessage];
const ATTEMPT: &[FaultOccasion] = &[FaultOccasion::WebhookAttempt];

const DEFAULTS: EffectDeclaration = EffectDeclaration {
    name: "",
    scope: FaultScope::Request,
    occasions: REQUEST,
    summary: "",
    required: &[],
    optional: &[],
    routes: &[],
};

const fn request_effect(name: &'static str, summary: &'static str) -> EffectDeclaration {
    EffectDeclaration { name, summary, ..DEFAULTS }
}

const fn stream_effect(
    name: &'static str,
    occasions: &'static [FaultOccasion],
    summary: &'static str,
) -> EffectDeclaration {
    EffectDeclaration { name, scope: FaultScope::Stream, occasions, summary, ..DEFAULTS }
}

const fn webhook_effect(
    name: &'static str,
    occasions: &'static [FaultOccasion],
    summary: &'static str,
) -> EffectDeclaration {
    EffectDeclaration { name, scope: FaultScope::Webhook, occasions, summary, ..DEFAULTS }
}

pub static EFFECTS: &[EffectDeclaration] = &[
    EffectDeclaration {
        required: &[MS],
        optional: &[MAX_MS, P99_MS],
        ..request_effect("delay", "The request waits before it is carried out")
    },
    EffectDeclaration {
        required: &[STATUS],
        ..request_effect("status", "This status, in the error format of the endpoint; nothing is carried out")
    },
    EffectDeclaration {
        optional: &[RESET_SECONDS],
        ..request_effect("rate-limit", "429, with the rate limit's headers at zero; nothing is carried out")
    },
    request_effect("database-busy", "503 with Retry-After, as when the database has no room; nothing is carried out"),
    request_effect("reset-before-headers", "The connection is reset without a response; nothing is carried out"),
    request_effect("lose-response", "The request is carried out, then the connection is reset without a response"),
    EffectDeclaration {
        optional: &[BYTES],
        ..request_effect("reset-mid-body", "The connection is reset in the middle of the response's body")
    },
    EffectDeclaration {
        optional: &[BYTES],
        ..request_effect("truncate", "The connection ends in the middle of the response's body, in good order")
    },
    EffectDeclaration {
        optional: &[CHUNK_BYTES, INTERVAL_MS],
        ..request_effect("drip", "The response's body arrives in small pieces")
    },
    request_effect("bad-json", "The response is complete, but its body is not valid JSON"),
    request_effect("expire-token", "The OAuth 2.0 access token that the request uses expires now: 401"),
    request_effect("revoke-token", "The token that the request uses is revoked, with its refresh token: 401"),
    EffectDeclaration {
        occasions: &[FaultOccasion::TokenRefresh],
        routes: &["POST /2/oauth2/token"],
        ..request_effect("refresh-lost", "A refresh token is used up, and the answer with the new tokens is lost")
    },
    EffectDeclaration {
        routes: &["POST /12/batch/accounts/*"],
        ..request_effect("batch-partial", "Each second item of an ads batch fails, and so the batch: nothing is saved")
    },
    EffectDeclaration {
        routes: &["GET /12/stats/jobs/*"],
        ..request_effect("async-job-stuck", "Jobs for statistics are shown as still processing")
    },
    EffectDeclaration {
        routes: &[
            "POST /12/accounts/{account_id}/custom_audiences/{custom_audience_id}/users",
            "POST /12/batch/accounts/{account_id}/do_not_reach_lists/{do_not_reach_list_id}/users",
        ],
        ..request_effect("count-mismatch", "All users are stored, but `success_count` is one less than `total_count`")
    },
    EffectDeclaration {
        routes: &["GET /12/accounts/{account_id}/campaigns*"],
        ..request_effect("servable-false", "Campaigns are shown as not servable, for the reason FUNDING_PROBLEM")
    },
    stream_effect("no-heartbeat", &[FaultOccasion::StreamHeartbeat], "A keep-alive is not sent"),
    stream_effect("drop-events", MESSAGE, "A message is not sent"),
    stream_effect("duplicate-events", MESSAGE, "A message is sent twice"),
    stream_effect("reorder-events", MESSAGE, "A message is sent after the next one, or instead of a keep-alive"),
    stream_effect(
        "operational-disconnect",
        MESSAGE,
        "Instead of a message the stream ends, with an operational-disconnect error",
    ),
    EffectDeclaration {
        required: &[MS],
        ..stream_effect("slow-stream", MESSAGE, "The client gets a message this much later, and those after it")
    },
    stream_effect("too-many-connections", &[FaultOccasion::StreamOpen], "A connection is refused with 429"),
    EffectDeclaration {
        required: &[SECONDS],
        ..stream_effect(
            "hold-slot",
            &[FaultOccasion::StreamEnd],
            "A connection that the client ended counts for its limit this much longer",
        )
    },
    webhook_effect("skip-delivery", ATTEMPT, "A delivery is recorded as delivered, and never sent"),
    webhook_effect("duplicate-delivery", ATTEMPT, "A delivery is sent twice"),
    EffectDeclaration {
        required: &[MS],
        ..webhook_effect("delay-delivery", ATTEMPT, "A delivery is sent later, and those after it")
    },
    EffectDeclaration {
        optional: &[MS],
        ..webhook_effect("reorder-deliveries", ATTEMPT, "A delivery is sent later than those of the next `ms`, or 2000")
    },
    webhook_effect("bad-signature", ATTEMPT, "A delivery has a signature that does not fit its body"),
    webhook_effect(
        "crc-fail",
        &[FaultOccasion::WebhookChallenge],
        "A challenge (CRC) fails, whatever the receiver answers",
    ),
];

impl FaultField {
    /// As a flag of a command: with dashes.
    pub fn flag_name(&self) -> String {
        self.name.replace('_', "-")
    }

    pub fn describe_expected(&self) -> String {
        match self.kind {
            FaultFieldKind::Text => "a text".to_owned(),
            FaultFieldKind::Number(min, max) => format!("a whole number from {min} to {max}"),
            FaultFieldKind::Probability => "a number above 0 and at most 1".to_owned(),
            FaultFieldKind::Time => "a time like 2026-06-01T12:00:00Z".to_owned(),
        }
    }
}

impl EffectDeclaration {
    pub fn find(name: &str) -> Option<&'static Self> {
        EFFECTS.iter().find(|effect| effect.name == name)
    }

    pub fn fields(&self) -> impl Iterator<Item = &'static FaultField> + use<> {
        self.required.iter().chain(self.optional)
    }

    /// The conditions that a rule with this effect may have.
    pub fn conditions(&self) -> impl Iterator<Item = &'static FaultField> + use<> {
        let scope = self.scope;
        MATCH_FIELDS.iter().filter(move |field| field.scopes.contains(&scope))
    }

    pub(super) fn allows_route(&self, subject: &FaultSubject<'_>) -> bool {
        let fits = |route: &&str| RoutePattern::parse(route).is_ok_and(|pattern| pattern.matches(subject));
        self.routes.is_empty() || self.routes.iter().any(fits)
    }

    pub fn to_json(&self) -> Value {
        let names = |fields: &[FaultField]| fields.iter().map(|field| field.name).collect::<Vec<_>>();
        let fields = self.fields().map(|field| (field.name, json!(field.summary)));
        json!({
            "name": self.name,
            "applies_to": self.scope.name(),
            "summary": self.summary,
            "required": names(self.required),
            "optional": names(self.optional),
            "parameters": fields.map(|(name, value)| (name.to_owned(), value)).collect::<serde_json::Map<_, _>>(),
            "routes": self.routes,
            "match": self.conditions().map(|field| field.name).collect::<Vec<_>>(),
        })
    }
}
