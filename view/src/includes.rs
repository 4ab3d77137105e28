//! Resolves expansions: each object is included once, and each inaccessible object is one error.

use std::collections::HashSet;
use std::fmt::Display;
use std::hash::Hash;

use base::refusal::ResourceRef;
use base::{PostId, Refusal, UserId, Vocabulary};
use network::visibility::{Visibility, profile_visibility};
use store::media::Media;
use store::places::Place;
use store::polls::Poll;
use store::posts::Post;
use store::spaces::SpaceTopic;
use store::users::User;

use crate::RenderRequest;
use crate::field_schema::ExpansionTarget;
use crate::json_writer::{JsonWriter, RenderOptions};
use crate::loaded_objects::LoadedObjects;
use crate::media::{MediaRenderContext, id_from_media_key};
use crate::object::RenderedObject;
use crate::polls::PollRenderContext;
use crate::posts::{PostRenderContext, reject_private_metrics};
use crate::users::UserRenderContext;

/// Keys in order of first occurrence, each with the expansion that led to it.
struct DistinctTargets<T> {
    seen: HashSet<T>,
    entries: Vec<(T, &'static str)>,
}

impl<T: Copy + Display + Eq + Hash> DistinctTargets<T> {
    fn new() -> Self {
        Self { seen: HashSet::new(), entries: Vec::new() }
    }

    fn push(&mut self, thing: T, expansion: &'static str) {
        if self.seen.insert(thing) {
            self.entries.push((thing, expansion));
        }
    }

    /// The objects that `find` finds, in order; each other target is an error.
    fn find_all<C>(
        &self,
        kind: &'static str,
        errors: &mut Vec<Refusal>,
        find: impl Fn(T) -> Result<C, fn(ResourceRef) -> Refusal>,
    ) -> Vec<C> {
        let mut found = Vec::with_capacity(self.entries.len());
        for (key, expansion) in &self.entries {
            match find(*key) {
                Ok(object) => found.push(object),
                Err(refuse) => errors.push(refuse(ResourceRef::from_expansion(kind, *expansion, *key))),
            }
        }
        found
    }
}

pub(crate) struct IncludesBuilder<'w> {
    objects: &'w LoadedObjects,
    request: &'w RenderRequest,
    posts: DistinctTargets<PostId>,
    users: DistinctTargets<UserId>,
    media: DistinctTargets<&'w str>,
    topics: DistinctTargets<i64>,
    polls: DistinctTargets<i64>,
    places: DistinctTargets<&'w str>,
}

impl<'w> IncludesBuilder<'w> {
    pub(crate) fn new(objects: &'w LoadedObjects, request: &'w RenderRequest) -> Self {
        Self {
            objects,
            request,
            posts: DistinctTargets::new(),
            users: DistinctTargets::new(),
            media: DistinctTargets::new(),
            topics: DistinctTargets::new(),
            polls: DistinctTargets::new(),
            places: DistinctTargets::new(),
        }
    }

