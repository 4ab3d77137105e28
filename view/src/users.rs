//! User fields and expansions.

use base::{PostId, UserId, VocabularyWord};
use network::visibility::DmPolicy;
use serde_json::Value;
use store::users::User;

use crate::field_schema::{ExpansionTarget, FieldAudience, JsonFieldType, JsonMember};
use crate::json_writer::JsonWriter;
use crate::loaded_objects::LoadedObjects;
use crate::object::{IncludedKind, ObjectExpansion, ObjectField, ObjectKind, RenderedObject, audience_mask};

#[derive(Clone, Copy)]
pub(crate) struct UserRenderContext<'a> {
    pub(crate) user: &'a User,
    pub(crate) objects: &'a LoadedObjects,
}

impl UserRenderContext<'_> {
    fn is_viewer(self) -> bool {
        self.objects.viewer.user == Some(self.user.id)
    }

    fn is_subscriber(self) -> bool {
        self.objects.relations.subscribers.contains(&self.user.id)
    }

    /// None if the viewer may not see it.
    fn most_recent_post(self) -> Option<PostId> {
        self.user.most_recent_post_id.filter(|post| !self.objects.hidden_posts.contains_key(post))
    }
}

/// Fields that depend on the viewer.
pub(crate) const USERS_ONLY: u64 = audience_mask(FIELDS, FieldAudience::Users);
const OWNER_ONLY: u64 = audience_mask(FIELDS, FieldAudience::Owner);

const START: JsonMember = JsonMember::new("start", JsonFieldType::Int);
const END: JsonMember = JsonMember::new("end", JsonFieldType::Int);

const IMAGE: JsonFieldType = JsonFieldType::Object(&[
    JsonMember::new("url", JsonFieldType::Text),
    JsonMember::new("width", JsonFieldType::Int),
    JsonMember::new("height", JsonFieldType::Int),
]);

const URL: JsonFieldType = JsonFieldType::Object(&[
    START,
    END,
    JsonMember::new("url", JsonFieldType::Text),
    JsonMember::new("expanded_url", JsonFieldType::Text),
    JsonMember::new("display_url", JsonFieldType::Text),
    JsonMember::new("unwound_url", JsonFieldType::Text),
    JsonMember::new("status", JsonFieldType::Int),
    JsonMember::new("title", JsonFieldType::Text),
    JsonMember::new("description", JsonFieldType::Text),
    JsonMember::new("images", JsonFieldType::List(&IMAGE)),
    JsonMember::new("media_key", JsonFieldType::Text),
]);

const TAG_ENTITY: JsonFieldType = JsonFieldType::Object(&[START, END, JsonMember::new("tag", JsonFieldType::Text)]);

const MENTION: JsonFieldType = JsonFieldType::Object(&[
    START,
    END,
    JsonMember::new("username", JsonFieldType::Text),
    JsonMember::new("id", JsonFieldType::Id),
]);

const ANNOTATION: JsonFieldType = JsonFieldType::Object(&[
    START,
    END,
    JsonMember::new("probability", JsonFieldType::Real),
    JsonMember::new("type", JsonFieldType::OneOf(&["Person", "Place", "Product", "Organization", "Other"])),
    JsonMember::new("normalized_text", JsonFieldType::Text),
]);

pub(crate) const ENTITIES: &[JsonMember] = &[
    JsonMember::new("urls", JsonFieldType::List(&URL)),
    JsonMember::new("hashtags", JsonFieldType::List(&TAG_ENTITY)),
    JsonMember::new("mentions", JsonFieldType::List(&MENTION)),
    JsonMember::new("cashtags", JsonFieldType::List(&TAG_ENTITY)),
    JsonMember::new("annotations", JsonFieldType::List(&ANNOTATION)),
];

