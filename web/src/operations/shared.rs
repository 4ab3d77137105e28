//! What many declarations share: parameters, members of bodies, scopes and windows.

use base::{Permit, Scope, Scopes, VocabularyWord};
use view::ObjectKind;

use crate::endpoint::{
    BodyMember, Endpoint, EndpointParam, EndpointParamLocation, MemberShape, ParamType, RateWindow, SharedWindow,
    TextPattern,
};

/// The two scopes that nearly every operation asks for.
pub(crate) const READ: Scopes = Scopes::from_slice(&[Scope::TweetRead, Scope::UsersRead]);

/// A bound that does not bind: the operation judges the length itself.
pub(crate) const ANY_LENGTH: usize = usize::MAX;

/// `calls` in a second.
pub(crate) const fn per_second(calls: u32) -> RateWindow {
    RateWindow { calls, seconds: 1 }
}

/// `calls` in a minute.
pub(crate) const fn per_minute(calls: u32) -> RateWindow {
    RateWindow { calls, seconds: 60 }
}

/// What a user publishes, by posts and reposts together (contract §13, row 17).
pub(crate) static PUBLISHING: SharedWindow = SharedWindow {
    name: "posts and reposts",
    window: RateWindow {
        calls: 300,
        seconds: 10_800,
    },
};

impl Endpoint {
    /// Answers anyone; a credential, if one is due, is read by the operation.
    #[must_use]
    pub(crate) const fn allow_anonymous(self) -> Self {
        Self {
            permit: Permit::OPEN,
            ..self
        }
    }
}

impl EndpointParam {
    /// A parameter of the query that may be absent.
    pub(crate) const fn query(name: &'static str, param_type: ParamType, summary: &'static str) -> Self {
        Self {
            name,
            aliases: &[],
            location: EndpointParamLocation::Query,
            required: false,
            param_type,
            summary,
        }
    }

    /// A parameter of the path.
    pub(crate) const fn path(name: &'static str, kind: ParamType, about: &'static str) -> Self {
        Self {
            location: EndpointParamLocation::Path,
            required: true,
            ..Self::query(name, kind, about)
        }
    }

    /// An id in the path.
    pub(crate) const fn path_id(name: &'static str, about: &'static str) -> Self {
        Self::path(name, ParamType::Id, about)
    }

    /// It must be there.
    #[must_use]
    pub(crate) const fn as_required(self) -> Self {
        Self { required: true, ..self }
    }

    /// These names mean it too.
    #[must_use]
    pub(crate) const fn aliases(self, aliases: &'static [&'static str]) -> Self {
        Self { aliases, ..self }
    }
}

impl BodyMember {
    /// A member that is called the same in both vocabularies and may be absent.
    pub(crate) const fn new(name: &'static str, shape: MemberShape) -> Self {
        Self::from_names(VocabularyWord::same_in_both(name), shape)
    }

    /// A member that each vocabulary may call its own way.
    pub(crate) const fn from_names(name: VocabularyWord, shape: MemberShape) -> Self {
        Self {
            name,
            required: false,
            shape,
        }
    }

    /// It must be there.
    #[must_use]
    pub(crate) const fn as_required(self) -> Self {
        Self { required: true, ..self }
    }
}

// Paths.

/// The authenticated user's own id in the path.
pub(crate) const OWN: &[EndpointParam] = &[EndpointParam::path_id(
    "id",
    "The id of the user, who must be the authenticated user.",
)];
/// A user in the path.
pub(crate) const USER: &[EndpointParam] = &[EndpointParam::path_id("id", "The id of the user.")];
/// A post in the path.
pub(crate) const POST: &[EndpointParam] = &[EndpointParam::path_id("id", "The id of the post.")];
/// A list in the path.
pub(crate) const LIST: &[EndpointParam] = &[EndpointParam::path_id("id", "The id of the list.")];
/// A post in the path beside its user.
pub(crate) const POST_OF_USER: &[EndpointParam] =
    &[EndpointParam::path_id("post_id", "The id of the post.").aliases(&["tweet_id"])];
