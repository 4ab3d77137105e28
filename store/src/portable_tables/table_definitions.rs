//! The definitions of the portable tables.

use super::{ColumnType, CounterUpdate, PortableColumn, TableDefinition};

use ColumnType::{
    Bytes, Foreign, Id, InRange, Json, Number, OneOf, OptReference, OptTime, Post, Posts, Reference, Stamp, Switch,
    Text, Time, User, UserOrNone, Users,
};

/// The query for a referenced row of each table.
pub(super) const REFERENCED_TABLES: &[(&str, &str)] = &[
    ("app", "SELECT 1 FROM app WHERE id = $1"),
    ("bookmark_folder", "SELECT 1 FROM bookmark_folder WHERE id = $1"),
    ("community", "SELECT 1 FROM community WHERE id = $1"),
    ("dm_conversation", "SELECT 1 FROM dm_conversation WHERE id = $1"),
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
        &[$(PortableColumn { name: stringify!($name), kind: $kind }),*]
    };
}

const fn define_table(name: &'static str, key: usize, columns: &'static [PortableColumn]) -> TableDefinition {
    TableDefinition {
        name,
        key_length: key,
        columns,
        row_filter: "",
        insert_condition: "",
        default_columns: ("", ""),
        counter_updates: &[],
    }
}

impl TableDefinition {
    const fn filtered_to(mut self, rows: &'static str) -> Self {
        self.row_filter = rows;
        self
    }

    const fn requiring(mut self, condition: &'static str) -> Self {
        self.insert_condition = condition;
        self
    }

    const fn starting_with(mut self, columns: &'static str, values: &'static str) -> Self {
        self.default_columns = (columns, values);
        self
    }

    const fn updating(mut self, steps: &'static [CounterUpdate]) -> Self {
        self.counter_updates = steps;
        self
    }
}

pub(super) const TABLES: &[TableDefinition] = &[
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
    MEDIA_METADATA,
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
    LINK_FACTS,
];

const PLACE: TableDefinition = define_table(
    "place",
    1,
    columns! {
        id: Foreign, name: Text, full_name: Text, country: Text, country_code: Text,
        kind: OneOf(&["unknown", "poi", "neighborhood", "city", "admin", "country"]), bbox: Json, contained_within: Text,
    },
);

/// Without credentials: an import creates new ones, which the owner finds in the portal.
const APP: TableDefinition = define_table(
    "app",
    1,
    columns! {
        id: Id, owner_id: User, name: Text, description: Text, website_url: Text,
        created_at: Time, state: InRange(0, 1),
        kind: OneOf(&["web", "automated", "native", "single-page"]),
        permission: OneOf(&["read", "write", "messages"]), request_email: Switch,
        sign_in: Switch, access_level: OneOf(&["self-serve", "enterprise"]),
        entitlements: Text, callback_urls: Text, vocabulary: OneOf(&["", "posts", "tweets"]),
    },
)
.filtered_to("state < 2");

const RULE: TableDefinition = define_table(
    "rule",
    1,
    columns! {
        id: Id, app_id: Reference("app"), product: OneOf(&["stream", "powerstream"]), value: Text, digest: Bytes, tag: Text,
        created_at: Time,
    },
);

const COMMUNITY: TableDefinition = define_table(
    "community",
    1,
    columns! {
        id: Id, name: Text, description: Text, access: OneOf(&["Public", "Closed"]),
        join_policy: Text, owner_id: User,
        created_at: Time,
    },
);

const COMMUNITY_MEMBER: TableDefinition =
    define_table("community_member", 2, columns! { community_id: Reference("community"), user_id: User, id: Stamp })
        .updating(&[("UPDATE community SET member_count = member_count + 1 WHERE id = $1", &["community_id"])]);

const SUBSCRIPTION: TableDefinition =
    define_table("subscription", 2, columns! { subscriber_id: User, author_id: User, id: Stamp }).requiring("$1 <> $2");

const AFFILIATE: TableDefinition =
    define_table("affiliate", 2, columns! { organization_id: User, user_id: User, id: Stamp })
        .requiring("$1 <> $2 AND EXISTS (SELECT 1 FROM users WHERE id = $2 AND affiliation <> '')");

