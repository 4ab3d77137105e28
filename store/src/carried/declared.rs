//! The carried tables.

use super::{Column, Declared, Kind, Step};

use Kind::{
    Among, Bytes, Foreign, Id, Json, Number, Of, OneOf, OptOf, OptTime, Post, Posts, Stamp, Switch,
    Text, Time, User, UserOrNone, Users,
};

/// How a row is looked for that others refer to.
pub(super) const REFERRED: &[(&str, &str)] = &[
    ("app", "SELECT 1 FROM app WHERE id = $1"),
    (
        "bookmark_folder",
        "SELECT 1 FROM bookmark_folder WHERE id = $1",
    ),
    ("community", "SELECT 1 FROM community WHERE id = $1"),
    (
        "dm_conversation",
        "SELECT 1 FROM dm_conversation WHERE id = $1",
    ),
    ("dm_event", "SELECT 1 FROM dm_event WHERE id = $1"),
    ("list", "SELECT 1 FROM list WHERE id = $1"),
    ("media", "SELECT 1 FROM media WHERE id = $1"),
    ("note", "SELECT 1 FROM note WHERE id = $1"),
    ("poll", "SELECT 1 FROM poll WHERE id = $1"),
    ("space", "SELECT 1 FROM space WHERE id = $1"),
    ("space_topic", "SELECT 1 FROM space_topic WHERE id = $1"),
];

macro_rules! columns {
    ($($name:ident: $kind:expr),* $(,)?) => {
        &[$(Column { name: stringify!($name), kind: $kind }),*]
    };
}

const fn table(name: &'static str, key: usize, columns: &'static [Column]) -> Declared {
    Declared {
        name,
        key,
        columns,
        only: "",
        needs: "",
        begins: ("", ""),
        steps: &[],
    }
}

impl Declared {
    const fn only(mut self, rows: &'static str) -> Self {
        self.only = rows;
        self
    }

    const fn needs(mut self, what: &'static str) -> Self {
        self.needs = what;
        self
    }

    const fn begins(mut self, columns: &'static str, values: &'static str) -> Self {
        self.begins = (columns, values);
        self
    }

    const fn moves(mut self, steps: &'static [Step]) -> Self {
        self.steps = steps;
        self
    }
}

pub(super) const TABLES: &[Declared] = &[
    PLACE,
    APP,
    RULE,
    COMMUNITY,
    COMMUNITY_MEMBER,
    SUBSCRIPTION,
    AFFILIATE,
    PARTICULARS,
    BOOKMARK_FOLDER,
    BOOKMARK,
    BOOKMARK_FILING,
    HIDDEN_REPLY,
    MEDIA_SHARE,
    MEDIA_TAG,
    SUBTITLE,
    POLL,
    POLL_OPTION,
    POLL_VOTE,
    LIST_FOLLOW,
    LIST_PIN,
    SPACE_TOPIC,
    SPACE,
    SPACE_PART,
    SPACE_SUBJECT,
    SPACE_POST,
    DM_CONVERSATION,
    DM_PARTICIPANT,
    DM_EVENT,
    DM_INBOX,
    NOTE_WRITER,
    NOTE,
    NOTE_RATING,
    NOTE_REQUEST,
    STORY,
];

const PLACE: Declared = table(
    "place",
    1,
    columns! {
        id: Foreign, name: Text, full_name: Text, country: Text, country_code: Text,
        kind: OneOf(&["unknown", "poi", "neighborhood", "city", "admin", "country"]), bbox: Json, contained_within: Text,
    },
);

/// Without its keys: an import makes new ones, which their owner finds in the portal.
const APP: Declared = table(
    "app",
    1,
    columns! {
        id: Id, owner_id: User, name: Text, description: Text, website_url: Text,
        created_at: Time, state: Among(0, 1),
        kind: OneOf(&["web", "automated", "native", "single-page"]),
        permission: OneOf(&["read", "write", "messages"]), request_email: Switch,
        sign_in: Switch, access_level: OneOf(&["self-serve", "enterprise"]),
        entitlements: Text, callback_urls: Text, vocabulary: OneOf(&["", "posts", "tweets"]),
    },
)
.only("state < 2");

const RULE: Declared = table(
    "rule",
    1,
    columns! {
        id: Id, app_id: Of("app"), product: OneOf(&["stream", "powerstream"]), value: Text, digest: Bytes, tag: Text,
        created_at: Time,
    },
);

