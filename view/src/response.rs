//! Responses: primary objects, included objects, and errors.

use std::fmt::Display;

use base::refusal::ResourceRef;
use base::{Fault, PostId, Refusal, UserId, Vocabulary};
use network::visibility::{AuthorVisibilities, Viewer, Visibility, profile_visibility};
use store::Tx;
use store::media::Media;
use store::posts::Post;
use store::users::User;

use crate::FieldSelection;
use crate::field_schema::ExpansionResolver;
use crate::includes::IncludesBuilder;
use crate::json_writer::JsonWriter;
use crate::loader::{ExpansionTarget, LoadedObjects};
use crate::media::{self, MediaRenderContext, id_from_media_key};
use crate::posts::{self, PostRenderContext};
use crate::users::{self, UserRenderContext};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct RenderOptions {
    pub vocabulary: Vocabulary,
    /// Whether metrics whose names differ are rendered under both names, because the client's vocabulary is
    /// unknown.
    pub both_metric_names: bool,
}

/// The parts of a response body as JSON.
#[derive(Clone, Debug, Default)]
pub struct ResponsePayload {
    /// An array, or an object for a single result; empty if there is no data.
    pub data: String,
    /// An object; empty if nothing is included.
    pub includes: String,
    /// Objects that were requested or referred to but not rendered, each once.
    pub errors: Vec<Refusal>,
    /// The number of primary objects.
    pub count: usize,
    pub posts: Vec<PostId>,
    /// The highest post id.
    pub newest_id: Option<PostId>,
    /// The lowest post id.
    pub oldest_id: Option<PostId>,
}

/// The keys of a lookup request: each is rendered or is an error.
#[derive(Clone, Copy, Debug)]
pub struct LookupKeys<'a, T> {
    /// The parameter that contains them: `ids`, `id`, `usernames`, `username`.
    pub parameter: &'static str,
    pub values: &'a [T],
}

/// A key by which users are looked up.
pub trait UserKey: Display {
    fn matches_user(&self, user: &User) -> bool;
}

impl UserKey for UserId {
    fn matches_user(&self, user: &User) -> bool {
        user.id == *self
    }
}

/// A username, matched without case.
impl UserKey for String {
    fn matches_user(&self, user: &User) -> bool {
        user.username.eq_ignore_ascii_case(self)
    }
}

/// Renders a page in order; posts that are not visible are omitted.
pub fn render_posts(
    tx: &mut Tx<'_>,
    viewer: Viewer,
    page: Vec<Post>,
    selection: &FieldSelection,
    options: RenderOptions,
) -> Result<ResponsePayload, Fault> {
    let objects = LoadedObjects::load_for_posts(tx, viewer, page, selection)?;
    Ok(render_post_page(&objects, selection, options))
}

/// Renders the results of a lookup in the order of the keys.
pub fn render_post_lookup(
    tx: &mut Tx<'_>,
    viewer: Viewer,
    posts: Vec<Post>,
    selection: &FieldSelection,
    options: RenderOptions,
    keys: LookupKeys<'_, PostId>,
) -> Result<ResponsePayload, Fault> {
    let objects = LoadedObjects::load_for_posts(tx, viewer, posts, selection)?;
    Ok(render_requested_posts(&objects, selection, options, keys))
}

/// Renders the result of a lookup by id; `data` is an object.
pub fn render_post(
    tx: &mut Tx<'_>,
    viewer: Viewer,
    post: Option<Post>,
    selection: &FieldSelection,
    options: RenderOptions,
    keys: LookupKeys<'_, PostId>,
) -> Result<ResponsePayload, Fault> {
    let post = post.into_iter().collect();
    render_post_lookup(tx, viewer, post, selection, options, keys).map(ResponsePayload::into_single)
}

/// Renders a page in order; users that are not visible are omitted.
pub fn render_users(
    tx: &mut Tx<'_>,
    viewer: Viewer,
    page: Vec<User>,
    selection: &FieldSelection,
    options: RenderOptions,
) -> Result<ResponsePayload, Fault> {
    let objects = LoadedObjects::load_for_users(tx, viewer, page, selection)?;
    Ok(render_user_page(&objects, selection, options))
}

