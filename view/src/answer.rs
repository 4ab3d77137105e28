//! Answers: the things asked for, what they lead to, and what could not be shown.

use std::fmt::Display;

use base::refusal::ResourceRef;
use base::{Fault, PostId, Refusal, UserId, Vocabulary};
use network::visibility::{AuthorVisibilities, Viewer, Visibility, profile_visibility};
use store::Tx;
use store::media::Media;
use store::posts::Post;
use store::users::User;

use crate::Wants;
use crate::include::Includes;
use crate::media::{self, MediaFacts, id_of};
use crate::out::Out;
use crate::posts::{self, PostFacts};
use crate::shown::Reach;
use crate::users::{self, UserFacts};
use crate::world::{Target, World};

/// How an answer is spoken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Spoken {
    /// Its vocabulary.
    pub speech: Vocabulary,
    /// Whether figures whose names differ come under both: the request did not tell which its
    /// client knows.
    pub both_metrics: bool,
}

/// The parts of an answer, as JSON.
#[derive(Clone, Debug, Default)]
pub struct Answer {
    /// An array, or an object for a single thing; empty when there is nothing.
    pub data: String,
    /// An object; empty when there is nothing in it.
    pub includes: String,
    /// What was asked for or led to and is not shown, and why; nothing twice.
    pub errors: Vec<Refusal>,
    /// How many things are in `data`.
    pub count: usize,
    /// The posts in `data`.
    pub posts: Vec<PostId>,
    /// The highest id of the posts in `data`.
    pub newest: Option<PostId>,
    /// The lowest.
    pub oldest: Option<PostId>,
}

/// The things that a request names: each is answered, or refused by its name.
#[derive(Clone, Copy, Debug)]
pub struct Asked<'a, T> {
    /// The parameter that names them: `ids`, `id`, `usernames`, `username`.
    pub parameter: &'static str,
    /// What it holds, in order.
    pub values: &'a [T],
}

/// What a request can name a user by.
pub trait Names: Display {
    /// Whether it names this user.
    fn names(&self, user: &User) -> bool;
}

impl Names for UserId {
    fn names(&self, user: &User) -> bool {
        user.id == *self
    }
}

/// A handle, in whatever case.
impl Names for String {
    fn names(&self, user: &User) -> bool {
        user.username.eq_ignore_ascii_case(self)
    }
}

/// A page of posts, in their order; those that may not be seen are left out.
pub fn posts(
    tx: &mut Tx<'_>,
    viewer: Viewer,
    page: Vec<Post>,
    wants: &Wants,
    spoken: Spoken,
) -> Result<Answer, Fault> {
    let world = World::of_posts(tx, viewer, page, wants)?;
    Ok(page_of_posts(&world, wants, spoken))
}

/// The posts that were asked for, in the order of asking.
pub fn posts_asked(
    tx: &mut Tx<'_>,
    viewer: Viewer,
    found: Vec<Post>,
    wants: &Wants,
    spoken: Spoken,
    asked: Asked<'_, PostId>,
) -> Result<Answer, Fault> {
    let world = World::of_posts(tx, viewer, found, wants)?;
    Ok(asked_posts(&world, wants, spoken, asked))
}

/// One post that was asked for; `data` is an object.
pub fn post(
    tx: &mut Tx<'_>,
    viewer: Viewer,
    found: Option<Post>,
    wants: &Wants,
    spoken: Spoken,
    asked: Asked<'_, PostId>,
) -> Result<Answer, Fault> {
    let found = found.into_iter().collect();
    posts_asked(tx, viewer, found, wants, spoken, asked).map(Answer::single)
}

/// A page of users, in their order; those that may not be seen are left out.
pub fn users(
    tx: &mut Tx<'_>,
    viewer: Viewer,
    page: Vec<User>,
    wants: &Wants,
    spoken: Spoken,
) -> Result<Answer, Fault> {
    let world = World::of_users(tx, viewer, page, wants)?;
    Ok(page_of_users(&world, wants, spoken))
}

/// The users that were asked for, in the order of asking.
pub fn users_asked<N: Names>(
    tx: &mut Tx<'_>,
    viewer: Viewer,
    found: Vec<User>,
    wants: &Wants,
    spoken: Spoken,
    asked: Asked<'_, N>,
) -> Result<Answer, Fault> {
    let world = World::of_users(tx, viewer, found, wants)?;
    Ok(asked_users(&world, wants, spoken, asked))
}

/// One user that was asked for; `data` is an object.
pub fn user<N: Names>(
    tx: &mut Tx<'_>,
    viewer: Viewer,
    found: Option<User>,
    wants: &Wants,
    spoken: Spoken,
    asked: Asked<'_, N>,
) -> Result<Answer, Fault> {
    let found = found.into_iter().collect();
    users_asked(tx, viewer, found, wants, spoken, asked).map(Answer::single)
}

