//! Users: their fields and what those lead to.

use base::{UserId, VocabularyWord};
use network::visibility::DmPolicy;
use serde_json::Value;
use store::users::User;

use crate::Object;
use crate::out::Out;
use crate::shown::{Audience, Expansion, Json, Member, Shown, Write};
use crate::wants::bits_for;
use crate::world::{Target, World};

/// A user and what is known around them.
#[derive(Clone, Copy)]
pub(crate) struct UserFacts<'a> {
    pub(crate) user: &'a User,
    pub(crate) world: &'a World,
}

impl UserFacts<'_> {
    fn is_viewer(self) -> bool {
        self.world.viewer.user == Some(self.user.id)
    }

    /// Whether this user subscribes to the viewer.
    fn subscribes(self) -> bool {
        self.world.kin.subscribers.contains(&self.user.id)
    }
}

const USERS_ONLY: u64 = bits_for(FIELDS, Audience::Users);
const OWNER_ONLY: u64 = bits_for(FIELDS, Audience::Owner);

/// Writes a user with the fields of a mask.
pub(crate) fn write(out: &mut Out, facts: UserFacts<'_>, mask: u64) {
    let mut seen = mask;
    if facts.world.viewer.user.is_none() {
        seen &= !USERS_ONLY;
    }
    if !facts.is_viewer() {
        seen &= !OWNER_ONLY;
    }
    out.record(FIELDS, seen, |out, write| {
        if let Write::User(write) = write {
            write(out, facts);
        }
    });
}

const START: Member = Member::new("start", Json::Int);
const END: Member = Member::new("end", Json::Int);

const IMAGE: Json = Json::Object(&[
    Member::new("url", Json::Text),
    Member::new("width", Json::Int),
    Member::new("height", Json::Int),
]);

const URL: Json = Json::Object(&[
    START,
    END,
    Member::new("url", Json::Text),
    Member::new("expanded_url", Json::Text),
    Member::new("display_url", Json::Text),
    Member::new("unwound_url", Json::Text),
    Member::new("status", Json::Int),
    Member::new("title", Json::Text),
    Member::new("description", Json::Text),
    Member::new("images", Json::List(&IMAGE)),
    Member::new("media_key", Json::Text),
]);

const TAG: Json = Json::Object(&[START, END, Member::new("tag", Json::Text)]);

const MENTION: Json = Json::Object(&[
    START,
    END,
    Member::new("username", Json::Text),
    Member::new("id", Json::Id),
]);

const ANNOTATION: Json = Json::Object(&[
    START,
    END,
    Member::new("probability", Json::Real),
    Member::new(
        "type",
        Json::OneOf(&["Person", "Place", "Product", "Organization", "Other"]),
    ),
    Member::new("normalized_text", Json::Text),
]);

/// What a text points to.
pub(crate) const ENTITIES: &[Member] = &[
    Member::new("urls", Json::List(&URL)),
    Member::new("hashtags", Json::List(&TAG)),
    Member::new("mentions", Json::List(&MENTION)),
    Member::new("cashtags", Json::List(&TAG)),
    Member::new("annotations", Json::List(&ANNOTATION)),
];

const PUBLIC_METRICS: &[Member] = &[
    Member::new("followers_count", Json::Int),
    Member::new("following_count", Json::Int),
    Member::words("post_count", "tweet_count", Json::Int),
    Member::new("listed_count", Json::Int),
    Member::new("like_count", Json::Int),
    Member::new("media_count", Json::Int),
];

const CONNECTIONS: &[&str] = &[
    "follow_request_received",
    "follow_request_sent",
    "blocking",
    "followed_by",
    "following",
    "muting",
];

