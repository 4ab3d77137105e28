//! Parameters, body members, scopes and windows that many declarations share.

use base::{Scope, Scopes, VocabularyWord};
use view::ObjectKind;
use web::endpoint::{
    Endpoint, EndpointHandler, ExpansionNames, FieldNames, Kind, PageTokenText, Parameter, RateWindow, SharedWindow,
    TextPattern,
};

/// Required by nearly every operation.
pub(crate) const READ: Scopes = Scopes::from_slice(&[Scope::TweetRead, Scope::UsersRead]);

/// Posts and reposts of a user together (contract core §13.17).
pub(crate) static PUBLISHING: SharedWindow =
    SharedWindow { name: "posts and reposts", window: RateWindow { calls: 300, seconds: 10_800 } };

/// An operation for an app's own token, which has no scopes.
pub(crate) const fn app_endpoint(
    id: &'static str,
    method: &'static str,
    path: &'static str,
    handler: &'static dyn EndpointHandler,
) -> Endpoint {
    Endpoint::new(id, method, path).handler(handler).permit("A", Scopes::NONE)
}

pub(crate) const fn app_stream(
    id: &'static str,
    path: &'static str,
    handler: &'static dyn EndpointHandler,
) -> Endpoint {
    app_endpoint(id, "GET", path, handler).streaming()
}

// Paths.

pub(crate) const OWN: &[Parameter] = &[Parameter::path_id("id", "The id of the authenticated user.")];
pub(crate) const USER: &[Parameter] = &[Parameter::path_id("id", "The id of the user.")];
pub(crate) const POST: &[Parameter] = &[Parameter::path_id("id", "The id of the post.")];
pub(crate) const LIST: &[Parameter] = &[Parameter::path_id("id", "The id of the list.")];
pub(crate) const POST_OF_USER: &[Parameter] =
    &[Parameter::path_id("post_id", "The id of the post.").aliases(&["tweet_id"])];
pub(crate) const EDGE: &[Parameter] = &[
    Parameter::path_id("source_user_id", "The id of the authenticated user."),
    Parameter::path_id("target_user_id", "The id of the target user."),
];
pub(crate) const WEBHOOK: &[Parameter] = &[Parameter::path_id("webhook_id", "The id of the webhook.")];

// Field sets.

pub(crate) const POST_FIELD: Parameter =
    Parameter::query("post.fields", Kind::custom(&FieldNames(ObjectKind::POST)), "Fields of the posts to return.")
        .aliases(&["tweet.fields"]);
pub(crate) const USER_FIELD: Parameter =
    Parameter::query("user.fields", Kind::custom(&FieldNames(ObjectKind::USER)), "Fields of the users to return.");
pub(crate) const MEDIA_FIELD: Parameter =
    Parameter::query("media.fields", Kind::custom(&FieldNames(ObjectKind::MEDIA)), "Fields of the media to return.");

pub(crate) const fn expansions_param(names: &'static ExpansionNames) -> Parameter {
    Parameter::query("expansions", Kind::custom(names), "Related objects to include in the response.")
}

pub(crate) const POST_FIELDS: &[Parameter] = &[
    POST_FIELD,
    expansions_param(&ExpansionNames(ObjectKind::POST)),
    MEDIA_FIELD,
    Parameter::query("poll.fields", Kind::custom(&FieldNames(ObjectKind::POLL)), "Fields of the polls to return."),
    Parameter::query("place.fields", Kind::custom(&FieldNames(ObjectKind::PLACE)), "Fields of the places to return."),
    USER_FIELD,
];
pub(crate) const USER_FIELDS: &[Parameter] =
    &[USER_FIELD, expansions_param(&ExpansionNames(ObjectKind::USER)), POST_FIELD];
pub(crate) const LIST_FIELDS: &[Parameter] = &[
    Parameter::query("list.fields", Kind::custom(&FieldNames(ObjectKind::LIST)), "Fields of the lists to return."),
    expansions_param(&ExpansionNames(ObjectKind::LIST)),
    USER_FIELD,
];
pub(crate) const SPACE_FIELDS: &[Parameter] = &[
    Parameter::query("space.fields", Kind::custom(&FieldNames(ObjectKind::SPACE)), "Fields of the spaces to return."),
    expansions_param(&ExpansionNames(ObjectKind::SPACE)),
    USER_FIELD,
    Parameter::query("topic.fields", Kind::custom(&FieldNames(ObjectKind::TOPIC)), "Fields of the topics to return."),
];
pub(crate) const DM_FIELDS: &[Parameter] = &[
    Parameter::query(
        "dm_event.fields",
        Kind::custom(&FieldNames(ObjectKind::DM_EVENT)),
        "Fields of the message events to return.",
    ),
    expansions_param(&ExpansionNames(ObjectKind::DM_EVENT)),
    USER_FIELD,
    POST_FIELD,
    MEDIA_FIELD,
];