const PUBLIC_METRICS: &[JsonMember] = &[
    JsonMember::new("followers_count", JsonFieldType::Int),
    JsonMember::new("following_count", JsonFieldType::Int),
    JsonMember::per_vocabulary("post_count", "tweet_count", JsonFieldType::Int),
    JsonMember::new("listed_count", JsonFieldType::Int),
    JsonMember::new("like_count", JsonFieldType::Int),
    JsonMember::new("media_count", JsonFieldType::Int),
];

const CONNECTION_STATUSES: &[&str] =
    &["follow_request_received", "follow_request_sent", "blocking", "followed_by", "following", "muting"];

type UserField = ObjectField<User>;
type UserExpansion = ObjectExpansion<User>;

impl RenderedObject for User {
    type Context<'a> = UserRenderContext<'a>;

    const NAME: VocabularyWord = VocabularyWord::same_in_both("User");
    const FIELDS_PARAM: VocabularyWord = VocabularyWord::same_in_both("user.fields");
    const FIELDS: &'static [ObjectField<Self>] = FIELDS;
    const EXPANSIONS: &'static [ObjectExpansion<Self>] = EXPANSIONS;
    const INCLUDED: Option<(IncludedKind, VocabularyWord)> =
        Some((IncludedKind::User, VocabularyWord::same_in_both("users")));

    fn visible_fields(ctx: UserRenderContext<'_>, mask: u64) -> u64 {
        let users_only = if ctx.objects.viewer.user.is_none() { USERS_ONLY } else { 0 };
        let owner_only = if ctx.is_viewer() { 0 } else { OWNER_ONLY };
        mask & !users_only & !owner_only
    }
}

impl ObjectKind {
    pub const USER: Self = User::KIND;
}