const PARTICULARS: TableDefinition =
    define_table("particulars", 1, columns! { user_id: User, born_on: Text, gender: InRange(0, 2), phone: Text })
        .requiring("LENGTH($2) IN (0, 10) AND LENGTH($4) IN (0, 64)")
        .updating(&[("UPDATE users SET keyed = 0 WHERE id = $1", &["user_id"])]);

const BOOKMARK_FOLDER: TableDefinition =
    define_table("bookmark_folder", 1, columns! { id: Id, user_id: User, name: Text });

const BOOKMARK: TableDefinition = define_table("bookmark", 2, columns! { user_id: User, post_id: Post, id: Stamp })
    .filtered_to("post_id NOT IN (SELECT post_id FROM post_removal)")
    .updating(&[("UPDATE post SET bookmark_count = bookmark_count + 1 WHERE id = $1", &["post_id"])]);

const BOOKMARK_FILING: TableDefinition = define_table(
    "bookmark_filing",
    2,
    columns! { folder_id: Reference("bookmark_folder"), post_id: Post, user_id: User, id: Stamp },
)
.filtered_to("post_id NOT IN (SELECT post_id FROM post_removal)")
.requiring(
    "EXISTS (SELECT 1 FROM bookmark b JOIN bookmark_folder f ON f.user_id = b.user_id \
     WHERE f.id = $1 AND b.post_id = $2 AND b.user_id = $3)",
);

const HIDDEN_REPLY: TableDefinition = define_table("hidden_reply", 1, columns! { post_id: Post, hidden_at: Time });

const MEDIA_METADATA: TableDefinition =
    define_table("media_metadata", 1, columns! { media_id: Reference("media"), metadata: Json })
        .filtered_to("media_id IN (SELECT id FROM media)");

const MEDIA_SHARE: TableDefinition =
    define_table("media_share", 2, columns! { media_id: Reference("media"), user_id: User });

const MEDIA_TAG: TableDefinition = define_table("media_tag", 2, columns! { post_id: Post, user_id: User });

const SUBTITLE: TableDefinition = define_table(
    "subtitle",
    2,
    columns! { video_id: Reference("media"), language: Text, media_id: Reference("media"), display_name: Text },
);

const POLL: TableDefinition = define_table(
    "poll",
    1,
    columns! {
        id: Id, post_id: Post, duration_minutes: Number, ends_at: Time, closed_at: OptTime,
    },
)
.updating(&[("UPDATE post SET poll_id = $1 WHERE id = $2", &["id", "post_id"])]);

const POLL_OPTION: TableDefinition =
    define_table("poll_option", 2, columns! { poll_id: Reference("poll"), choice: Number, label: Text });

const POLL_VOTE: TableDefinition =
    define_table("poll_vote", 2, columns! { poll_id: Reference("poll"), user_id: User, choice: Number, at: Time })
        .requiring("EXISTS (SELECT 1 FROM poll_option WHERE poll_id = $1 AND choice = $3)")
        .updating(&[(
            "UPDATE poll_option SET votes = votes + 1 WHERE poll_id = $1 AND choice = $2",
            &["poll_id", "choice"],
        )]);

const LIST_FOLLOW: TableDefinition =
    define_table("list_follow", 2, columns! { list_id: Reference("list"), user_id: User, id: Stamp })
        .requiring("EXISTS (SELECT 1 FROM list WHERE id = $1 AND private = 0 AND deleted_at IS NULL)")
        .updating(&[("UPDATE list SET follower_count = follower_count + 1 WHERE id = $1", &["list_id"])]);

const LIST_PIN: TableDefinition =
    define_table("list_pin", 2, columns! { user_id: User, list_id: Reference("list"), id: Stamp }).requiring(
        "EXISTS (SELECT 1 FROM list WHERE id = $2 AND (private = 0 OR owner_id = $1) AND deleted_at IS NULL)",
    );

const SPACE_TOPIC: TableDefinition = define_table("space_topic", 1, columns! { id: Id, name: Text, description: Text });

const SPACE: TableDefinition = define_table(
    "space",
    1,
    columns! {
        id: Id, creator_id: User, state: InRange(0, 3), title: Text, lang: Text, ticketed: Switch,
        created_at: Time, updated_at: Time, scheduled_start: OptTime, started_at: OptTime,
        ended_at: OptTime,
    },
);