/// Source and target of an edge between users.
pub(crate) const EDGE: &[EndpointParam] = &[
    EndpointParam::path_id(
        "source_user_id",
        "The id of the user who acts, who must be the authenticated user.",
    ),
    EndpointParam::path_id("target_user_id", "The id of the user who is acted upon."),
];
/// A webhook in the path.
pub(crate) const WEBHOOK: &[EndpointParam] = &[EndpointParam::path_id("webhook_id", "The id of the webhook.")];

// Field sets.

/// Fields of posts.
pub(crate) const POST_FIELD: EndpointParam = EndpointParam::query(
    "post.fields",
    ParamType::Fields(ObjectKind::Post),
    "Fields of the posts that the answer carries.",
)
.aliases(&["tweet.fields"]);
/// Fields of users.
pub(crate) const USER_FIELD: EndpointParam = EndpointParam::query(
    "user.fields",
    ParamType::Fields(ObjectKind::User),
    "Fields of the users that the answer carries.",
);
/// Fields of media.
pub(crate) const MEDIA_FIELD: EndpointParam = EndpointParam::query(
    "media.fields",
    ParamType::Fields(ObjectKind::Media),
    "Fields of the media that the answer carries.",
);

/// What an object can lead to.
pub(crate) const fn expansions_param(of: ObjectKind) -> EndpointParam {
    EndpointParam::query(
        "expansions",
        ParamType::Expansions(of),
        "Objects that the answer shall include beside its own.",
    )
}

/// Fields and expansions of posts.
pub(crate) const POST_FIELDS: &[EndpointParam] = &[
    POST_FIELD,
    expansions_param(ObjectKind::Post),
    MEDIA_FIELD,
    EndpointParam::query(
        "poll.fields",
        ParamType::Fields(ObjectKind::Poll),
        "Fields of the polls that the answer carries.",
    ),
    EndpointParam::query(
        "place.fields",
        ParamType::Fields(ObjectKind::Place),
        "Fields of the places that the answer carries.",
    ),
    USER_FIELD,
];
/// Fields and expansions of users.
pub(crate) const USER_FIELDS: &[EndpointParam] = &[USER_FIELD, expansions_param(ObjectKind::User), POST_FIELD];
/// Fields and expansions of lists.
pub(crate) const LIST_FIELDS: &[EndpointParam] = &[
    EndpointParam::query(
        "list.fields",
        ParamType::Fields(ObjectKind::List),
        "Fields of the lists that the answer carries.",
    ),
    expansions_param(ObjectKind::List),
    USER_FIELD,
];
/// Fields and expansions of spaces.
pub(crate) const SPACE_FIELDS: &[EndpointParam] = &[
    EndpointParam::query(
        "space.fields",
        ParamType::Fields(ObjectKind::Space),
        "Fields of the spaces that the answer carries.",
    ),
    expansions_param(ObjectKind::Space),
    USER_FIELD,
    EndpointParam::query(
        "topic.fields",
        ParamType::Fields(ObjectKind::Topic),
        "Fields of the topics that the answer carries.",
    ),
];
/// Fields and expansions of direct-message events.
pub(crate) const DM_FIELDS: &[EndpointParam] = &[
    EndpointParam::query(
        "dm_event.fields",
        ParamType::Fields(ObjectKind::DmEvent),
        "Fields of the message events that the answer carries.",
    ),
    expansions_param(ObjectKind::DmEvent),
    USER_FIELD,
    POST_FIELD,
    MEDIA_FIELD,
];

/// Fields of an object.
pub(crate) const fn object_fields_param(name: &'static str, of: ObjectKind) -> EndpointParam {
    EndpointParam::query(
        name,
        ParamType::Fields(of),
        "Fields of the objects that the answer carries.",
    )
}

