//! Parameters, body members, scopes and windows that many declarations share.

use base::{Scope, Scopes, VocabularyWord};
use view::ObjectKind;
use web::endpoint::{BodyMember, EndpointParam, MemberShape, ParamType, RateWindow, SharedWindow, TextPattern};

/// Required by nearly every operation.
pub(crate) const READ: Scopes = Scopes::from_slice(&[Scope::TweetRead, Scope::UsersRead]);

/// Posts and reposts of a user together (contract core §13.17).
pub(crate) static PUBLISHING: SharedWindow =
    SharedWindow { name: "posts and reposts", window: RateWindow { calls: 300, seconds: 10_800 } };

// Paths.

pub(crate) const OWN: &[EndpointParam] = &[EndpointParam::path_id("id", "The id of the authenticated user.")];
pub(crate) const USER: &[EndpointParam] = &[EndpointParam::path_id("id", "The id of the user.")];
pub(crate) const POST: &[EndpointParam] = &[EndpointParam::path_id("id", "The id of the post.")];
pub(crate) const LIST: &[EndpointParam] = &[EndpointParam::path_id("id", "The id of the list.")];
pub(crate) const POST_OF_USER: &[EndpointParam] =
    &[EndpointParam::path_id("post_id", "The id of the post.").aliases(&["tweet_id"])];
pub(crate) const EDGE: &[EndpointParam] = &[
    EndpointParam::path_id("source_user_id", "The id of the authenticated user."),
    EndpointParam::path_id("target_user_id", "The id of the target user."),
];
pub(crate) const WEBHOOK: &[EndpointParam] = &[EndpointParam::path_id("webhook_id", "The id of the webhook.")];

// Field sets.

pub(crate) const POST_FIELD: EndpointParam =
    EndpointParam::query("post.fields", ParamType::Fields(ObjectKind::POST), "Fields of the posts to return.")
        .aliases(&["tweet.fields"]);
pub(crate) const USER_FIELD: EndpointParam =
    EndpointParam::query("user.fields", ParamType::Fields(ObjectKind::USER), "Fields of the users to return.");
pub(crate) const MEDIA_FIELD: EndpointParam =
    EndpointParam::query("media.fields", ParamType::Fields(ObjectKind::MEDIA), "Fields of the media to return.");

pub(crate) const fn expansions_param(object: ObjectKind) -> EndpointParam {
    EndpointParam::query("expansions", ParamType::Expansions(object), "Related objects to include in the response.")
}

pub(crate) const POST_FIELDS: &[EndpointParam] = &[
    POST_FIELD,
    expansions_param(ObjectKind::POST),
    MEDIA_FIELD,
    EndpointParam::query("poll.fields", ParamType::Fields(ObjectKind::POLL), "Fields of the polls to return."),
    EndpointParam::query("place.fields", ParamType::Fields(ObjectKind::PLACE), "Fields of the places to return."),
    USER_FIELD,
];
pub(crate) const USER_FIELDS: &[EndpointParam] = &[USER_FIELD, expansions_param(ObjectKind::USER), POST_FIELD];
pub(crate) const LIST_FIELDS: &[EndpointParam] = &[
    EndpointParam::query("list.fields", ParamType::Fields(ObjectKind::LIST), "Fields of the lists to return."),
    expansions_param(ObjectKind::LIST),
    USER_FIELD,
];
pub(crate) const SPACE_FIELDS: &[EndpointParam] = &[
    EndpointParam::query("space.fields", ParamType::Fields(ObjectKind::SPACE), "Fields of the spaces to return."),
    expansions_param(ObjectKind::SPACE),
    USER_FIELD,
    EndpointParam::query("topic.fields", ParamType::Fields(ObjectKind::TOPIC), "Fields of the topics to return."),
];
pub(crate) const DM_FIELDS: &[EndpointParam] = &[
    EndpointParam::query(
        "dm_event.fields",
        ParamType::Fields(ObjectKind::DM_EVENT),
        "Fields of the message events to return.",
    ),
    expansions_param(ObjectKind::DM_EVENT),
    USER_FIELD,
    POST_FIELD,
    MEDIA_FIELD,
];

pub(crate) const fn object_fields_param(name: &'static str, object: ObjectKind) -> EndpointParam {
    EndpointParam::query(name, ParamType::Fields(object), "Fields of the objects to return.")
}

/// For objects without a projection.
pub(crate) const fn plain_fields_param(name: &'static str, names: &'static [&'static str]) -> EndpointParam {
    EndpointParam::query(name, ParamType::SomeOf(names), "Fields of the objects to return.")
}

// Pages and time.

pub(crate) const PAGINATION_TOKEN: EndpointParam =
    EndpointParam::query("pagination_token", ParamType::PageToken, "The page token from an earlier response.");
/// Alias of the page token in searches.
pub(crate) const NEXT_TOKEN: EndpointParam =
    EndpointParam::query("next_token", ParamType::PageToken, "The page token from an earlier response.");

pub(crate) const fn max_results_param(min: i64, max: i64, default: i64) -> EndpointParam {
    EndpointParam::query("max_results", ParamType::Int(min, max, default), "The maximum number of results per page.")
}

pub(crate) const fn page_params(min: i64, max: i64, default: i64) -> [EndpointParam; 2] {
    [max_results_param(min, max, default), PAGINATION_TOKEN]
}

pub(crate) const SPAN: &[EndpointParam] = &[START_TIME, END_TIME];
pub(crate) const START_TIME: EndpointParam =
    EndpointParam::query("start_time", ParamType::Time, "The earliest time, inclusive.");
pub(crate) const END_TIME: EndpointParam =
    EndpointParam::query("end_time", ParamType::Time, "The latest time, exclusive.");
pub(crate) const TIME_WINDOW: &[EndpointParam] = &[
    START_TIME,
    END_TIME,
    EndpointParam::query("since_id", ParamType::Id, "Only posts newer than the post with this id."),
    EndpointParam::query("until_id", ParamType::Id, "Only posts older than the post with this id."),
];
pub(crate) const EXCLUDE: &[EndpointParam] =
    &[EndpointParam::query("exclude", ParamType::SomeOf(&["replies", "retweets"]), "Kinds of posts to exclude.")];
pub(crate) const BACKFILL: &[EndpointParam] = &[EndpointParam::query(
    "backfill_minutes",
    ParamType::Int(0, 5, 0),
    "Minutes of missed events to send first, after a lost connection.",
)];

pub(crate) const fn partition_param(max: i64) -> EndpointParam {
    EndpointParam::query("partition", ParamType::Int(1, max, 1), "The partition of the stream.").as_required()
}

pub(crate) const fn query_param(max: usize) -> EndpointParam {
    EndpointParam::query("query", ParamType::Text(1, max), "What to search for.").as_required()
}

// Members of bodies.

pub(crate) const POST_ID: BodyMember =
    BodyMember::from_names(VocabularyWord::new("post_id", "tweet_id"), MemberShape::Id).as_required();
pub(crate) const TARGET: BodyMember = BodyMember::new("target_user_id", MemberShape::Id).as_required();

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