pub(crate) const fn object_fields_param(name: &'static str, names: &'static FieldNames) -> Parameter {
    Parameter::query(name, Kind::custom(names), "Fields of the objects to return.")
}

/// For objects without a projection.
pub(crate) const fn plain_fields_param(name: &'static str, names: &'static [&'static str]) -> Parameter {
    Parameter::query(name, Kind::one_of(names).list(1, names.len()), "Fields of the objects to return.")
}

// Pages and time.

pub(crate) const PAGINATION_TOKEN: Parameter =
    Parameter::query("pagination_token", Kind::custom(&PageTokenText), "The page token from an earlier response.");
/// Alias of the page token in searches.
pub(crate) const NEXT_TOKEN: Parameter =
    Parameter::query("next_token", Kind::custom(&PageTokenText), "The page token from an earlier response.");

pub(crate) const fn max_results_param(min: i64, max: i64, default: i64) -> Parameter {
    Parameter::query("max_results", Kind::int(min, max), "The maximum number of results per page.")
        .default_number(default)
}

pub(crate) const fn page_params(min: i64, max: i64, default: i64) -> [Parameter; 2] {
    [max_results_param(min, max, default), PAGINATION_TOKEN.aliases(&["next_token"])]
}

pub(crate) const SPAN: &[Parameter] = &[START_TIME, END_TIME];
pub(crate) const START_TIME: Parameter = Parameter::query("start_time", Kind::TIME, "The earliest time, inclusive.");
pub(crate) const END_TIME: Parameter = Parameter::query("end_time", Kind::TIME, "The latest time, exclusive.");
pub(crate) const TIME_WINDOW: &[Parameter] = &[
    START_TIME,
    END_TIME,
    Parameter::query("since_id", Kind::ID, "Only posts newer than the post with this id."),
    Parameter::query("until_id", Kind::ID, "Only posts older than the post with this id."),
];
pub(crate) const EXCLUDE: &[Parameter] =
    &[Parameter::query("exclude", Kind::one_of(&["replies", "retweets"]).list(1, 2), "Kinds of posts to exclude.")];
pub(crate) const BACKFILL: &[Parameter] = &[Parameter::query(
    "backfill_minutes",
    Kind::int(0, 5),
    "Minutes of missed events to send first, after a lost connection.",
)
.default_number(0)];

pub(crate) const fn partition_param(max: i64) -> Parameter {
    Parameter::query("partition", Kind::int(1, max), "The partition of the stream.").default_number(1).as_required()
}

pub(crate) const fn query_param(max: usize) -> Parameter {
    Parameter::query("query", Kind::text(1, max), "What to search for.").as_required()
}

// Members of bodies.

pub(crate) const POST_ID: Parameter =
    Parameter::member_named(VocabularyWord::new("post_id", "tweet_id"), Kind::ID).as_required();
pub(crate) const TARGET: Parameter = Parameter::member("target_user_id", Kind::ID).as_required();

// Patterns.

pub(crate) static SPACE_ID: TextPattern = TextPattern {
    regex: "^[a-zA-Z0-9]{1,13}$",
    matches: |text| (1..=13).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_alphanumeric()),
};
pub(crate) static MEDIA_KEY: TextPattern = TextPattern {
    regex: "^([0-9]+)_([0-9]+)$",
    matches: |text| text.split_once('_').is_some_and(|(kind, id)| is_digits(kind) && is_digits(id)),
};
pub(crate) static CONVERSATION_ID: TextPattern = TextPattern {
    regex: "^([0-9]{1,19}-[0-9]{1,19}|[0-9]{15,19})$",
    matches: |text| match text.split_once('-') {
        Some((low, high)) => is_digits(low) && low.len() <= 19 && is_digits(high) && high.len() <= 19,
        None => is_digits(text) && (15..=19).contains(&text.len()),
    },
};
pub(crate) static USER_QUERY: TextPattern = TextPattern {
    regex: "^[A-Za-z0-9_' ]{1,50}$",
    matches: |text| {
        (1..=50).contains(&text.len())
            && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_' ".contains(&byte))
    },
};

fn is_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}