/// Fields of an object that has no projection of its own.
pub(crate) const fn plain_fields_param(name: &'static str, of: &'static [&'static str]) -> EndpointParam {
    EndpointParam::query(
        name,
        ParamType::SomeOf(of),
        "Fields of the objects that the answer carries.",
    )
}

// Pages and time.

/// A page token of an earlier answer.
pub(crate) const PAGINATION_TOKEN: EndpointParam = EndpointParam::query(
    "pagination_token",
    ParamType::PageToken,
    "The page to show, by the token that an earlier answer gave.",
);
/// The other name of the page token, in searches.
pub(crate) const NEXT_TOKEN: EndpointParam = EndpointParam::query(
    "next_token",
    ParamType::PageToken,
    "The page to show, by the token that an earlier answer gave.",
);

/// The size of a page, between bounds.
pub(crate) const fn max_results_param(least: i64, most: i64, default: i64) -> EndpointParam {
    EndpointParam::query(
        "max_results",
        ParamType::Int(least, most, default),
        "The most items that a page may hold.",
    )
}

/// The size of a page and its token.
pub(crate) const fn page_params(least: i64, most: i64, default: i64) -> [EndpointParam; 2] {
    [max_results_param(least, most, default), PAGINATION_TOKEN]
}

/// The earliest and the latest time.
pub(crate) const SPAN: &[EndpointParam] = &[START_TIME, END_TIME];
/// The earliest time.
pub(crate) const START_TIME: EndpointParam =
    EndpointParam::query("start_time", ParamType::Time, "The earliest time, included.");
/// The latest time.
pub(crate) const END_TIME: EndpointParam =
    EndpointParam::query("end_time", ParamType::Time, "The latest time, excluded.");
/// Times and ids between which posts are looked for.
pub(crate) const TIME_WINDOW: &[EndpointParam] = &[
    START_TIME,
    END_TIME,
    EndpointParam::query("since_id", ParamType::Id, "Only posts newer than the post of this id."),
    EndpointParam::query("until_id", ParamType::Id, "Only posts older than the post of this id."),
];
/// Kinds of posts that a timeline leaves out.
pub(crate) const EXCLUDE: &[EndpointParam] = &[EndpointParam::query(
    "exclude",
    ParamType::SomeOf(&["replies", "retweets"]),
    "Kinds of posts to leave out.",
)];
/// Minutes of a stream's past to send first.
pub(crate) const BACKFILL: &[EndpointParam] = &[EndpointParam::query(
    "backfill_minutes",
    ParamType::Int(0, 5, 0),
    "Minutes of the past to send first, for connections that were lost.",
)];

/// A partition of a stream.
pub(crate) const fn partition_param(most: i64) -> EndpointParam {
    EndpointParam::query("partition", ParamType::Int(1, most, 1), "The partition of the stream.").as_required()
}

/// The words to search for.
pub(crate) const fn query_param(most: usize) -> EndpointParam {
    EndpointParam::query("query", ParamType::Text(1, most), "What to search for.").as_required()
}

// Members of bodies.

/// The post that is acted upon.
pub(crate) const POST_ID: BodyMember =
    BodyMember::from_names(VocabularyWord::new("post_id", "tweet_id"), MemberShape::Id).as_required();
/// The user that is acted upon.
pub(crate) const TARGET: BodyMember = BodyMember::new("target_user_id", MemberShape::Id).as_required();

// Patterns.

/// The id of a space.
pub(crate) static SPACE_ID: TextPattern = TextPattern {
    regex: "^[a-zA-Z0-9]{1,13}$",
    matches: |text| (1..=13).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_alphanumeric()),
};
/// The key of a media.
pub(crate) static MEDIA_KEY: TextPattern = TextPattern {
    regex: "^([0-9]+)_([0-9]+)$",
    matches: |text| {
        text.split_once('_')
            .is_some_and(|(kind, id)| is_digits(kind) && is_digits(id))
    },
};
/// The id of a conversation, of two or of a group.
pub(crate) static CONVERSATION_ID: TextPattern = TextPattern {
    regex: "^([0-9]{1,19}-[0-9]{1,19}|[0-9]{15,19})$",
    matches: |text| match text.split_once('-') {
        Some((low, high)) => is_digits(low) && low.len() <= 19 && is_digits(high) && high.len() <= 19,
        None => is_digits(text) && (15..=19).contains(&text.len()),
    },
};
/// What users are searched by.
pub(crate) static USER_QUERY: TextPattern = TextPattern {
    regex: "^[A-Za-z0-9_' ]{1,50}$",
    matches: |text| {
        (1..=50).contains(&text.len())
            && text
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || b"_' ".contains(&byte))
    },
};

fn is_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}