const FIELDS: &[UserField] = &[
    UserField::default_field("id", JsonFieldType::Id, "Id of the user.")
        .writer(|out, ctx| out.write_id(ctx.user.id.get())),
    UserField::default_field("name", JsonFieldType::Text, "The display name.")
        .writer(|out, ctx| out.write_text(&ctx.user.name)),
    UserField::default_field("username", JsonFieldType::Text, "The handle.")
        .writer(|out, ctx| out.write_text(&ctx.user.username)),
    UserField::requested_field("created_at", JsonFieldType::Time, "When the account was made.")
        .writer(|out, ctx| out.write_time(ctx.user.created_at)),
    UserField::requested_field("description", JsonFieldType::Text, "The biography.")
        .writer(|out, ctx| out.write_nonempty_text(&ctx.user.description)),
    UserField::requested_field("location", JsonFieldType::Text, "The place that the profile names.")
        .writer(|out, ctx| out.write_nonempty_text(&ctx.user.location)),
    UserField::requested_field("url", JsonFieldType::Text, "The address that the profile names.")
        .writer(|out, ctx| out.write_nonempty_text(&ctx.user.url)),
    UserField::requested_field("profile_image_url", JsonFieldType::Text, "Address of the picture.")
        .writer(|out, ctx| out.write_nonempty_text(&ctx.user.profile_image_url)),
    UserField::requested_field("profile_banner_url", JsonFieldType::Text, "Address of the banner.")
        .writer(|out, ctx| out.write_nonempty_text(&ctx.user.profile_banner_url)),
    UserField::requested_field(
        "entities",
        JsonFieldType::Object(&[
            JsonMember::new("url", JsonFieldType::Object(ENTITIES)),
            JsonMember::new("description", JsonFieldType::Object(ENTITIES)),
        ]),
        "Links, hashtags, mentions and cashtags of the profile.",
    )
    .writer(|out, ctx| out.write_raw(&ctx.user.entities)),
    UserField::requested_field("protected", JsonFieldType::Bool, "Posts are for approved followers only.")
        .writer(|out, ctx| out.write_bool(ctx.user.protected)),
    UserField::requested_field("verified", JsonFieldType::Bool, "Verified.")
        .writer(|out, ctx| out.write_bool(ctx.user.verified)),
    UserField::requested_field(
        "verified_type",
        JsonFieldType::OneOf(&["blue", "business", "government", "none"]),
        "The kind of verification.",
    )
    .writer(|out, ctx| out.write_nonempty_text(&ctx.user.verified_type)),
    UserField::requested_field("verified_followers_count", JsonFieldType::Int, "Verified followers.")
        .writer(|out, ctx| out.write_int(ctx.user.verified_followers_count)),
    UserField::requested_field("parody", JsonFieldType::Bool, "Marked as a parody.")
        .writer(|out, ctx| out.write_bool(ctx.user.parody)),
    UserField::requested_field("is_identity_verified", JsonFieldType::Bool, "Identity checked.")
        .writer(|out, ctx| out.write_bool(ctx.user.is_identity_verified)),
    UserField::requested_field(
        "public_metrics",
        JsonFieldType::Object(PUBLIC_METRICS),
        "Figures that everyone may see.",
    )
    .writer(write_public_metrics),
    UserField::requested_field("pinned_post_id", JsonFieldType::Id, "The pinned post.")
        .tweet_name("pinned_tweet_id")
        .writer(|out, ctx| out.write_option(ctx.user.pinned_post_id, |out, post| out.write_id(post.get()))),
    UserField::requested_field("most_recent_post_id", JsonFieldType::Id, "The newest post.")
        .tweet_name("most_recent_tweet_id")
        .writer(|out, ctx| out.write_option(ctx.most_recent_post(), |out, post| out.write_id(post.get()))),
    UserField::requested_field(
        "affiliation",
        JsonFieldType::Object(&[
            JsonMember::new("badge_url", JsonFieldType::Text),
            JsonMember::new("description", JsonFieldType::Text),
            JsonMember::new("url", JsonFieldType::Text),
            JsonMember::new("user_id", JsonFieldType::List(&JsonFieldType::Id)),
        ]),
        "The organization it belongs to.",
    )
    .writer(|out, ctx| out.write_raw(&ctx.user.affiliation)),
    UserField::requested_field(
        "withheld",
        JsonFieldType::Object(&[
            JsonMember::new("country_codes", JsonFieldType::List(&JsonFieldType::Text)),
            JsonMember::new("scope", JsonFieldType::OneOf(&["user"])),
        ]),
        "Where it is withheld.",
    )
    .writer(|out, ctx| out.write_raw(&ctx.user.withheld)),
    UserField::requested_field(
        "subscription_type",
        JsonFieldType::OneOf(&["None", "Basic", "Premium", "PremiumPlus"]),
        "The subscription; `None` for anyone but oneself.",
    )
    .writer(write_subscription_type),
    UserField::requested_field(
        "subscription",
        JsonFieldType::Object(&[JsonMember::new("subscribes_to_you", JsonFieldType::Bool)]),
        "Whether it subscribes to the viewer.",
    )
    .restrict_to(FieldAudience::Users)
    .writer(write_subscription),
    UserField::requested_field("subscribes_to_you", JsonFieldType::Bool, "Whether it subscribes to the viewer.")
        .restrict_to(FieldAudience::Users)
        .writer(|out, ctx| out.write_bool(ctx.is_subscriber())),
    UserField::requested_field(
        "connection_status",
        JsonFieldType::List(&JsonFieldType::OneOf(CONNECTION_STATUSES)),
        "How it and the viewer are connected.",
    )
    .restrict_to(FieldAudience::Users)
    .writer(write_connection_status),
    UserField::requested_field(
        "receives_your_dm",
        JsonFieldType::Bool,
        "Whether it takes direct messages from the viewer.",
    )
    .restrict_to(FieldAudience::Users)
    .writer(write_receives_your_dm),
    UserField::requested_field("confirmed_email", JsonFieldType::Text, "One's own confirmed email address.")
        .restrict_to(FieldAudience::Owner)
        .writer(write_confirmed_email),
];