/// The text of a post just written, as it will be read: not escaped, with the link to its media.
pub fn text_of_new(tx: &mut Tx<'_>, post: &Post, site: &str) -> Result<String, Fault> {
    posts::of_new(tx, post, site)
}

/// The media that were asked for by key, in the order of asking.
pub fn media_asked(
    tx: &mut Tx<'_>,
    viewer: Viewer,
    wants: &Wants,
    spoken: Spoken,
    asked: Asked<'_, String>,
) -> Result<Answer, Fault> {
    let ids: Vec<i64> = asked.values.iter().filter_map(|key| id_of(key)).collect();
    let found = store::media::find_by_ids(tx, &ids)?;
    let world = World::of_media(tx, viewer, found, wants)?;
    let sights = AuthorVisibilities::load(tx, viewer, world.users.items())?;
    let (mut shown, mut errors) = (Vec::<&Media>::new(), Vec::new());
    for key in asked.values {
        let subject = || ResourceRef::new("media", asked.parameter, key);
        let media = id_of(key).and_then(|id| world.media.get(id));
        let media = media.filter(|media| media.media_key == *key && media.kind != "subtitles");
        let sight = media.map_or(Visibility::Missing, |media| {
            let owned = viewer.user == Some(media.owner_id);
            match media.uses {
                // What no post carries is nobody else's business.
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
            (_, Visibility::Visible | Visibility::Missing) => {
                once(&mut errors, Refusal::NotFound(subject()))
            }
            _ => once(&mut errors, Refusal::NotVisible(subject())),
        }
    }
    let mut out = Out::new(spoken, shown.len() * 512);
    if !shown.is_empty() {
        out.array(&shown, |out, media| {
            let world = &world;
            media::write(out, MediaFacts { media, world }, wants.of_root());
        });
    }
    Ok(Answer {
        data: out.finish(),
        errors,
        count: shown.len(),
        ..Answer::default()
    })
}

/// One media that was asked for by its key; `data` is an object.
pub fn media_by_key(
    tx: &mut Tx<'_>,
    viewer: Viewer,
    wants: &Wants,
    spoken: Spoken,
    asked: Asked<'_, String>,
) -> Result<Answer, Fault> {
    media_asked(tx, viewer, wants, spoken, asked).map(Answer::single)
}

/// What rows are spoken with: what is known around them, what is wanted, and how.
#[derive(Clone, Copy)]
pub(crate) struct Speaker<'w> {
    pub(crate) world: &'w World,
    pub(crate) wants: &'w Wants,
    pub(crate) spoken: Spoken,
}

impl Speaker<'_> {
    /// The answer of rows that are shown: `write` writes one with the fields of a mask, `lead`
    /// follows an expansion from one.
    pub(crate) fn answer<'t, T: Copy>(
        &'t self,
        shown: &[T],
        mut errors: Vec<Refusal>,
        size: usize,
        lead: impl Fn(Reach, T, &mut Vec<Target<'t>>),
        write: impl Fn(&mut Out, T, u64),
    ) -> Answer {
        let mut includes = Includes::new(self.world, self.wants, self.spoken);
        includes.follow(|reach, to| shown.iter().for_each(|row| lead(reach, *row, to)));
        let mask = self.wants.of_root();
        Answer {
            includes: includes.speak(&mut errors),
            errors,
            ..Answer::of_rows(self.spoken, shown, size, |out, row| write(out, *row, mask))
        }
    }
}

impl Answer {
    /// The answer of rows that lead nowhere; `size` is how long one is about.
    pub(crate) fn of_rows<T>(
        spoken: Spoken,
        shown: &[T],
        size: usize,
        write: impl Fn(&mut Out, &T),
    ) -> Self {
        let mut out = Out::new(spoken, shown.len() * size);
        if !shown.is_empty() {
            out.array(shown, write);
        }
        Self {
            data: out.finish(),
            count: shown.len(),
            ..Self::default()
        }
    }

    /// The one thing that was asked for, or that there is none.
    pub(crate) fn single_of<T: Display>(mut self, kind: &'static str, asked: Asked<'_, T>) -> Self {
        if self.count == 0 {
            let named = asked.values.iter();
            let subjects = named.map(|id| ResourceRef::new(kind, asked.parameter, id));
            self.errors = subjects.map(Refusal::NotFound).collect();
        }
        self.single()
    }

    /// The object alone instead of an array of it.
    pub(crate) fn single(mut self) -> Self {
        if self.data.starts_with('[') {
            self.data.remove(0);
            self.data.pop();
        }
        self
    }
}

pub(crate) fn page_of_posts(world: &World, wants: &Wants, spoken: Spoken) -> Answer {
    let mut errors = Vec::new();
    let page = world.posts.items().iter().take(world.roots);
    let seen = page.filter(|post| world.sight(post) == Visibility::Visible);
    let shown = seen.filter(|post| {
        let subject = || ResourceRef::new("tweet", "id", post.id);
        !private(world, post, wants, spoken, subject, &mut errors)
    });
    let shown = shown.collect();
    spoken_posts(world, wants, spoken, shown, errors)
}