/// Renders the results of a lookup in the order of the keys.
pub fn render_user_lookup<N: UserKey>(
    tx: &mut Tx<'_>,
    viewer: Viewer,
    users: Vec<User>,
    selection: &FieldSelection,
    options: RenderOptions,
    keys: LookupKeys<'_, N>,
) -> Result<ResponsePayload, Fault> {
    let objects = LoadedObjects::load_for_users(tx, viewer, users, selection)?;
    Ok(render_requested_users(&objects, selection, options, keys))
}

/// Renders the result of a lookup; `data` is an object.
pub fn render_user<N: UserKey>(
    tx: &mut Tx<'_>,
    viewer: Viewer,
    user: Option<User>,
    selection: &FieldSelection,
    options: RenderOptions,
    keys: LookupKeys<'_, N>,
) -> Result<ResponsePayload, Fault> {
    let user = user.into_iter().collect();
    render_user_lookup(tx, viewer, user, selection, options, keys).map(ResponsePayload::into_single)
}

/// The text of a post just created: not escaped, with the link to its media.
pub fn new_post_text(tx: &mut Tx<'_>, post: &Post, site: &str) -> Result<String, Fault> {
    posts::new_post_text(tx, post, site)
}

/// Renders the results of a lookup by media key, in the order of the keys.
pub fn render_media_lookup(
    tx: &mut Tx<'_>,
    viewer: Viewer,
    selection: &FieldSelection,
    options: RenderOptions,
    keys: LookupKeys<'_, String>,
) -> Result<ResponsePayload, Fault> {
    let ids: Vec<i64> = keys.values.iter().filter_map(|key| id_from_media_key(key)).collect();
    let found = store::media::find_by_ids(tx, &ids)?;
    let objects = LoadedObjects::load_for_media(tx, viewer, found, selection)?;
    let sights = AuthorVisibilities::load(tx, viewer, objects.users.items())?;
    let (mut shown, mut errors) = (Vec::<&Media>::new(), Vec::new());
    for key in keys.values {
        let subject = || ResourceRef::new("media", keys.parameter, key);
        let media = id_from_media_key(key).and_then(|id| objects.media.get(id));
        let media = media.filter(|media| media.media_key == *key && media.kind != "subtitles");
        let sight = media.map_or(Visibility::Missing, |media| {
            let owned = viewer.user == Some(media.owner_id);
            match media.uses {
                // Media that no post uses are private to their owner.
                Some(0) if !owned => Visibility::Missing,
                _ => sights.author_visibility(media.owner_id),
            }
        });
        match (media, sight) {
            (Some(media), Visibility::Visible) => {
                if !shown.iter().any(|other| std::ptr::eq(*other, media)) {
                    shown.push(media);
                }
            }
            (_, Visibility::Visible | Visibility::Missing) => push_distinct(&mut errors, Refusal::NotFound(subject())),
            _ => push_distinct(&mut errors, Refusal::NotVisible(subject())),
        }
    }
    let mut out = JsonWriter::new(options, shown.len() * 512);
    if !shown.is_empty() {
        out.write_array(&shown, |out, media| {
            let objects = &objects;
            media::write(out, MediaRenderContext { media, objects }, selection.root_mask());
        });
    }
    Ok(ResponsePayload { data: out.finish(), errors, count: shown.len(), ..ResponsePayload::default() })
}

/// Renders the result of a lookup by media key; `data` is an object.
pub fn render_media(
    tx: &mut Tx<'_>,
    viewer: Viewer,
    selection: &FieldSelection,
    options: RenderOptions,
    keys: LookupKeys<'_, String>,
) -> Result<ResponsePayload, Fault> {
    render_media_lookup(tx, viewer, selection, options, keys).map(ResponsePayload::into_single)
}

/// What objects are rendered with: loaded records, field selection and options.
#[derive(Clone, Copy)]
pub(crate) struct ResponseRenderer<'w> {
    pub(crate) objects: &'w LoadedObjects,
    pub(crate) selection: &'w FieldSelection,
    pub(crate) options: RenderOptions,
}

