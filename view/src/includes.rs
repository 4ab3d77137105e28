//! Resolves expansions: each object is included once, and each inaccessible object is one error.

use std::collections::HashSet;
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

use crate::field_schema::ExpansionResolver;
use crate::json_writer::JsonWriter;
use crate::loader::{ExpansionTarget, LoadedObjects};
use crate::media::{self, MediaRenderContext, id_from_media_key};
use crate::places;
use crate::polls::{self, PollRenderContext};
use crate::posts::{self, PostRenderContext};
use crate::spaces;
use crate::users::{self, UserRenderContext};
use crate::{FieldSelection, ObjectKind, RenderOptions};

/// Keys in order of first occurrence, each with the expansion that led to it.
struct DistinctTargets<T> {
    seen: HashSet<T>,
    entries: Vec<(T, &'static str)>,
}

impl<T: Copy + Eq + Hash> DistinctTargets<T> {
    fn new() -> Self {
        Self { seen: HashSet::new(), entries: Vec::new() }
    }

    fn push(&mut self, thing: T, expansion: &'static str) {
        if self.seen.insert(thing) {
            self.entries.push((thing, expansion));
        }
    }
}

pub(crate) struct IncludesBuilder<'w> {
    objects: &'w LoadedObjects,
    selection: &'w FieldSelection,
    options: RenderOptions,
    posts: DistinctTargets<PostId>,
    users: DistinctTargets<UserId>,
    media: DistinctTargets<&'w str>,
    topics: DistinctTargets<i64>,
    polls: DistinctTargets<i64>,
    places: DistinctTargets<&'w str>,
    errors: Vec<Refusal>,
}

impl<'w> IncludesBuilder<'w> {
    pub(crate) fn new(objects: &'w LoadedObjects, selection: &'w FieldSelection, options: RenderOptions) -> Self {
        Self {
            objects,
            selection,
            options,
            posts: DistinctTargets::new(),
            users: DistinctTargets::new(),
            media: DistinctTargets::new(),
            topics: DistinctTargets::new(),
            polls: DistinctTargets::new(),
            places: DistinctTargets::new(),
            errors: Vec::new(),
        }
    }

