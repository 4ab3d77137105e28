//! What many declarations share: parameters, members of bodies, scopes and windows.

use base::{Permit, Scope, Scopes, VocabularyWord};
use view::ObjectKind;

use crate::endpoint::{Endpoint, Kind, Member, Param, Pattern, Place, Shape, Shared, Window};

/// The two scopes that nearly every operation asks for.
pub(crate) const READ: Scopes = Scopes::from_slice(&[Scope::TweetRead, Scope::UsersRead]);

/// A bound that does not bind: the operation judges the length itself.
pub(crate) const ANY_LENGTH: usize = usize::MAX;

/// `calls` in a second.
pub(crate) const fn second(calls: u32) -> Window {
    Window { calls, seconds: 1 }
}

/// `calls` in a minute.
pub(crate) const fn minute(calls: u32) -> Window {
    Window { calls, seconds: 60 }
}

/// What a user publishes, by posts and reposts together (contract §13, row 17).
pub(crate) static PUBLISHING: Shared = Shared {
    name: "posts and reposts",
    window: Window {
        calls: 300,
        seconds: 10_800,
    },
};

impl Endpoint {
    /// Answers anyone; a credential, if one is due, is read by the operation.
    #[must_use]
    pub(crate) const fn open(self) -> Self {
        Self {
            permit: Permit::OPEN,
            ..self
        }
    }
}

impl Param {
    /// A parameter of the query that may be absent.
    pub(crate) const fn query(name: &'static str, kind: Kind, about: &'static str) -> Self {
        Self {
            name,
            aliases: &[],
            place: Place::Query,
            required: false,
            kind,
            about,
        }
    }

    /// A parameter of the path.
    pub(crate) const fn path(name: &'static str, kind: Kind, about: &'static str) -> Self {
        Self {
            place: Place::Path,
            required: true,
            ..Self::query(name, kind, about)
        }
    }

    /// An id in the path.
    pub(crate) const fn id(name: &'static str, about: &'static str) -> Self {
        Self::path(name, Kind::Id, about)
    }

    /// It must be there.
    #[must_use]
    pub(crate) const fn required(self) -> Self {
        Self {
            required: true,
            ..self
        }
    }

    /// These names mean it too.
    #[must_use]
    pub(crate) const fn also(self, aliases: &'static [&'static str]) -> Self {
        Self { aliases, ..self }
    }
}

impl Member {
    /// A member that is called the same in both vocabularies and may be absent.
    pub(crate) const fn new(name: &'static str, shape: Shape) -> Self {
        Self::worded(VocabularyWord::same_in_both(name), shape)
    }

    /// A member that each vocabulary may call its own way.
    pub(crate) const fn worded(name: VocabularyWord, shape: Shape) -> Self {
        Self {
            name,
            required: false,
            shape,
        }
    }

    /// It must be there.
    #[must_use]
    pub(crate) const fn required(self) -> Self {
        Self {
            required: true,
            ..self
        }
    }
}

// Paths.

/// The authenticated user's own id in the path.
pub(crate) const OWN: &[Param] = &[Param::id(
    "id",
    "The id of the user, who must be the authenticated user.",
)];
/// A user in the path.
pub(crate) const USER: &[Param] = &[Param::id("id", "The id of the user.")];
/// A post in the path.
pub(crate) const POST: &[Param] = &[Param::id("id", "The id of the post.")];
/// A list in the path.
pub(crate) const LIST: &[Param] = &[Param::id("id", "The id of the list.")];
/// A post in the path beside its user.
pub(crate) const POST_OF_USER: &[Param] =
    &[Param::id("post_id", "The id of the post.").also(&["tweet_id"])];
/// Source and target of an edge between users.
pub(crate) const EDGE: &[Param] = &[
    Param::id(
        "source_user_id",
        "The id of the user who acts, who must be the authenticated user.",
    ),
    Param::id("target_user_id", "The id of the user who is acted upon."),
];
/// A webhook in the path.
pub(crate) const WEBHOOK: &[Param] = &[Param::id("webhook_id", "The id of the webhook.")];

// Field sets.

/// Fields of posts.
pub(crate) const POST_FIELD: Param = Param::query(
    "post.fields",
    Kind::Fields(ObjectKind::Post),
    "Fields of the posts that the answer carries.",
)
.also(&["tweet.fields"]);
/// Fields of users.
pub(crate) const USER_FIELD: Param = Param::query(
    "user.fields",
    Kind::Fields(ObjectKind::User),
    "Fields of the users that the answer carries.",
);
/// Fields of media.
pub(crate) const MEDIA_FIELD: Param = Param::query(
    "media.fields",
    Kind::Fields(ObjectKind::Media),
    "Fields of the media that the answer carries.",
);

/// What an object can lead to.
pub(crate) const fn expansions(of: ObjectKind) -> Param {
    Param::query(
        "expansions",
        Kind::Expansions(of),
        "Objects that the answer shall include beside its own.",
    )
}