const COMMUNITY: Declared = table(
    "community",
    1,
    columns! {
        id: Id, name: Text, description: Text, access: OneOf(&["Public", "Closed"]),
        join_policy: Text, owner_id: User,
        created_at: Time,
    },
);

const COMMUNITY_MEMBER: Declared = table(
    "community_member",
    2,
    columns! { community_id: Of("community"), user_id: User, id: Stamp },
)
.moves(&[(
    "UPDATE community SET member_count = member_count + 1 WHERE id = $1",
    &["community_id"],
)]);

const SUBSCRIPTION: Declared = table(
    "subscription",
    2,
    columns! { subscriber_id: User, author_id: User, id: Stamp },
)
.needs("$1 <> $2");

const AFFILIATE: Declared = table(
    "affiliate",
    2,
    columns! { organization_id: User, user_id: User, id: Stamp },
)
.needs("$1 <> $2 AND EXISTS (SELECT 1 FROM users WHERE id = $2 AND affiliation <> '')");

const PARTICULARS: Declared = table(
    "particulars",
    1,
    columns! { user_id: User, born_on: Text, gender: Among(0, 2), phone: Text },
)
.needs("LENGTH($2) IN (0, 10) AND LENGTH($4) IN (0, 64)")
.moves(&[("UPDATE users SET keyed = 0 WHERE id = $1", &["user_id"])]);

const BOOKMARK_FOLDER: Declared = table(
    "bookmark_folder",
    1,
    columns! { id: Id, user_id: User, name: Text },
);

const BOOKMARK: Declared = table(
    "bookmark",
    2,
    columns! { user_id: User, post_id: Post, id: Stamp },
)
.moves(&[(
    "UPDATE post SET bookmark_count = bookmark_count + 1 WHERE id = $1",
    &["post_id"],
)]);

const BOOKMARK_FILING: Declared = table(
    "bookmark_filing",
    2,
    columns! { folder_id: Of("bookmark_folder"), post_id: Post, user_id: User, id: Stamp },
)
.needs(
    "EXISTS (SELECT 1 FROM bookmark b JOIN bookmark_folder f ON f.user_id = b.user_id \
     WHERE f.id = $1 AND b.post_id = $2 AND b.user_id = $3)",
);

const HIDDEN_REPLY: Declared = table(
    "hidden_reply",
    1,
    columns! { post_id: Post, hidden_at: Time },
);

const MEDIA_SHARE: Declared = table(
    "media_share",
    2,
    columns! { media_id: Of("media"), user_id: User },
);

const MEDIA_TAG: Declared = table("media_tag", 2, columns! { post_id: Post, user_id: User });

const SUBTITLE: Declared = table(
    "subtitle",
    2,
    columns! { video_id: Of("media"), language: Text, media_id: Of("media"), display_name: Text },
);

const POLL: Declared = table(
    "poll",
    1,
    columns! {
        id: Id, post_id: Post, duration_minutes: Number, ends_at: Time, closed_at: OptTime,
    },
)
.moves(&[(
    "UPDATE post SET poll_id = $1 WHERE id = $2",
    &["id", "post_id"],
)]);

const POLL_OPTION: Declared = table(
    "poll_option",
    2,
    columns! { poll_id: Of("poll"), choice: Number, label: Text },
);

const POLL_VOTE: Declared = table(
    "poll_vote",
    2,
    columns! { poll_id: Of("poll"), user_id: User, choice: Number, at: Time },
)
.needs("EXISTS (SELECT 1 FROM poll_option WHERE poll_id = $1 AND choice = $3)")
.moves(&[(
    "UPDATE poll_option SET votes = votes + 1 WHERE poll_id = $1 AND choice = $2",
    &["poll_id", "choice"],
)]);

const LIST_FOLLOW: Declared = table(
    "list_follow",
    2,
    columns! { list_id: Of("list"), user_id: User, id: Stamp },
)
.needs("EXISTS (SELECT 1 FROM list WHERE id = $1 AND private = 0 AND deleted_at IS NULL)")
.moves(&[(
    "UPDATE list SET follower_count = follower_count + 1 WHERE id = $1",
    &["list_id"],
)]);

const LIST_PIN: Declared = table(
    "list_pin",
    2,
    columns! { user_id: User, list_id: Of("list"), id: Stamp },
)
.needs(
    "EXISTS (SELECT 1 FROM list WHERE id = $2 AND (private = 0 OR owner_id = $1) \
     AND deleted_at IS NULL)",
);

