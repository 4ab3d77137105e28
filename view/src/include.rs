//! What expansions lead to: each thing once, and what may not be seen as an error, once.

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

use crate::media::{self, MediaFacts, id_of};
use crate::out::Out;
use crate::places;
use crate::polls::{self, PollFacts};
use crate::posts::{self, PostFacts};
use crate::shown::Reach;
use crate::spaces;
use crate::users::{self, UserFacts};
use crate::world::{Target, World};
use crate::{Object, Spoken, Wants};

/// Things in the order in which they came up, each once, with the expansion that led there.
struct Found<T> {
    seen: HashSet<T>,
    list: Vec<(T, &'static str)>,
}

impl<T: Copy + Eq + Hash> Found<T> {
    fn new() -> Self {
        Self {
            seen: HashSet::new(),
            list: Vec::new(),
        }
    }

    fn add(&mut self, thing: T, expansion: &'static str) {
        if self.seen.insert(thing) {
            self.list.push((thing, expansion));
        }
    }
}

/// The targets of an answer's expansions.
pub(crate) struct Includes<'w> {
    world: &'w World,
    wants: &'w Wants,
    spoken: Spoken,
    posts: Found<PostId>,
    users: Found<UserId>,
    media: Found<&'w str>,
    topics: Found<i64>,
    polls: Found<i64>,
    places: Found<&'w str>,
    errors: Vec<Refusal>,
}

impl<'w> Includes<'w> {
    pub(crate) fn new(world: &'w World, wants: &'w Wants, spoken: Spoken) -> Self {
        Self {
            world,
            wants,
            spoken,
            posts: Found::new(),
            users: Found::new(),
            media: Found::new(),
            topics: Found::new(),
            polls: Found::new(),
            places: Found::new(),
            errors: Vec::new(),
        }
    }