const SPACE_PART: TableDefinition = define_table(
    "space_part",
    3,
    columns! { space_id: Reference("space"), role: InRange(0, 5), user_id: User, id: Stamp },
)
.updating(&[
    (
        "UPDATE space SET participant_count = participant_count + 1 WHERE id = $1 AND CAST($2 AS BIGINT) = 3",
        &["space_id", "role"],
    ),
    (
        "UPDATE space SET subscriber_count = subscriber_count + 1 WHERE id = $1 AND CAST($2 AS BIGINT) = 4",
        &["space_id", "role"],
    ),
]);

const SPACE_SUBJECT: TableDefinition =
    define_table("space_subject", 2, columns! { space_id: Reference("space"), topic_id: Reference("space_topic") });

const SPACE_POST: TableDefinition =
    define_table("space_post", 2, columns! { space_id: Reference("space"), post_id: Post, id: Stamp });

const DM_CONVERSATION: TableDefinition =
    define_table("dm_conversation", 1, columns! { id: Id, lower_id: UserOrNone, higher_id: UserOrNone })
        .requiring("$2 <= $3");

const DM_PARTICIPANT: TableDefinition = define_table(
    "dm_participant",
    2,
    columns! { conversation_id: Reference("dm_conversation"), user_id: User, id: Stamp, read_id: Stamp },
)
.requiring(
    "EXISTS (SELECT 1 FROM dm_conversation WHERE id = $1 AND (lower_id = 0 OR lower_id = $2 OR higher_id = $2))",
);

const DM_EVENT: TableDefinition = define_table(
    "dm_event",
    1,
    columns! {
        id: Id, conversation_id: Reference("dm_conversation"), kind: InRange(0, 2), sender_id: User,
        app_id: OptReference("app"), text: Text, entities: Json, media_id: OptReference("media"),
        media_key: Text, post_ids: Posts, participant_ids: Users,
    },
)
.starting_with(", copies", ", 0")
.updating(&[("UPDATE media SET message_uses = message_uses + 1 WHERE id = $1", &["media_id"])]);

const DM_INBOX: TableDefinition = define_table(
    "dm_inbox",
    3,
    columns! {
        user_id: User, kind: InRange(0, 2), event_id: Reference("dm_event"),
        conversation_id: Reference("dm_conversation"),
    },
)
.requiring(
    "EXISTS (SELECT 1 FROM dm_event e JOIN dm_participant p ON p.conversation_id = e.conversation_id \
     AND p.user_id = $1 WHERE e.id = $3 AND e.kind = $2 AND e.conversation_id = $4)",
)
.updating(&[("UPDATE dm_event SET copies = copies + 1 WHERE id = $1", &["event_id"])]);

const NOTE_WRITER: TableDefinition = define_table("note_writer", 1, columns! { user_id: User, at: Time });

const NOTE: TableDefinition = define_table(
    "note",
    1,
    columns! {
        id: Id, author_id: User, post_id: Post, test_mode: Switch, text: Text,
        classification: OneOf(&["misinformed_or_potentially_misleading", "not_misleading"]), misleading_tags: Text, trustworthy_sources: Switch,
        media_note: Switch, score: Number,
    },
);

const NOTE_RATING: TableDefinition =
    define_table("note_rating", 2, columns! { note_id: Reference("note"), user_id: User, helpful: Switch, at: Time })
        .updating(&[(
            "UPDATE note SET helpful = helpful + CAST($1 AS BIGINT), \
     not_helpful = not_helpful + 1 - CAST($1 AS BIGINT) WHERE id = $2",
            &["helpful", "note_id"],
        )]);

const NOTE_REQUEST: TableDefinition =
    define_table("note_request", 2, columns! { post_id: Post, user_id: User, at: Time });

const LINK_FACTS: TableDefinition = define_table(
    "link_facts",
    1,
    columns! {
        digest: Foreign, url: Text, unwound_url: Text, status: InRange(0, 599), title: Text, description: Text,
        images: Json, updated_at: Time,
    },
)
.filtered_to("fetched = 0");

const STORY: TableDefinition = define_table(
    "story",
    1,
    columns! {
        id: Id, topic: Text, state: InRange(0, 1), name: Text, category: Text, hook: Text,
        summary: Text, disclaimer: Text, post_ids: Posts, created_at: Time, updated_at: Time,
    },
)
.filtered_to("state < 2");
