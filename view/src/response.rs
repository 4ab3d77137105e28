//! Responses: primary objects, included objects, and errors.

use std::collections::HashMap;
use std::fmt::Display;

use base::refusal::ResourceRef;
use base::{Fault, MediaId, PostId, Refusal, UserId, sorted_distinct};
use network::visibility::{AuthorVisibilities, Viewer, Visibility, profile_visibility};
use store::Tx;
use store::media::Media;
use store::posts::Post;
use store::users::User;

use crate::FieldSelection;
use crate::includes::IncludesBuilder;
use crate::json_writer::{JsonWriter, RenderOptions};
use crate::loaded_objects::LoadedObjects;
use crate::media::{MediaRenderContext, id_from_media_key};
use crate::object::RenderedObject;
use crate::posts::{self, PostRenderContext};
use crate::users::UserRenderContext;

/// For whom an object is rendered, with which fields, and in which form.
#[derive(Clone, Copy, Debug)]
pub struct RenderRequest {
    pub viewer: Viewer,
    pub selection: FieldSelection,
    pub options: RenderOptions,
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
    /// What these posts show: of a repost, the original.
    pub viewed_posts: Vec<PostId>,
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
pub fn render_posts(tx: &mut Tx<'_>, request: &RenderRequest, page: Vec<Post>) -> Result<ResponsePayload, Fault> {
    let objects = LoadedObjects::load_for_posts(tx, request.viewer, page, &request.selection)?;
    Ok(render_post_page(&objects, request))
}

/// Renders the results of a lookup in the order of the keys.
pub fn render_post_lookup(
    tx: &mut Tx<'_>,
    request: &RenderRequest,
    posts: Vec<Post>,
    keys: LookupKeys<'_, PostId>,
) -> Result<ResponsePayload, Fault> {
    let objects = LoadedObjects::load_for_posts(tx, request.viewer, posts, &request.selection)?;
    Ok(render_requested_posts(&objects, request, keys))
}

/// Renders the result of a lookup by id; `data` is an object.
pub fn render_post(
    tx: &mut Tx<'_>,
    request: &RenderRequest,
    post: Option<Post>,
    keys: LookupKeys<'_, PostId>,
) -> Result<ResponsePayload, Fault> {
    let post = post.into_iter().collect();
    render_post_lookup(tx, request, post, keys).map(ResponsePayload::into_single)
}

/// Renders each post as [`render_post`] does, in order; all are loaded together.
pub fn render_each_post(
    tx: &mut Tx<'_>,
    request: &RenderRequest,
    posts: Vec<Post>,
) -> Result<Vec<(PostId, ResponsePayload)>, Fault> {
    let ids: Vec<PostId> = posts.iter().map(|post| post.id).collect();
    let objects = LoadedObjects::load_for_posts(tx, request.viewer, posts, &request.selection)?;
    let render = |id| {
        let keys = LookupKeys { parameter: "id", values: &[id] };
        (id, render_requested_posts(&objects, request, keys).into_single())
    };
    Ok(ids.into_iter().map(render).collect())
}

/// Renders a page in order; users that are not visible are omitted.
pub fn render_users(tx: &mut Tx<'_>, request: &RenderRequest, page: Vec<User>) -> Result<ResponsePayload, Fault> {
    let objects = LoadedObjects::load_for_users(tx, request.viewer, page, &request.selection)?;
    Ok(render_user_page(&objects, request))
}

/// Renders the results of a lookup in the order of the keys.
pub fn render_user_lookup<N: UserKey>(
    tx: &mut Tx<'_>,
    request: &RenderRequest,
    users: Vec<User>,
    keys: LookupKeys<'_, N>,
) -> Result<ResponsePayload, Fault> {
    let objects = LoadedObjects::load_for_users(tx, request.viewer, users, &request.selection)?;
    Ok(render_requested_users(&objects, request, keys))
}

/// Renders the result of a lookup; `data` is an object.
pub fn render_user<N: UserKey>(
    tx: &mut Tx<'_>,
    request: &RenderRequest,
    user: Option<User>,
    keys: LookupKeys<'_, N>,
) -> Result<ResponsePayload, Fault> {
    let user = user.into_iter().collect();
    render_user_lookup(tx, request, user, keys).map(ResponsePayload::into_single)
}

/// Renders the results of a lookup by media key, in the order of the keys.
pub fn render_media_lookup(
    tx: &mut Tx<'_>,
    request: &RenderRequest,
    keys: LookupKeys<'_, String>,
) -> Result<ResponsePayload, Fault> {
    let ids: Vec<i64> = keys.values.iter().filter_map(|key| id_from_media_key(key)).collect();
    let found = store::media::find_by_ids(tx, &ids)?;
    let objects = LoadedObjects::load_for_media(tx, request.viewer, found, &request.selection)?;
    let sights = AuthorVisibilities::load(tx, request.viewer, objects.users.items())?;
    let now = tx.now();
    let judged = judge_media(tx, request.viewer, objects.media.items())?;
    let (mut shown, mut errors) = (Vec::<MediaRenderContext<'_>>::new(), Vec::new());
    for key in keys.values {
        let subject = || ResourceRef::new("media", keys.parameter, key);
        let media = id_from_media_key(key).and_then(|id| objects.media.get(id));
        let media = media.filter(|media| media.media_key == *key && media.kind != "subtitles");
        let media = media.filter(|media| !media.has_expired(now));
        let sight = media.map_or(Visibility::Missing, |media| {
            let owned = request.viewer.user == Some(media.owner_id);
            match media.uses {
                // Media that no post uses are private to their owner, those of removed posts are nobody's.
                Some(0) if !owned => Visibility::Missing,
                Some(..0) => Visibility::Missing,
                _ => judged.get(&media.id).copied().unwrap_or_else(|| sights.author_visibility(media.owner_id)),
            }
        });
        match (media, sight) {
            (Some(media), Visibility::Visible) => {
                if !shown.iter().any(|other| std::ptr::eq(other.media, media)) {
                    shown.push(MediaRenderContext { media, objects: &objects });
                }
            }
            (_, Visibility::Visible | Visibility::Missing) => push_distinct(&mut errors, Refusal::NotFound(subject())),
            _ => push_distinct(&mut errors, Refusal::NotVisible(subject())),
        }
    }
    Ok(ResponseRenderer { objects: &objects, request }.render_response::<Media>(&shown, errors, 512))
}

/// Users beside the owners whose posts a lookup of media reads. Each costs as much as an owner.
const MAX_SHARED_POSTERS: usize = 50;

/// Whether the viewer may see one of the posts with each of some media of others. Media that are in no post are in a
/// profile or an ad.
fn judge_media(tx: &mut Tx<'_>, viewer: Viewer, media: &[Media]) -> Result<HashMap<MediaId, Visibility>, Fault> {
    let mut judged = HashMap::new();
    let others = media.iter().filter(|medium| viewer.user != Some(medium.owner_id) && medium.uses != Some(0));
    let owned: Vec<(&Media, UserId)> = others.map(|medium| (medium, medium.owner_id)).collect();
    judge_posts_with_media(tx, viewer, &owned, &mut judged)?;
    let rest = owned.iter().map(|(medium, _)| *medium);
    let rest: Vec<&Media> = rest.filter(|medium| judged.get(&medium.id) != Some(&Visibility::Visible)).collect();
    let ids: Vec<MediaId> = rest.iter().map(|medium| medium.id).collect();
    let shares = store::media::list_shared_users(tx, &ids)?;
    let posters = shares.iter().filter_map(|(id, user)| Some((*rest.iter().find(|medium| medium.id == *id)?, *user)));
    let posters: Vec<(&Media, UserId)> = posters.take(MAX_SHARED_POSTERS).collect();
    judge_posts_with_media(tx, viewer, &posters, &mut judged)?;
    for (medium, _) in shares.iter().skip(MAX_SHARED_POSTERS) {
        judged.entry(*medium).or_insert(Visibility::Forbidden);
    }
    Ok(judged)
}

/// Of several posts with a medium, the one that shows most decides.
fn judge_posts_with_media(
    tx: &mut Tx<'_>,
    viewer: Viewer,
    posters: &[(&Media, UserId)],
    judged: &mut HashMap<MediaId, Visibility>,
) -> Result<(), Fault> {
    let mut uses = Vec::new();
    for (medium, poster) in posters {
        let posts = store::posts::list_posts_with_media(tx, *poster, medium)?;
        uses.extend(posts.into_iter().map(|post| (medium.id, post)));
    }
    let posts = store::posts::find_by_ids(tx, &sorted_distinct(uses.iter().map(|(_, post)| *post)))?;
    let authors = store::users::find_by_ids(tx, &sorted_distinct(posts.iter().map(|post| post.author_id)))?;
    let mut visibilities = AuthorVisibilities::load(tx, viewer, &authors)?;
    visibilities.admit_posts(tx, &posts)?;
    let visibilities: HashMap<PostId, Visibility> =
        posts.iter().map(|post| (post.id, visibilities.post_visibility(post))).collect();
    for (medium, post) in uses {
        let visibility = visibilities.get(&post).copied().unwrap_or(Visibility::Missing);
        let known = judged.entry(medium).or_insert(visibility);
        if visibility == Visibility::Visible || *known == Visibility::Missing {
            *known = visibility;
        }
    }
    Ok(())
}

/// Renders the result of a lookup by media key; `data` is an object.
pub fn render_media(
    tx: &mut Tx<'_>,
    request: &RenderRequest,
    keys: LookupKeys<'_, String>,
) -> Result<ResponsePayload, Fault> {
    render_media_lookup(tx, request, keys).map(ResponsePayload::into_single)
}

/// What objects are rendered with.
#[derive(Clone, Copy)]
pub(crate) struct ResponseRenderer<'w> {
    pub(crate) objects: &'w LoadedObjects,
    pub(crate) request: &'w RenderRequest,
}

impl<'w> ResponseRenderer<'w> {
    /// Renders primary objects; `size` is the approximate length of one in bytes.
    pub(crate) fn render_response<T: RenderedObject>(
        self,
        shown: &[T::Context<'w>],
        mut errors: Vec<Refusal>,
        size: usize,
    ) -> ResponsePayload {
        let mut includes = IncludesBuilder::new(self.objects, self.request);
        includes.expand::<T>(shown, false);
        let includes = includes.render_includes(&mut errors);
        let objects = shown.iter().copied();
        let payload = ResponsePayload::from_objects::<T>(self.request, objects, size);
        ResponsePayload { includes, errors, ..payload }
    }
}

impl ResponsePayload {
    /// Renders primary objects without expansions; `size` is the approximate length of one in bytes.
    pub(crate) fn from_objects<'a, T: RenderedObject>(
        request: &RenderRequest,
        shown: impl ExactSizeIterator<Item = T::Context<'a>>,
        size: usize,
    ) -> Self {
        let (count, mask) = (shown.len(), request.selection.root_mask::<T>());
        let mut out = JsonWriter::new(request.options, count * size);
        if count > 0 {
            out.write_array(shown, |out, object| T::write(out, object, mask));
        }
        Self { data: out.finish(), count, ..Self::default() }
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

pub(crate) fn render_post_page(objects: &LoadedObjects, request: &RenderRequest) -> ResponsePayload {
    let mut errors = Vec::new();
    let mask = request.selection.root_mask::<Post>();
    let page = objects.posts.items().iter().take(objects.root_count);
    let visible = page.filter(|post| objects.post_visibility(post) == Visibility::Visible);
    let mut shown: Vec<_> = visible.map(|post| PostRenderContext { post, objects }).collect();
    shown.retain(|ctx| {
        let subject = || ResourceRef::new("tweet", "id", ctx.post.id);
        !posts::reject_private_metrics(*ctx, mask, subject, request.options.vocabulary, &mut errors)
    });
    render_post_rows(objects, request, &shown, errors)
}

pub(crate) fn render_requested_posts(
    objects: &LoadedObjects,
    request: &RenderRequest,
    keys: LookupKeys<'_, PostId>,
) -> ResponsePayload {
    let (mut shown, mut errors) = (Vec::<PostRenderContext<'_>>::with_capacity(keys.values.len()), Vec::new());
    let mask = request.selection.root_mask::<Post>();
    for id in keys.values {
        let subject = || ResourceRef::new("tweet", keys.parameter, *id);
        let post = objects.posts.get(*id);
        match (post, post.map_or(Visibility::Missing, |post| objects.post_visibility(post))) {
            (Some(post), Visibility::Visible) => {
                let ctx = PostRenderContext { post, objects };
                let is_known = shown.iter().any(|other| std::ptr::eq(other.post, post));
                if !is_known
                    && !posts::reject_private_metrics(ctx, mask, subject, request.options.vocabulary, &mut errors)
                {
                    shown.push(ctx);
                }
            }
            (_, Visibility::Visible | Visibility::Missing) => push_distinct(&mut errors, Refusal::NotFound(subject())),
            (_, Visibility::Forbidden | Visibility::Suspended) => {
                push_distinct(&mut errors, Refusal::NotVisible(subject()));
            }
        }
    }
    render_post_rows(objects, request, &shown, errors)
}

fn render_post_rows<'w>(
    objects: &'w LoadedObjects,
    request: &'w RenderRequest,
    shown: &[PostRenderContext<'w>],
    errors: Vec<Refusal>,
) -> ResponsePayload {
    let ids = || shown.iter().map(|ctx| ctx.post.id);
    ResponsePayload {
        posts: ids().collect(),
        viewed_posts: shown.iter().map(|ctx| ctx.post.repost_of_id.unwrap_or(ctx.post.id)).collect(),
        newest_id: ids().max(),
        oldest_id: ids().min(),
        ..ResponseRenderer { objects, request }.render_response::<Post>(shown, errors, 768)
    }
}

pub(crate) fn render_user_page(objects: &LoadedObjects, request: &RenderRequest) -> ResponsePayload {
    let page = objects.users.items().iter().take(objects.root_count);
    let shown = page.filter(|user| profile_visibility(user) == Visibility::Visible);
    let shown: Vec<_> = shown.map(|user| UserRenderContext { user, objects }).collect();
    ResponseRenderer { objects, request }.render_response::<User>(&shown, Vec::new(), 512)
}

pub(crate) fn render_requested_users<N: UserKey>(
    objects: &LoadedObjects,
    request: &RenderRequest,
    asked: LookupKeys<'_, N>,
) -> ResponsePayload {
    let (mut shown, mut errors) = (Vec::<UserRenderContext<'_>>::with_capacity(asked.values.len()), Vec::new());
    let found = objects.users.items().get(..objects.root_count).unwrap_or_default();
    for (index, name) in asked.values.iter().enumerate() {
        let subject = || ResourceRef::new("user", asked.parameter, name);
        // Records usually come in the order of the keys.
        let candidates = found.iter().cycle().skip(index).take(found.len());
        let user = candidates.into_iter().find(|user| name.matches_user(user));
        match (user, user.map_or(Visibility::Missing, profile_visibility)) {
            (Some(user), Visibility::Visible) => {
                if !shown.iter().any(|other| std::ptr::eq(other.user, user)) {
                    shown.push(UserRenderContext { user, objects });
                }
            }
            (_, Visibility::Visible | Visibility::Missing) => push_distinct(&mut errors, Refusal::NotFound(subject())),
            (_, Visibility::Forbidden) => push_distinct(&mut errors, Refusal::NotVisible(subject())),
            (_, Visibility::Suspended) => push_distinct(&mut errors, Refusal::Suspended(subject())),
        }
    }
    ResponseRenderer { objects, request }.render_response::<User>(&shown, errors, 512)
}

pub(crate) fn push_distinct(errors: &mut Vec<Refusal>, refusal: Refusal) {
    if !errors.contains(&refusal) {
        errors.push(refusal);
    }
}