pub(crate) fn asked_posts(
    world: &World,
    wants: &Wants,
    spoken: Spoken,
    asked: Asked<'_, PostId>,
) -> Answer {
    let (mut shown, mut errors) = (Vec::with_capacity(asked.values.len()), Vec::new());
    for id in asked.values {
        let subject = || ResourceRef::new("tweet", asked.parameter, *id);
        let post = world.posts.get(*id);
        match (
            post,
            post.map_or(Visibility::Missing, |post| world.sight(post)),
        ) {
            (Some(post), Visibility::Visible) => {
                let known = shown.iter().any(|other: &&Post| std::ptr::eq(*other, post));
                if !known && !private(world, post, wants, spoken, subject, &mut errors) {
                    shown.push(post);
                }
            }
            (_, Visibility::Visible | Visibility::Missing) => {
                once(&mut errors, Refusal::NotFound(subject()))
            }
            (_, Visibility::Forbidden | Visibility::Suspended) => {
                once(&mut errors, Refusal::NotVisible(subject()));
            }
        }
    }
    spoken_posts(world, wants, spoken, shown, errors)
}

fn private(
    world: &World,
    post: &Post,
    wants: &Wants,
    spoken: Spoken,
    subject: impl Fn() -> ResourceRef,
    errors: &mut Vec<Refusal>,
) -> bool {
    let facts = PostFacts { post, world };
    posts::forbidden_fields(facts, wants.of_root(), subject, spoken.speech, errors)
}

fn spoken_posts<'w>(
    world: &'w World,
    wants: &'w Wants,
    spoken: Spoken,
    shown: Vec<&'w Post>,
    mut errors: Vec<Refusal>,
) -> Answer {
    let mask = wants.of_root();
    let mut includes = Includes::new(world, wants, spoken);
    includes.follow_posts(&shown, false);
    let mut out = Out::new(spoken, shown.len() * 768);
    if !shown.is_empty() {
        out.array(&shown, |out, post| {
            posts::write(out, PostFacts { post, world }, mask);
        });
    }
    Answer {
        data: out.finish(),
        includes: includes.speak(&mut errors),
        errors,
        count: shown.len(),
        posts: shown.iter().map(|post| post.id).collect(),
        newest: shown.iter().map(|post| post.id).max(),
        oldest: shown.iter().map(|post| post.id).min(),
    }
}

pub(crate) fn page_of_users(world: &World, wants: &Wants, spoken: Spoken) -> Answer {
    let page = world.users.items().iter().take(world.roots);
    let shown = page.filter(|user| profile_visibility(user) == Visibility::Visible);
    spoken_users(world, wants, spoken, &shown.collect::<Vec<_>>(), Vec::new())
}

pub(crate) fn asked_users<N: Names>(
    world: &World,
    wants: &Wants,
    spoken: Spoken,
    asked: Asked<'_, N>,
) -> Answer {
    let (mut shown, mut errors) = (Vec::with_capacity(asked.values.len()), Vec::new());
    let found = world.users.items().get(..world.roots).unwrap_or_default();
    for (place, name) in asked.values.iter().enumerate() {
        let subject = || ResourceRef::new("user", asked.parameter, name);
        // Records mostly come in the order of asking.
        let around = found.iter().cycle().skip(place).take(found.len());
        let user = around.into_iter().find(|user| name.names(user));
        match (user, user.map_or(Visibility::Missing, profile_visibility)) {
            (Some(user), Visibility::Visible) => {
                if !shown.iter().any(|other: &&User| std::ptr::eq(*other, user)) {
                    shown.push(user);
                }
            }
            (_, Visibility::Visible | Visibility::Missing) => {
                once(&mut errors, Refusal::NotFound(subject()))
            }
            (_, Visibility::Forbidden) => once(&mut errors, Refusal::NotVisible(subject())),
            (_, Visibility::Suspended) => once(&mut errors, Refusal::Suspended(subject())),
        }
    }
    spoken_users(world, wants, spoken, &shown, errors)
}

fn spoken_users<'w>(
    world: &'w World,
    wants: &'w Wants,
    spoken: Spoken,
    shown: &[&'w User],
    errors: Vec<Refusal>,
) -> Answer {
    let speaker = Speaker {
        world,
        wants,
        spoken,
    };
    let lead = |reach, user, to: &mut Vec<_>| {
        if let Reach::User(reach) = reach {
            reach(UserFacts { user, world }, to);
        }
    };
    let write = |out: &mut Out, user, mask| users::write(out, UserFacts { user, world }, mask);
    speaker.answer(shown, errors, 512, lead, write)
}

fn once(errors: &mut Vec<Refusal>, refusal: Refusal) {
    if !errors.contains(&refusal) {
        errors.push(refusal);
    }
}