const EXPANSIONS: &[UserExpansion] = &[
    UserExpansion::new("pinned_post_id", "pinned_post_id")
        .tweet_name("pinned_tweet_id")
        .resolver(|ctx, to| to.extend(ctx.user.pinned_post_id.map(ExpansionTarget::Post))),
    UserExpansion::new("most_recent_post_id", "most_recent_post_id")
        .tweet_name("most_recent_tweet_id")
        .resolver(|ctx, to| to.extend(ctx.most_recent_post().map(ExpansionTarget::Post))),
    UserExpansion::new("affiliation", "affiliation").tweet_name("affiliation.user_id").resolver(push_affiliated_users),
];

fn write_public_metrics(out: &mut JsonWriter, ctx: UserRenderContext<'_>) {
    let user = ctx.user;
    out.write_object(|out| {
        out.write_count(VocabularyWord::same_in_both("followers_count"), user.followers_count);
        out.write_count(VocabularyWord::same_in_both("following_count"), user.following_count);
        out.write_count(VocabularyWord::new("post_count", "tweet_count"), user.post_count);
        out.write_count(VocabularyWord::same_in_both("listed_count"), user.listed_count);
        out.write_count(VocabularyWord::same_in_both("like_count"), user.like_count);
        out.write_count(VocabularyWord::same_in_both("media_count"), user.media_count);
    });
}

fn write_subscription_type(out: &mut JsonWriter, ctx: UserRenderContext<'_>) {
    out.write_nonempty_text(if ctx.is_viewer() { &ctx.user.subscription_type } else { "None" });
}

fn write_subscription(out: &mut JsonWriter, ctx: UserRenderContext<'_>) {
    let subscribes = ctx.is_subscriber();
    out.write_object(|out| out.write_plain_member("subscribes_to_you", |out| out.write_bool(subscribes)));
}

fn write_connection_status(out: &mut JsonWriter, ctx: UserRenderContext<'_>) {
    let (kin, id) = (&ctx.objects.relations, ctx.user.id);
    let ties = [
        ("follow_request_received", &kin.request_received),
        ("follow_request_sent", &kin.request_sent),
        ("blocking", &kin.blocking),
        ("followed_by", &kin.followed_by),
        ("following", &kin.following),
        ("muting", &kin.muting),
    ];
    let ties = || ties.iter().filter(|(_, users)| users.contains(&id)).map(|(name, _)| *name);
    if ties().next().is_some() {
        out.write_array(ties(), JsonWriter::write_nonempty_text);
    }
}

fn write_receives_your_dm(out: &mut JsonWriter, ctx: UserRenderContext<'_>) {
    let (kin, user) = (&ctx.objects.relations, ctx.user);
    let letterbox = DmPolicy {
        open: user.receives_dm,
        follows: kin.followed_by.contains(&user.id),
        has_written: kin.correspondents.contains(&user.id),
        blocks: [&kin.blocked_by, &kin.dm_blocked_by, &kin.blocking].iter().any(|users| users.contains(&user.id)),
    };
    out.write_bool(letterbox.accepts_messages());
}

fn write_confirmed_email(out: &mut JsonWriter, ctx: UserRenderContext<'_>) {
    if ctx.objects.email_allowed && ctx.user.email_confirmed {
        out.write_nonempty_text(&ctx.user.email);
    }
}

fn push_affiliated_users<'a>(ctx: UserRenderContext<'a>, targets: &mut Vec<ExpansionTarget<'a>>) {
    let parsed: Option<Value> = serde_json::from_str(&ctx.user.affiliation).ok();
    let ids = parsed.as_ref().and_then(|parsed| parsed.get("user_id")?.as_array());
    let ids = ids.into_iter().flatten();
    targets.extend(ids.filter_map(|id| UserId::parse(id.as_str()?)).map(ExpansionTarget::User));
}