    /// Follows the expansions of the primary objects, or of the posts they refer to.
    pub(crate) fn expand<T: RenderedObject>(&mut self, objects: &[T::Context<'w>], nested: bool) {
        let RenderRequest { selection, options, .. } = self.request;
        selection.visit_targets::<T>(objects.iter().copied(), nested, |expansion, target| {
            let name = expansion_name(expansion.name.post, expansion.name.tweet, *options);
            match target {
                ExpansionTarget::Post(id) => self.posts.push(id, name),
                ExpansionTarget::User(id) => self.users.push(id, name),
                ExpansionTarget::Media(key) => self.media.push(key, name),
                ExpansionTarget::Topic(id) => self.topics.push(id, name),
                ExpansionTarget::Poll(id) => self.polls.push(id, name),
                ExpansionTarget::Place(id) => self.places.push(id, name),
            }
        });
    }

    /// Renders `includes`, or an empty string; errors are appended to `errors`.
    pub(crate) fn render_includes(mut self, errors: &mut Vec<Refusal>) -> String {
        let posts = self.visible_posts(errors);
        self.expand::<Post>(&posts, true);
        let users = self.visible_users(errors);
        let topics: Vec<_> = self.topics.entries.iter().filter_map(|(id, _)| self.objects.topics.get(*id)).collect();
        let (media, polls, places) = (self.loaded_media(errors), self.loaded_polls(errors), self.loaded_places(errors));
        let carried = media.len() + polls.len() + places.len() + topics.len();
        if users.len() + posts.len() + carried == 0 {
            return String::new();
        }
        let room = 256 + users.len() * 512 + posts.len() * 1024 + carried * 512;
        let mut out = JsonWriter::new(self.request.options, room);
        out.write_object(|out| {
            self.write_list::<User>(out, &users);
            self.write_list::<Post>(out, &posts);
            self.write_list::<Media>(out, &media);
            self.write_list::<SpaceTopic>(out, &topics);
            self.write_list::<Poll>(out, &polls);
            self.write_list::<Place>(out, &places);
        });
        out.finish()
    }

    fn write_list<T: RenderedObject>(&self, out: &mut JsonWriter, objects: &[T::Context<'_>]) {
        if let Some((_, key)) = T::INCLUDED
            && !objects.is_empty()
        {
            let mask = self.request.selection.included_mask::<T>();
            out.write_member(key, |out| out.write_array(objects, |out, object| T::write(out, *object, mask)));
        }
    }

    fn visible_posts(&self, errors: &mut Vec<Refusal>) -> Vec<PostRenderContext<'w>> {
        let (objects, mask) = (self.objects, self.request.selection.included_mask::<Post>());
        let mut shown = Vec::with_capacity(self.posts.entries.len());
        for (id, expansion) in &self.posts.entries {
            let subject = || ResourceRef::from_expansion("tweet", *expansion, *id);
            let post = objects.posts.get(*id);
            match (post, post.map_or(Visibility::Missing, |post| objects.post_visibility(post))) {
                (Some(post), Visibility::Visible) => {
                    let ctx = PostRenderContext { post, objects };
                    if !reject_private_metrics(ctx, mask, subject, self.request.options.vocabulary, errors) {
                        shown.push(ctx);
                    }
                }
                (_, Visibility::Visible | Visibility::Missing) => errors.push(Refusal::NotFound(subject())),
                (_, Visibility::Forbidden | Visibility::Suspended) => errors.push(Refusal::NotVisible(subject())),
            }
        }
        shown
    }

    fn visible_users(&self, errors: &mut Vec<Refusal>) -> Vec<UserRenderContext<'w>> {
        let objects = self.objects;
        self.users.find_all("user", errors, |id| {
            let user = objects.users.get(id);
            match (user, user.map_or(Visibility::Missing, profile_visibility)) {
                (Some(user), Visibility::Visible) => Ok(UserRenderContext { user, objects }),
                (_, Visibility::Suspended) => Err(Refusal::Suspended),
                (_, Visibility::Forbidden) => Err(Refusal::NotVisible),
                _ => Err(Refusal::NotFound),
            }
        })
    }

    fn loaded_media(&self, errors: &mut Vec<Refusal>) -> Vec<MediaRenderContext<'w>> {
        let objects = self.objects;
        self.media.find_all("media", errors, |key| {
            let media = id_from_media_key(key).and_then(|id| objects.media.get(id));
            media.map(|media| MediaRenderContext { media, objects }).ok_or(Refusal::NotFound)
        })
    }

    fn loaded_polls(&self, errors: &mut Vec<Refusal>) -> Vec<PollRenderContext<'w>> {
        let objects = self.objects;
        self.polls.find_all("poll", errors, |id| {
            let poll = objects.polls.get(id);
            poll.map(|poll| PollRenderContext { poll, now: objects.now }).ok_or(Refusal::NotFound)
        })
    }

    fn loaded_places(&self, errors: &mut Vec<Refusal>) -> Vec<&'w Place> {
        self.places.find_all("place", errors, |id| {
            let id = network::places::parse_place_id(id);
            id.and_then(|id| self.objects.places.get(id)).ok_or(Refusal::NotFound)
        })
    }
}

/// The name of an expansion in the response's vocabulary, or in the only one that has it.
const fn expansion_name(post: &'static str, tweet: &'static str, options: RenderOptions) -> &'static str {
    match options.vocabulary {
        Vocabulary::Post if !post.is_empty() => post,
        Vocabulary::Tweet if tweet.is_empty() => post,
        Vocabulary::Post | Vocabulary::Tweet => tweet,
    }
}