pub(crate) const FIELDS: &[Shown] = &[
    Shown::always("id", Json::Id, "Id of the user.").user(|out, facts| out.id(facts.user.id.get())),
    Shown::always("name", Json::Text, "The display name.")
        .user(|out, facts| out.quoted(&facts.user.name)),
    Shown::always("username", Json::Text, "The handle.")
        .user(|out, facts| out.quoted(&facts.user.username)),
    Shown::asked("created_at", Json::Time, "When the account was made.")
        .user(|out, facts| out.time(facts.user.created_at)),
    Shown::asked("description", Json::Text, "The biography.")
        .user(|out, facts| out.text(&facts.user.description)),
    Shown::asked("location", Json::Text, "The place that the profile names.")
        .user(|out, facts| out.text(&facts.user.location)),
    Shown::asked("url", Json::Text, "The address that the profile names.")
        .user(|out, facts| out.text(&facts.user.url)),
    Shown::asked("profile_image_url", Json::Text, "Address of the picture.")
        .user(|out, facts| out.text(&facts.user.profile_image_url)),
    Shown::asked("profile_banner_url", Json::Text, "Address of the banner.")
        .user(|out, facts| out.text(&facts.user.profile_banner_url)),
    Shown::asked(
        "entities",
        Json::Object(&[
            Member::new("url", Json::Object(ENTITIES)),
            Member::new("description", Json::Object(ENTITIES)),
        ]),
        "Links, hashtags, mentions and cashtags of the profile.",
    )
    .user(|out, facts| out.raw(&facts.user.entities)),
    Shown::asked(
        "protected",
        Json::Bool,
        "Posts are for approved followers only.",
    )
    .user(|out, facts| out.bool(facts.user.protected)),
    Shown::asked("verified", Json::Bool, "Verified.")
        .user(|out, facts| out.bool(facts.user.verified)),
    Shown::asked(
        "verified_type",
        Json::OneOf(&["blue", "business", "government", "none"]),
        "The kind of verification.",
    )
    .user(|out, facts| out.text(&facts.user.verified_type)),
    Shown::asked("verified_followers_count", Json::Int, "Verified followers.")
        .user(|out, facts| out.int(facts.user.verified_followers_count)),
    Shown::asked("parody", Json::Bool, "Marked as a parody.")
        .user(|out, facts| out.bool(facts.user.parody)),
    Shown::asked("is_identity_verified", Json::Bool, "Identity checked.")
        .user(|out, facts| out.bool(facts.user.is_identity_verified)),
    Shown::asked(
        "public_metrics",
        Json::Object(PUBLIC_METRICS),
        "Figures that everyone may see.",
    )
    .user(public_metrics),
    Shown::asked("pinned_post_id", Json::Id, "The pinned post.")
        .tweet("pinned_tweet_id")
        .user(pinned),
    Shown::asked("most_recent_post_id", Json::Id, "The newest post.")
        .tweet("most_recent_tweet_id")
        .user(most_recent),
    Shown::asked(
        "affiliation",
        Json::Object(&[
            Member::new("badge_url", Json::Text),
            Member::new("description", Json::Text),
            Member::new("url", Json::Text),
            Member::new("user_id", Json::List(&Json::Id)),
        ]),
        "The organization it belongs to.",
    )
    .user(|out, facts| out.raw(&facts.user.affiliation)),
    Shown::asked(
        "withheld",
        Json::Object(&[
            Member::new("country_codes", Json::List(&Json::Text)),
            Member::new("scope", Json::OneOf(&["user"])),
        ]),
        "Where it is withheld.",
    )
    .user(|out, facts| out.raw(&facts.user.withheld)),
    Shown::asked(
        "subscription_type",
        Json::OneOf(&["None", "Basic", "Premium", "PremiumPlus"]),
        "The subscription; `None` for anyone but oneself.",
    )
    .user(subscription_type),
    Shown::asked(
        "subscription",
        Json::Object(&[Member::new("subscribes_to_you", Json::Bool)]),
        "Whether it subscribes to the viewer.",
    )
    .only_for(Audience::Users)
    .user(subscription),
    Shown::asked(
        "subscribes_to_you",
        Json::Bool,
        "Whether it subscribes to the viewer.",
    )
    .only_for(Audience::Users)
    .user(|out, facts| out.bool(facts.subscribes())),
    Shown::asked(
        "connection_status",
        Json::List(&Json::OneOf(CONNECTIONS)),
        "How it and the viewer are connected.",
    )
    .only_for(Audience::Users)
    .user(connection_status),
    Shown::asked(
        "receives_your_dm",
        Json::Bool,
        "Whether it takes direct messages from the viewer.",
    )
    .only_for(Audience::Users)
    .user(receives_your_dm),
    Shown::asked(
        "confirmed_email",
        Json::Text,
        "One's own confirmed email address.",
    )
    .only_for(Audience::Owner)
    .user(confirmed_email),
];