    /// Follows the expansions of the primary posts, or of the posts they refer to.
    pub(crate) fn expand_posts(&mut self, posts: &[&'w Post], nested: bool) {
        let (objects, mut targets) = (self.objects, Vec::new());
        for expansion in self.selection.requested_expansions().filter(|expansion| expansion.nested == nested) {
            if let ExpansionResolver::Post(resolve) = expansion.resolver {
                for post in posts {
                    resolve(PostRenderContext { post, objects }, &mut targets);
                }
                self.add_targets(&mut targets, expansion_name(expansion.name.post, expansion.name.tweet, self.options));
            }
        }
    }

    /// Follows the expansions of the primary objects.
    pub(crate) fn expand_rows(&mut self, mut resolve: impl FnMut(ExpansionResolver, &mut Vec<ExpansionTarget<'w>>)) {
        let mut targets = Vec::new();
        for expansion in self.selection.requested_expansions() {
            resolve(expansion.resolver, &mut targets);
            let name = expansion_name(expansion.name.post, expansion.name.tweet, self.options);
            self.add_targets(&mut targets, name);
        }
    }

    fn add_targets(&mut self, targets: &mut Vec<ExpansionTarget<'w>>, expansion: &'static str) {
        for target in targets.drain(..) {
            match target {
                ExpansionTarget::Post(id) => self.posts.push(id, expansion),
                ExpansionTarget::User(id) => self.users.push(id, expansion),
                ExpansionTarget::Media(key) => self.media.push(key, expansion),
                ExpansionTarget::Topic(id) => self.topics.push(id, expansion),
                ExpansionTarget::Poll(id) => self.polls.push(id, expansion),
                ExpansionTarget::Place(id) => self.places.push(id, expansion),
            }
        }
    }

    /// Renders `includes`, or an empty string; errors are appended to `errors`.
    pub(crate) fn render_includes(mut self, errors: &mut Vec<Refusal>) -> String {
        let posts = self.visible_posts();
        self.expand_posts(&posts, true);
        let (users, media) = (self.visible_users(), self.visible_media());
        let topics = self.loaded_topics();
        let (polls, places) = (self.loaded_polls(), self.loaded_places());
        errors.append(&mut self.errors);
        let carried = media.len() + polls.len() + places.len() + topics.len();
        if users.len() + posts.len() + carried == 0 {
            return String::new();
        }
        let (objects, selection) = (self.objects, self.selection);
        let room = 256 + users.len() * 512 + posts.len() * 1024 + carried * 512;
        let mut out = JsonWriter::new(self.options, room);
        out.write_object(|out| {
            let mask = selection.included_mask(ObjectKind::User);
            write_include_list(out, ObjectKind::User, &users, |out, user| {
                users::write(out, UserRenderContext { user, objects }, mask);
            });
            let mask = selection.included_mask(ObjectKind::Post);
            write_include_list(out, ObjectKind::Post, &posts, |out, post| {
                posts::write(out, PostRenderContext { post, objects }, mask);
            });
            let mask = selection.included_mask(ObjectKind::Media);
            write_include_list(out, ObjectKind::Media, &media, |out, media| {
                media::write(out, MediaRenderContext { media, objects }, mask);
            });
            let mask = selection.included_mask(ObjectKind::Topic);
            write_include_list(out, ObjectKind::Topic, &topics, |out, topic| {
                spaces::write_topic(out, topic, mask);
            });
            let mask = selection.included_mask(ObjectKind::Poll);
            write_include_list(out, ObjectKind::Poll, &polls, |out, poll| {
                let now = objects.now;
                polls::write(out, PollRenderContext { poll, now }, mask);
            });
            let mask = selection.included_mask(ObjectKind::Place);
            write_include_list(out, ObjectKind::Place, &places, |out, place| {
                places::write(out, place, mask);
            });
        });
        out.finish()
    }

    fn visible_posts(&mut self) -> Vec<&'w Post> {
        let (objects, mask) = (self.objects, self.selection.included_mask(ObjectKind::Post));
        let mut shown = Vec::with_capacity(self.posts.entries.len());
        for (id, expansion) in &self.posts.entries {
            let subject = || ResourceRef::from_expansion("tweet", *expansion, *id);
            let Some(post) = objects.posts.get(*id) else {
                self.errors.push(Refusal::NotFound(subject()));
                continue;
            };
            let ctx = PostRenderContext { post, objects };
            match objects.post_visibility(post) {
                Visibility::Visible => {
                    let errors = &mut self.errors;
                    if !posts::reject_private_metrics(ctx, mask, subject, self.options.vocabulary, errors) {
                        shown.push(post);
                    }
                }
                Visibility::Missing => self.errors.push(Refusal::NotFound(subject())),
                Visibility::Forbidden | Visibility::Suspended => {
                    self.errors.push(Refusal::NotVisible(subject()));
                }
            }
        }
        shown
    }

    fn visible_users(&mut self) -> Vec<&'w User> {
        let mut shown = Vec::with_capacity(self.users.entries.len());
        for (id, expansion) in &self.users.entries {
            let subject = || ResourceRef::from_expansion("user", *expansion, *id);
            match self.objects.users.get(*id).map(|user| (user, profile_visibility(user))) {
                Some((user, Visibility::Visible)) => shown.push(user),
                Some((_, Visibility::Suspended)) => self.errors.push(Refusal::Suspended(subject())),
                Some((_, Visibility::Forbidden)) => self.errors.push(Refusal::NotVisible(subject())),
                Some((_, Visibility::Missing)) | None => {
                    self.errors.push(Refusal::NotFound(subject()));
                }
            }
        }
        shown
    }

    fn loaded_topics(&self) -> Vec<&'w SpaceTopic> {
        let ids = self.topics.entries.iter();
        ids.filter_map(|(id, _)| self.objects.topics.get(*id)).collect()
    }

    fn visible_media(&mut self) -> Vec<&'w Media> {
        let mut shown = Vec::with_capacity(self.media.entries.len());
        for (key, expansion) in &self.media.entries {
            let media = id_from_media_key(key).and_then(|id| self.objects.media.get(id));
            shown.extend(media);
            if media.is_none() {
                let subject = ResourceRef::from_expansion("media", *expansion, *key);
                self.errors.push(Refusal::NotFound(subject));
            }
        }
        shown
    }

    fn loaded_polls(&mut self) -> Vec<&'w Poll> {
        let mut shown = Vec::with_capacity(self.polls.entries.len());
        for (id, expansion) in &self.polls.entries {
            let poll = self.objects.polls.get(*id);
            shown.extend(poll);
            if poll.is_none() {
                let subject = ResourceRef::from_expansion("poll", *expansion, *id);
                self.errors.push(Refusal::NotFound(subject));
            }
        }
        shown
    }

    fn loaded_places(&mut self) -> Vec<&'w Place> {
        let mut shown = Vec::with_capacity(self.places.entries.len());
        for (id, expansion) in &self.places.entries {
            let place = network::places::parse_place_id(id).and_then(|id| self.objects.places.get(id));
            shown.extend(place);
            if place.is_none() {
                let subject = ResourceRef::from_expansion("place", *expansion, *id);
                self.errors.push(Refusal::NotFound(subject));
            }
        }
        shown
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

fn write_include_list<T>(
    out: &mut JsonWriter,
    object: ObjectKind,
    records: &[&T],
    write: impl Fn(&mut JsonWriter, &T),
) {
    if let Some(key) = object.include_key()
        && !records.is_empty()
    {
        out.write_member(key, |out| {
            out.write_array(records, |out, record| write(out, record));
        });
    }
}