impl ResponseRenderer<'_> {
    /// Renders primary objects: `write` writes one with the fields of a mask, `lead` resolves an expansion of
    /// one.
    pub(crate) fn render_response<'t, T: Copy>(
        &'t self,
        shown: &[T],
        mut errors: Vec<Refusal>,
        size: usize,
        lead: impl Fn(ExpansionResolver, T, &mut Vec<ExpansionTarget<'t>>),
        write: impl Fn(&mut JsonWriter, T, u64),
    ) -> ResponsePayload {
        let mut includes = IncludesBuilder::new(self.objects, self.selection, self.options);
        includes.expand_rows(|resolve, targets| shown.iter().for_each(|row| lead(resolve, *row, targets)));
        let mask = self.selection.root_mask();
        ResponsePayload {
            includes: includes.render_includes(&mut errors),
            errors,
            ..ResponsePayload::from_rows(self.options, shown, size, |out, row| write(out, *row, mask))
        }
    }
}

impl ResponsePayload {
    /// Renders primary objects without expansions; `size` is the approximate length of one in bytes.
    pub(crate) fn from_rows<T>(
        options: RenderOptions,
        shown: &[T],
        size: usize,
        write: impl Fn(&mut JsonWriter, &T),
    ) -> Self {
        let mut out = JsonWriter::new(options, shown.len() * size);
        if !shown.is_empty() {
            out.write_array(shown, write);
        }
        Self { data: out.finish(), count: shown.len(), ..Self::default() }
    }

    /// The single result of a lookup, or the error that it was not found.
    pub(crate) fn single_or_not_found<T: Display>(mut self, kind: &'static str, keys: LookupKeys<'_, T>) -> Self {
        if self.count == 0 {
            let named = keys.values.iter();
            let subjects = named.map(|id| ResourceRef::new(kind, keys.parameter, id));
            self.errors = subjects.map(Refusal::NotFound).collect();
        }
        self.into_single()
    }

    /// Unwraps the array around a single object.
    pub(crate) fn into_single(mut self) -> Self {
        if self.data.starts_with('[') {
            self.data.remove(0);
            self.data.pop();
        }
        self
    }
}

pub(crate) fn render_post_page(
    objects: &LoadedObjects,
    selection: &FieldSelection,
    options: RenderOptions,
) -> ResponsePayload {
    let mut errors = Vec::new();
    let page = objects.posts.items().iter().take(objects.root_count);
    let visible = page.filter(|post| objects.post_visibility(post) == Visibility::Visible);
    let shown = visible.filter(|post| {
        let subject = || ResourceRef::new("tweet", "id", post.id);
        !reject_private_fields(objects, post, selection, options, subject, &mut errors)
    });
    let shown = shown.collect();
    render_post_rows(objects, selection, options, shown, errors)
}

pub(crate) fn render_requested_posts(
    objects: &LoadedObjects,
    selection: &FieldSelection,
    options: RenderOptions,
    keys: LookupKeys<'_, PostId>,
) -> ResponsePayload {
    let (mut shown, mut errors) = (Vec::with_capacity(keys.values.len()), Vec::new());
    for id in keys.values {
        let subject = || ResourceRef::new("tweet", keys.parameter, *id);
        let post = objects.posts.get(*id);
        match (post, post.map_or(Visibility::Missing, |post| objects.post_visibility(post))) {
            (Some(post), Visibility::Visible) => {
                let known = shown.iter().any(|other: &&Post| std::ptr::eq(*other, post));
                if !known && !reject_private_fields(objects, post, selection, options, subject, &mut errors) {
                    shown.push(post);
                }
            }
            (_, Visibility::Visible | Visibility::Missing) => push_distinct(&mut errors, Refusal::NotFound(subject())),
            (_, Visibility::Forbidden | Visibility::Suspended) => {
                push_distinct(&mut errors, Refusal::NotVisible(subject()));
            }
        }
    }
    render_post_rows(objects, selection, options, shown, errors)
}