    /// Follows the expansions from the posts of an answer, or from those that they refer to.
    pub(crate) fn follow_posts(&mut self, posts: &[&'w Post], nested: bool) {
        let (world, mut targets) = (self.world, Vec::new());
        for expansion in self
            .wants
            .expansions()
            .filter(|expansion| expansion.nested == nested)
        {
            if let Reach::Post(reach) = expansion.reach {
                for post in posts {
                    reach(PostFacts { post, world }, &mut targets);
                }
                self.add(
                    &mut targets,
                    name(expansion.name.post, expansion.name.tweet, self.spoken),
                );
            }
        }
    }

    /// Follows the expansions from the rows of an answer.
    pub(crate) fn follow(&mut self, mut reach: impl FnMut(Reach, &mut Vec<Target<'w>>)) {
        let mut targets = Vec::new();
        for expansion in self.wants.expansions() {
            reach(expansion.reach, &mut targets);
            let name = name(expansion.name.post, expansion.name.tweet, self.spoken);
            self.add(&mut targets, name);
        }
    }

    fn add(&mut self, targets: &mut Vec<Target<'w>>, expansion: &'static str) {
        for target in targets.drain(..) {
            match target {
                Target::Post(id) => self.posts.add(id, expansion),
                Target::User(id) => self.users.add(id, expansion),
                Target::Media(key) => self.media.add(key, expansion),
                Target::Topic(id) => self.topics.add(id, expansion),
                Target::Poll(id) => self.polls.add(id, expansion),
                Target::Place(id) => self.places.add(id, expansion),
            }
        }
    }

    /// The text of `includes`, empty when there is nothing in it; its errors go to `errors`.
    pub(crate) fn speak(mut self, errors: &mut Vec<Refusal>) -> String {
        let posts = self.visible_posts();
        self.follow_posts(&posts, true);
        let (users, media) = (self.visible_users(), self.visible_media());
        let topics = self.known_topics();
        let (polls, places) = (self.known_polls(), self.known_places());
        errors.append(&mut self.errors);
        let carried = media.len() + polls.len() + places.len() + topics.len();
        if users.len() + posts.len() + carried == 0 {
            return String::new();
        }
        let (world, wants) = (self.world, self.wants);
        let room = 256 + users.len() * 512 + posts.len() * 1024 + carried * 512;
        let mut out = Out::new(self.spoken, room);
        out.object(|out| {
            let mask = wants.of_included(Object::User);
            list(out, Object::User, &users, |out, user| {
                users::write(out, UserFacts { user, world }, mask);
            });
            let mask = wants.of_included(Object::Post);
            list(out, Object::Post, &posts, |out, post| {
                posts::write(out, PostFacts { post, world }, mask);
            });
            let mask = wants.of_included(Object::Media);
            list(out, Object::Media, &media, |out, media| {
                media::write(out, MediaFacts { media, world }, mask);
            });
            let mask = wants.of_included(Object::Topic);
            list(out, Object::Topic, &topics, |out, topic| {
                spaces::write_topic(out, topic, mask);
            });
            let mask = wants.of_included(Object::Poll);
            list(out, Object::Poll, &polls, |out, poll| {
                let now = world.now;
                polls::write(out, PollFacts { poll, now }, mask);
            });
            let mask = wants.of_included(Object::Place);
            list(out, Object::Place, &places, |out, place| {
                places::write(out, place, mask);
            });
        });
        out.finish()
    }

    fn visible_posts(&mut self) -> Vec<&'w Post> {
        let (world, mask) = (self.world, self.wants.of_included(Object::Post));
        let mut shown = Vec::with_capacity(self.posts.list.len());
        for (id, expansion) in &self.posts.list {
            let subject = || ResourceRef::from_expansion("tweet", *expansion, *id);
            let Some(post) = world.posts.get(*id) else {
                self.errors.push(Refusal::NotFound(subject()));
                continue;
            };
            let facts = PostFacts { post, world };
            match world.sight(post) {
                Visibility::Visible => {
                    let errors = &mut self.errors;
                    if !posts::forbidden_fields(facts, mask, subject, self.spoken.speech, errors) {
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
        let mut shown = Vec::with_capacity(self.users.list.len());
        for (id, expansion) in &self.users.list {
            let subject = || ResourceRef::from_expansion("user", *expansion, *id);
            match self
                .world
                .users
                .get(*id)
                .map(|user| (user, profile_visibility(user)))
            {
                Some((user, Visibility::Visible)) => shown.push(user),
                Some((_, Visibility::Suspended)) => self.errors.push(Refusal::Suspended(subject())),
                Some((_, Visibility::Forbidden)) => {
                    self.errors.push(Refusal::NotVisible(subject()))
                }
                Some((_, Visibility::Missing)) | None => {
                    self.errors.push(Refusal::NotFound(subject()));
                }
            }
        }
        shown
    }

    fn known_topics(&self) -> Vec<&'w SpaceTopic> {
        let ids = self.topics.list.iter();
        ids.filter_map(|(id, _)| self.world.topics.get(*id))
            .collect()
    }

    fn visible_media(&mut self) -> Vec<&'w Media> {
        let mut shown = Vec::with_capacity(self.media.list.len());
        for (key, expansion) in &self.media.list {
            let media = id_of(key).and_then(|id| self.world.media.get(id));
            shown.extend(media);
            if media.is_none() {
                let subject = ResourceRef::from_expansion("media", *expansion, *key);
                self.errors.push(Refusal::NotFound(subject));
            }
        }
        shown
    }

    fn known_polls(&mut self) -> Vec<&'w Poll> {
        let mut shown = Vec::with_capacity(self.polls.list.len());
        for (id, expansion) in &self.polls.list {
            let poll = self.world.polls.get(*id);
            shown.extend(poll);
            if poll.is_none() {
                let subject = ResourceRef::from_expansion("poll", *expansion, *id);
                self.errors.push(Refusal::NotFound(subject));
            }
        }
        shown
    }

    fn known_places(&mut self) -> Vec<&'w Place> {
        let mut shown = Vec::with_capacity(self.places.list.len());
        for (id, expansion) in &self.places.list {
            let place =
                network::places::parse_place_id(id).and_then(|id| self.world.places.get(id));
            shown.extend(place);
            if place.is_none() {
                let subject = ResourceRef::from_expansion("place", *expansion, *id);
                self.errors.push(Refusal::NotFound(subject));
            }
        }
        shown
    }
}

/// An expansion's name in the answer's vocabulary, or in the one that has it.
const fn name(post: &'static str, tweet: &'static str, spoken: Spoken) -> &'static str {
    match spoken.speech {
        Vocabulary::Post if !post.is_empty() => post,
        Vocabulary::Tweet if tweet.is_empty() => post,
        Vocabulary::Post | Vocabulary::Tweet => tweet,
    }
}

fn list<T>(out: &mut Out, object: Object, records: &[&T], write: impl Fn(&mut Out, &T)) {
    if let Some(key) = object.include_key()
        && !records.is_empty()
    {
        out.member(key, |out| {
            out.array(records, |out, record| write(out, record));
        });
    }
}