pub(crate) const EXPANSIONS: &[Expansion] = &[
    Expansion::new("pinned_post_id", Object::Post, "pinned_post_id")
        .tweet("pinned_tweet_id")
        .by_user(to_pinned),
    Expansion::new("most_recent_post_id", Object::Post, "most_recent_post_id")
        .tweet("most_recent_tweet_id")
        .by_user(to_most_recent),
    Expansion::new("affiliation", Object::User, "affiliation")
        .tweet("affiliation.user_id")
        .by_user(to_affiliation),
];

fn public_metrics(out: &mut Out, facts: UserFacts<'_>) {
    let user = facts.user;
    out.object(|out| {
        out.count(
            VocabularyWord::same_in_both("followers_count"),
            user.followers_count,
        );
        out.count(
            VocabularyWord::same_in_both("following_count"),
            user.following_count,
        );
        out.count(
            VocabularyWord::new("post_count", "tweet_count"),
            user.post_count,
        );
        out.count(
            VocabularyWord::same_in_both("listed_count"),
            user.listed_count,
        );
        out.count(VocabularyWord::same_in_both("like_count"), user.like_count);
        out.count(
            VocabularyWord::same_in_both("media_count"),
            user.media_count,
        );
    });
}

fn pinned(out: &mut Out, facts: UserFacts<'_>) {
    if let Some(post) = facts.user.pinned_post_id {
        out.id(post.get());
    }
}

fn most_recent(out: &mut Out, facts: UserFacts<'_>) {
    if let Some(post) = facts.user.most_recent_post_id {
        out.id(post.get());
    }
}

fn subscription_type(out: &mut Out, facts: UserFacts<'_>) {
    out.text(if facts.is_viewer() {
        &facts.user.subscription_type
    } else {
        "None"
    });
}

fn subscription(out: &mut Out, facts: UserFacts<'_>) {
    let subscribes = facts.subscribes();
    out.object(|out| {
        out.member(VocabularyWord::same_in_both("subscribes_to_you"), |out| {
            out.bool(subscribes)
        })
    });
}

fn connection_status(out: &mut Out, facts: UserFacts<'_>) {
    let (kin, id) = (&facts.world.kin, facts.user.id);
    let ties = [
        ("follow_request_received", &kin.request_received),
        ("follow_request_sent", &kin.request_sent),
        ("blocking", &kin.blocking),
        ("followed_by", &kin.followed_by),
        ("following", &kin.following),
        ("muting", &kin.muting),
    ];
    let ties = || {
        ties.iter()
            .filter(|(_, users)| users.contains(&id))
            .map(|(name, _)| *name)
    };
    if ties().next().is_some() {
        out.array(ties(), Out::text);
    }
}

fn receives_your_dm(out: &mut Out, facts: UserFacts<'_>) {
    let (kin, user) = (&facts.world.kin, facts.user);
    let letterbox = DmPolicy {
        open: user.receives_dm,
        follows: kin.followed_by.contains(&user.id),
        blocks: kin.blocked_by.contains(&user.id) || kin.dm_blocked_by.contains(&user.id),
    };
    out.bool(letterbox.accepts_messages());
}

fn confirmed_email(out: &mut Out, facts: UserFacts<'_>) {
    if facts.world.email && facts.user.email_confirmed {
        out.text(&facts.user.email);
    }
}

fn to_pinned<'a>(facts: UserFacts<'a>, to: &mut Vec<Target<'a>>) {
    to.extend(facts.user.pinned_post_id.map(Target::Post));
}

fn to_most_recent<'a>(facts: UserFacts<'a>, to: &mut Vec<Target<'a>>) {
    to.extend(facts.user.most_recent_post_id.map(Target::Post));
}

fn to_affiliation<'a>(facts: UserFacts<'a>, to: &mut Vec<Target<'a>>) {
    let parsed: Option<Value> = serde_json::from_str(&facts.user.affiliation).ok();
    let ids = parsed
        .as_ref()
        .and_then(|parsed| parsed.get("user_id")?.as_array());
    let ids = ids.into_iter().flatten();
    to.extend(
        ids.filter_map(|id| UserId::parse(id.as_str()?))
            .map(Target::User),
    );
}