const SPACE_TOPIC: Declared = table(
    "space_topic",
    1,
    columns! { id: Id, name: Text, description: Text },
);

const SPACE: Declared = table(
    "space",
    1,
    columns! {
        id: Id, creator_id: User, state: Among(0, 3), title: Text, lang: Text, ticketed: Switch,
        created_at: Time, updated_at: Time, scheduled_start: OptTime, started_at: OptTime,
        ended_at: OptTime,
    },
);

const SPACE_PART: Declared = table(
    "space_part",
    3,
    columns! { space_id: Of("space"), role: Among(0, 5), user_id: User, id: Stamp },
)
.moves(&[
    (
        "UPDATE space SET participant_count = participant_count + 1 \
         WHERE id = $1 AND CAST($2 AS BIGINT) = 3",
        &["space_id", "role"],
    ),
    (
        "UPDATE space SET subscriber_count = subscriber_count + 1 \
         WHERE id = $1 AND CAST($2 AS BIGINT) = 4",
        &["space_id", "role"],
    ),
]);

const SPACE_SUBJECT: Declared = table(
    "space_subject",
    2,
    columns! { space_id: Of("space"), topic_id: Of("space_topic") },
);

const SPACE_POST: Declared = table(
    "space_post",
    2,
    columns! { space_id: Of("space"), post_id: Post, id: Stamp },
);

const DM_CONVERSATION: Declared = table(
    "dm_conversation",
    1,
    columns! { id: Id, lower_id: UserOrNone, higher_id: UserOrNone },
)
.needs("$2 <= $3");

const DM_PARTICIPANT: Declared = table(
    "dm_participant",
    2,
    columns! { conversation_id: Of("dm_conversation"), user_id: User, id: Stamp, read_id: Stamp },
)
.needs(
    "EXISTS (SELECT 1 FROM dm_conversation WHERE id = $1 \
     AND (lower_id = 0 OR lower_id = $2 OR higher_id = $2))",
);

const DM_EVENT: Declared = table(
    "dm_event",
    1,
    columns! {
        id: Id, conversation_id: Of("dm_conversation"), kind: Among(0, 2), sender_id: User,
        app_id: OptOf("app"), text: Text, entities: Json, media_id: OptOf("media"),
        media_key: Text, post_ids: Posts, participant_ids: Users,
    },
)
.begins(", copies", ", 0")
.moves(&[(
    "UPDATE media SET message_uses = message_uses + 1 WHERE id = $1",
    &["media_id"],
)]);

const DM_INBOX: Declared = table(
    "dm_inbox",
    3,
    columns! {
        user_id: User, kind: Among(0, 2), event_id: Of("dm_event"),
        conversation_id: Of("dm_conversation"),
    },
)
.needs(
    "EXISTS (SELECT 1 FROM dm_event e JOIN dm_participant p \
     ON p.conversation_id = e.conversation_id AND p.user_id = $1 \
     WHERE e.id = $3 AND e.kind = $2 AND e.conversation_id = $4)",
)
.moves(&[(
    "UPDATE dm_event SET copies = copies + 1 WHERE id = $1",
    &["event_id"],
)]);

const NOTE_WRITER: Declared = table("note_writer", 1, columns! { user_id: User, at: Time });

const NOTE: Declared = table(
    "note",
    1,
    columns! {
        id: Id, author_id: User, post_id: Post, test_mode: Switch, text: Text,
        classification: OneOf(&["misinformed_or_potentially_misleading", "not_misleading"]), misleading_tags: Text, trustworthy_sources: Switch,
        media_note: Switch, score: Number,
    },
);

const NOTE_RATING: Declared = table(
    "note_rating",
    2,
    columns! { note_id: Of("note"), user_id: User, helpful: Switch, at: Time },
)
.moves(&[(
    "UPDATE note SET helpful = helpful + CAST($1 AS BIGINT), \
     not_helpful = not_helpful + 1 - CAST($1 AS BIGINT) WHERE id = $2",
    &["helpful", "note_id"],
)]);

const NOTE_REQUEST: Declared = table(
    "note_request",
    2,
    columns! { post_id: Post, user_id: User, at: Time },
);

const STORY: Declared = table(
    "story",
    1,
    columns! {
        id: Id, topic: Text, state: Among(0, 1), name: Text, category: Text, hook: Text,
        summary: Text, disclaimer: Text, post_ids: Posts, created_at: Time, updated_at: Time,
    },
)
.only("state < 2");