/// Fields and expansions of posts.
pub(crate) const POST_FIELDS: &[Param] = &[
    POST_FIELD,
    expansions(ObjectKind::Post),
    MEDIA_FIELD,
    Param::query(
        "poll.fields",
        Kind::Fields(ObjectKind::Poll),
        "Fields of the polls that the answer carries.",
    ),
    Param::query(
        "place.fields",
        Kind::Fields(ObjectKind::Place),
        "Fields of the places that the answer carries.",
    ),
    USER_FIELD,
];
/// Fields and expansions of users.
pub(crate) const USER_FIELDS: &[Param] = &[USER_FIELD, expansions(ObjectKind::User), POST_FIELD];
/// Fields and expansions of lists.
pub(crate) const LIST_FIELDS: &[Param] = &[
    Param::query(
        "list.fields",
        Kind::Fields(ObjectKind::List),
        "Fields of the lists that the answer carries.",
    ),
    expansions(ObjectKind::List),
    USER_FIELD,
];
/// Fields and expansions of spaces.
pub(crate) const SPACE_FIELDS: &[Param] = &[
    Param::query(
        "space.fields",
        Kind::Fields(ObjectKind::Space),
        "Fields of the spaces that the answer carries.",
    ),
    expansions(ObjectKind::Space),
    USER_FIELD,
    Param::query(
        "topic.fields",
        Kind::Fields(ObjectKind::Topic),
        "Fields of the topics that the answer carries.",
    ),
];
/// Fields and expansions of direct-message events.
pub(crate) const DM_FIELDS: &[Param] = &[
    Param::query(
        "dm_event.fields",
        Kind::Fields(ObjectKind::DmEvent),
        "Fields of the message events that the answer carries.",
    ),
    expansions(ObjectKind::DmEvent),
    USER_FIELD,
    POST_FIELD,
    MEDIA_FIELD,
];

/// Fields of an object.
pub(crate) const fn object_fields(name: &'static str, of: ObjectKind) -> Param {
    Param::query(
        name,
        Kind::Fields(of),
        "Fields of the objects that the answer carries.",
    )
}

/// Fields of an object that has no projection of its own.
pub(crate) const fn plain_fields(name: &'static str, of: &'static [&'static str]) -> Param {
    Param::query(
        name,
        Kind::SomeOf(of),
        "Fields of the objects that the answer carries.",
    )
}

// Pages and time.

/// A page token of an earlier answer.
pub(crate) const PAGINATION_TOKEN: Param = Param::query(
    "pagination_token",
    Kind::PageToken,
    "The page to show, by the token that an earlier answer gave.",
);
/// The other name of the page token, in searches.
pub(crate) const NEXT_TOKEN: Param = Param::query(
    "next_token",
    Kind::PageToken,
    "The page to show, by the token that an earlier answer gave.",
);

/// The size of a page, between bounds.
pub(crate) const fn max_results(least: i64, most: i64, default: i64) -> Param {
    Param::query(
        "max_results",
        Kind::Int(least, most, default),
        "The most items that a page may hold.",
    )
}

/// The size of a page and its token.
pub(crate) const fn page(least: i64, most: i64, default: i64) -> [Param; 2] {
    [max_results(least, most, default), PAGINATION_TOKEN]
}

/// The earliest and the latest time.
pub(crate) const SPAN: &[Param] = &[START_TIME, END_TIME];
/// The earliest time.
pub(crate) const START_TIME: Param =
    Param::query("start_time", Kind::Time, "The earliest time, included.");
/// The latest time.
pub(crate) const END_TIME: Param =
    Param::query("end_time", Kind::Time, "The latest time, excluded.");
/// Times and ids between which posts are looked for.
pub(crate) const TIME_WINDOW: &[Param] = &[
    START_TIME,
    END_TIME,
    Param::query(
        "since_id",
        Kind::Id,
        "Only posts newer than the post of this id.",
    ),
    Param::query(
        "until_id",
        Kind::Id,
        "Only posts older than the post of this id.",
    ),
];
/// Kinds of posts that a timeline leaves out.
pub(crate) const EXCLUDE: &[Param] = &[Param::query(
    "exclude",
    Kind::SomeOf(&["replies", "retweets"]),
    "Kinds of posts to leave out.",
)];
/// Minutes of a stream's past to send first.
pub(crate) const BACKFILL: &[Param] = &[Param::query(
    "backfill_minutes",
    Kind::Int(0, 5, 0),
    "Minutes of the past to send first, for connections that were lost.",
)];

/// A partition of a stream.
pub(crate) const fn partition(most: i64) -> Param {
    Param::query(
        "partition",
        Kind::Int(1, most, 1),
        "The partition of the stream.",
    )
    .required()
}

/// The words to search for.
pub(crate) const fn query(most: usize) -> Param {
    Param::query("query", Kind::Text(1, most), "What to search for.").required()
}

// Members of bodies.

/// The post that is acted upon.
pub(crate) const POST_ID: Member =
    Member::worded(VocabularyWord::new("post_id", "tweet_id"), Shape::Id).required();
/// The user that is acted upon.
pub(crate) const TARGET: Member = Member::new("target_user_id", Shape::Id).required();

// Patterns.

/// The id of a space.
pub(crate) static SPACE_ID: Pattern = Pattern {
    text: "^[a-zA-Z0-9]{1,13}$",
    holds: |text| {
        (1..=13).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_alphanumeric())
    },
};
/// The key of a media.
pub(crate) static MEDIA_KEY: Pattern = Pattern {
    text: "^([0-9]+)_([0-9]+)$",
    holds: |text| {
        text.split_once('_')
            .is_some_and(|(kind, id)| digits(kind) && digits(id))
    },
};
/// The id of a conversation, of two or of a group.
pub(crate) static CONVERSATION_ID: Pattern = Pattern {
    text: "^([0-9]{1,19}-[0-9]{1,19}|[0-9]{15,19})$",
    holds: |text| match text.split_once('-') {
        Some((low, high)) => digits(low) && low.len() <= 19 && digits(high) && high.len() <= 19,
        None => digits(text) && (15..=19).contains(&text.len()),
    },
};
/// What users are searched by.
pub(crate) static USER_QUERY: Pattern = Pattern {
    text: "^[A-Za-z0-9_' ]{1,50}$",
    holds: |text| {
        (1..=50).contains(&text.len())
            && text
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || b"_' ".contains(&byte))
    },
};

fn digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}