fn reject_private_fields(
    objects: &LoadedObjects,
    post: &Post,
    selection: &FieldSelection,
    options: RenderOptions,
    subject: impl Fn() -> ResourceRef,
    errors: &mut Vec<Refusal>,
) -> bool {
    let ctx = PostRenderContext { post, objects };
    posts::reject_private_metrics(ctx, selection.root_mask(), subject, options.vocabulary, errors)
}

fn render_post_rows<'w>(
    objects: &'w LoadedObjects,
    selection: &'w FieldSelection,
    options: RenderOptions,
    shown: Vec<&'w Post>,
    mut errors: Vec<Refusal>,
) -> ResponsePayload {
    let mask = selection.root_mask();
    let mut includes = IncludesBuilder::new(objects, selection, options);
    includes.expand_posts(&shown, false);
    let mut out = JsonWriter::new(options, shown.len() * 768);
    if !shown.is_empty() {
        out.write_array(&shown, |out, post| {
            posts::write(out, PostRenderContext { post, objects }, mask);
        });
    }
    ResponsePayload {
        data: out.finish(),
        includes: includes.render_includes(&mut errors),
        errors,
        count: shown.len(),
        posts: shown.iter().map(|post| post.id).collect(),
        newest_id: shown.iter().map(|post| post.id).max(),
        oldest_id: shown.iter().map(|post| post.id).min(),
    }
}

pub(crate) fn render_user_page(
    objects: &LoadedObjects,
    selection: &FieldSelection,
    options: RenderOptions,
) -> ResponsePayload {
    let page = objects.users.items().iter().take(objects.root_count);
    let shown = page.filter(|user| profile_visibility(user) == Visibility::Visible);
    render_user_rows(objects, selection, options, &shown.collect::<Vec<_>>(), Vec::new())
}

pub(crate) fn render_requested_users<N: UserKey>(
    objects: &LoadedObjects,
    selection: &FieldSelection,
    options: RenderOptions,
    asked: LookupKeys<'_, N>,
) -> ResponsePayload {
    let (mut shown, mut errors) = (Vec::with_capacity(asked.values.len()), Vec::new());
    let found = objects.users.items().get(..objects.root_count).unwrap_or_default();
    for (index, name) in asked.values.iter().enumerate() {
        let subject = || ResourceRef::new("user", asked.parameter, name);
        // Records usually come in the order of the keys.
        let candidates = found.iter().cycle().skip(index).take(found.len());
        let user = candidates.into_iter().find(|user| name.matches_user(user));
        match (user, user.map_or(Visibility::Missing, profile_visibility)) {
            (Some(user), Visibility::Visible) => {
                if !shown.iter().any(|other: &&User| std::ptr::eq(*other, user)) {
                    shown.push(user);
                }
            }
            (_, Visibility::Visible | Visibility::Missing) => push_distinct(&mut errors, Refusal::NotFound(subject())),
            (_, Visibility::Forbidden) => push_distinct(&mut errors, Refusal::NotVisible(subject())),
            (_, Visibility::Suspended) => push_distinct(&mut errors, Refusal::Suspended(subject())),
        }
    }
    render_user_rows(objects, selection, options, &shown, errors)
}

fn render_user_rows<'w>(
    objects: &'w LoadedObjects,
    selection: &'w FieldSelection,
    options: RenderOptions,
    shown: &[&'w User],
    errors: Vec<Refusal>,
) -> ResponsePayload {
    let renderer = ResponseRenderer { objects, selection, options };
    let lead = |resolve, user, targets: &mut Vec<_>| {
        if let ExpansionResolver::User(resolve) = resolve {
            resolve(UserRenderContext { user, objects }, targets);
        }
    };
    let write = |out: &mut JsonWriter, user, mask| users::write(out, UserRenderContext { user, objects }, mask);
    renderer.render_response(shown, errors, 512, lead, write)
}

fn push_distinct(errors: &mut Vec<Refusal>, refusal: Refusal) {
    if !errors.contains(&refusal) {
        errors.push(refusal);
    }
}
