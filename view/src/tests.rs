//! Hand-made records, rendered in both vocabularies.

mod events;
mod loading;
mod names;
mod posts;
mod shape;
mod short_links;
mod users;

use base::{Id, PostId, Time, UserId, Vocabulary};
use network::visibility::Viewer;
use serde_json::Value;
use store::media::Media;
use store::posts::{Post, PostState};
use store::users::User;

use crate::loaded_objects::LoadedObjects;
use crate::{FieldSelection, ObjectKind, RenderOptions, RenderRequest, ResponsePayload};

pub(crate) const POSTS: RenderOptions =
    RenderOptions { vocabulary: Vocabulary::Post, both_metric_names: false, newer_models: false };
pub(crate) const TWEETS: RenderOptions =
    RenderOptions { vocabulary: Vocabulary::Tweet, both_metric_names: false, newer_models: false };

pub(crate) const ALL_KINDS: [ObjectKind; 20] = [
    ObjectKind::POST,
    ObjectKind::USER,
    ObjectKind::MEDIA,
    ObjectKind::POLL,
    ObjectKind::PLACE,
    ObjectKind::LIST,
    ObjectKind::SPACE,
    ObjectKind::TOPIC,
    ObjectKind::DM_EVENT,
    ObjectKind::COMMUNITY,
    ObjectKind::NEWS,
    ObjectKind::NOTE,
    ObjectKind::TREND,
    ObjectKind::PERSONALIZED_TREND,
    ObjectKind::USAGE,
    ObjectKind::CONNECTION,
    ObjectKind::COMPLIANCE_JOB,
    ObjectKind::RULES_COUNT,
    ObjectKind::SEARCH_COUNT,
    ObjectKind::LIKE,
];

/// 2026-11-21T04:05:06.789Z
pub(crate) const NOW: Time = Time::from_ms(1_795_233_906_789);

/// The id of a post created that many minutes before `NOW`.
pub(crate) fn post_id(minutes: i64) -> PostId {
    PostId::new(base::id::first_snowflake_at(NOW.plus_ms(-60_000 * minutes)))
}

pub(crate) fn user(number: i64, username: &str) -> User {
    User::new(UserId::new(number), username, NOW.plus_ms(-86_400_000))
}

pub(crate) fn post(id: PostId, author: i64, text: &str) -> Post {
    Post {
        id,
        author_id: UserId::new(author),
        created_at: id.created_at(),
        state: PostState::Live,
        text: text.to_owned(),
        lang: "en".to_owned(),
        conversation_id: id,
        in_reply_to_post_id: None,
        in_reply_to_user_id: None,
        quoted_post_id: None,
        repost_of_id: None,
        edit_root_id: None,
        edits_remaining: 5,
        community_id: None,
        place_id: None,
        card_uri: String::new(),
        reply_settings: "everyone".to_owned(),
        nullcast: false,
        followers_only: false,
        possibly_sensitive: false,
        paid_partnership: false,
        made_with_ai: false,
        entities: String::new(),
        short_entities: String::new(),
        context_annotations: String::new(),
        display_start: 0,
        display_end: i64::try_from(text.chars().count()).unwrap(),
        media_keys: String::new(),
        poll_id: None,
        geo: String::new(),
        withheld: String::new(),
        app_id: None,
        unshared: false,
        members_only: false,
        limited: false,
        like_count: 1,
        reply_count: 2,
        repost_count: 3,
        quote_count: 4,
        bookmark_count: 5,
        impression_count: 6,
    }
}

pub(crate) fn media(id: i64, kind: &str, owner: i64) -> Media {
    Media {
        media_key: format!("3_{id}"),
        id: Id::new(id),
        owner_id: UserId::new(owner),
        kind: kind.to_owned(),
        path: String::new(),
        url: String::new(),
        preview_image_url: String::new(),
        width: 0,
        height: 0,
        duration_ms: 0,
        alt_text: String::new(),
        variants: String::new(),
        created_at: NOW,
        content_type: String::new(),
        size: 0,
        bit_rate: 0,
        sizes: String::new(),
        uses: None,
        expires_at: None,
        variant_files: String::new(),
    }
}

/// Of anyone.
pub(crate) fn render_request(selection: FieldSelection, options: RenderOptions) -> RenderRequest {
    RenderRequest { viewer: Viewer::anonymous(), selection, options }
}

/// Records without a store; the first `roots` posts or users are the primary objects.
pub(crate) fn loaded_objects(
    viewer: Viewer,
    selection: &FieldSelection,
    roots: usize,
    posts: Vec<Post>,
    users: Vec<User>,
    media: Vec<Media>,
) -> LoadedObjects {
    let mut objects = LoadedObjects::new(viewer, NOW, selection);
    objects.posts.extend_distinct(posts, |post| post.id);
    objects.users.extend_distinct(users, |user| user.id);
    objects.media.extend_distinct(media, |media| media.id.get());
    objects.root_count = roots;
    objects.compute_texts();
    objects
}

pub(crate) fn field_selection(root: ObjectKind, asked: &[(ObjectKind, &str)], expansions: &str) -> FieldSelection {
    let mut selection = FieldSelection::defaults(root);
    for (object, names) in asked {
        selection.add_fields_param(*object, object.fields_param().post, names).unwrap();
    }
    if !expansions.is_empty() {
        selection.add_expansions_param("expansions", expansions).unwrap();
    }
    selection
}

/// All fields and expansions of an object kind.
pub(crate) fn full_field_selection(root: ObjectKind) -> FieldSelection {
    let mut selection = FieldSelection::defaults(root);
    for object in ALL_KINDS {
        let names = object.field_names().join(",");
        selection.add_fields_param(object, object.fields_param().post, &names).unwrap();
    }
    selection.add_expansions_param("expansions", &root.expansion_names().join(",")).unwrap();
    selection.allow_email();
    selection
}

pub(crate) fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

pub(crate) fn data(answer: &ResponsePayload) -> Value {
    json(&answer.data)
}
