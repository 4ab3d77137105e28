//! What people do.

use std::collections::VecDeque;

use base::{Error, Fault, PostId, Refusal, UserId};
use network::posts::{self, NewPost, PostAuthor};
use network::{follows, likes, reposts};
use store::Tx;
use store::posts::PageRange;

use super::dice::Dice;
use super::people::{TrafficPeople, TrafficPerson};
use super::texts;

/// Posts that people still react to.
const MAX_RECENT: usize = 200;
/// People whose posts someone reads first.
const MAX_CIRCLE: i64 = 100;
/// The code of a duplicate (contract core §3.5).
const DUPLICATE: u16 = 187;
const MAX_TEXTS: u32 = 4;

base::named_enum! {
    /// The names are in the plural.
    pub enum ActionKind {
        Post = "posts",
        Reply = "replies",
        Quote = "quotes",
        Repost = "reposts",
        Like = "likes",
        Follow = "follows",
    }
}

impl ActionKind {
    fn choose(dice: &Dice) -> Result<Self, Fault> {
        Ok(match dice.below(100)? {
            ..32 => Self::Post,
            32..56 => Self::Reply,
            56..60 => Self::Quote,
            60..68 => Self::Repost,
            68..95 => Self::Like,
            _ => Self::Follow,
        })
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ActionOutcome {
    /// With the post that others may react to.
    Done(ActionKind, Option<RecentPost>),
    WithoutEffect,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct RecentPost {
    id: PostId,
    author: UserId,
}

/// The newest first.
#[derive(Clone, Debug, Default)]
pub(super) struct RecentPosts(VecDeque<RecentPost>);

impl RecentPosts {
    pub(super) fn load(tx: &mut Tx<'_>, people: &TrafficPeople) -> Result<Self, Fault> {
        let limit = i64::try_from(MAX_RECENT).unwrap_or(i64::MAX);
        let newest = store::posts::list_recent(tx, PostId::new(0), limit)?;
        let visible = newest.into_iter().filter(|(_, author)| people.find(*author).is_some_and(|one| !one.protected));
        Ok(Self(visible.map(|(id, author)| RecentPost { id, author }).collect()))
    }

    pub(super) fn add(&mut self, post: RecentPost) {
        self.0.push_front(post);
        self.0.truncate(MAX_RECENT);
    }

    /// By someone else, preferably new and from the reader's circle.
    fn choose(&self, tx: &mut Tx<'_>, dice: &Dice, reader: UserId) -> Result<Option<RecentPost>, Fault> {
        let others: Vec<RecentPost> = self.0.iter().filter(|post| post.author != reader).copied().collect();
        if dice.has_luck(60)? {
            let circle = list_circle(tx, reader)?;
            let near: Vec<RecentPost> = others.iter().filter(|post| circle.contains(&post.author)).copied().collect();
            if let Some(post) = dice.choose_early(&near)? {
                return Ok(Some(*post));
            }
        }
        Ok(dice.choose_early(&others)?.copied())
    }
}

fn list_circle(tx: &mut Tx<'_>, user: UserId) -> Result<Vec<UserId>, Fault> {
    let followed = store::follows::following_page(tx, user, &PageRange::newest(MAX_CIRCLE))?;
    Ok(followed.into_iter().map(|(id, _)| id).collect())
}

/// Action `number` of a run. May be refused by a rule.
pub(super) fn perform_action(
    tx: &mut Tx<'_>,
    (people, recent): (&TrafficPeople, &RecentPosts),
    seed: u64,
    number: u64,
) -> Result<ActionOutcome, Error> {
    let dice = Dice::of_action(seed, number);
    let kind = ActionKind::choose(&dice)?;
    let now = tx.now();
    let scene = TrafficScene { people, recent, dice: &dice };
    match kind {
        ActionKind::Post => {
            let writer = people.choose_writer(&dice, now)?;
            scene.write_post(tx, kind, writer, None)
        }
        ActionKind::Follow => {
            let reader = people.choose_reader(&dice, now)?;
            scene.follow_someone(tx, reader)
        }
        ActionKind::Reply | ActionKind::Quote | ActionKind::Repost | ActionKind::Like => {
            let reader = people.choose_reader(&dice, now)?;
            match recent.choose(tx, &dice, reader.id)? {
                Some(post) => scene.react(tx, kind, reader, post),
                None => scene.write_post(tx, ActionKind::Post, reader, None),
            }
        }
    }
}

struct TrafficScene<'s> {
    people: &'s TrafficPeople,
    recent: &'s RecentPosts,
    dice: &'s Dice,
}

impl TrafficScene<'_> {
    fn react(
        &self,
        tx: &mut Tx<'_>,
        kind: ActionKind,
        reader: &TrafficPerson,
        post: RecentPost,
    ) -> Result<ActionOutcome, Error> {
        let is_new = match kind {
            ActionKind::Like => likes::like(tx, reader.id, post.id)?,
            ActionKind::Repost => reposts::repost(tx, reader.id, None, post.id)?.is_new,
            _ => return self.write_post(tx, kind, reader, Some(post)),
        };
        Ok(if is_new { ActionOutcome::Done(kind, None) } else { ActionOutcome::WithoutEffect })
    }

    fn follow_someone(&self, tx: &mut Tx<'_>, reader: &TrafficPerson) -> Result<ActionOutcome, Error> {
        // Most people follow the authors of what they have read.
        let read = if self.dice.has_luck(70)? { self.recent.choose(tx, self.dice, reader.id)? } else { None };
        let target = match read {
            Some(post) => Some(post.author),
            None => self.people.choose_other(self.dice, reader.id)?.map(|other| other.id),
        };
        let Some(target) = target else { return Ok(ActionOutcome::WithoutEffect) };
        if store::follows::exists(tx, reader.id, target)? {
            return Ok(ActionOutcome::WithoutEffect);
        }
        follows::follow(tx, reader.id, target)?;
        Ok(ActionOutcome::Done(ActionKind::Follow, None))
    }

    /// A post, a reply or a quote.
    fn write_post(
        &self,
        tx: &mut Tx<'_>,
        kind: ActionKind,
        writer: &TrafficPerson,
        about: Option<RecentPost>,
    ) -> Result<ActionOutcome, Error> {
        let author = PostAuthor { user_id: writer.id, app_id: None, self_serve: false };
        let hour = writer.local_hour(tx.now());
        let mention =
            if kind == ActionKind::Post && self.dice.has_luck(12)? { self.friend_name(tx, writer)? } else { None };
        let mut tries = 0;
        loop {
            let text = texts::write_text(self.dice, kind, writer.language, hour)?;
            let about_id = about.map(|post| post.id);
            let new = NewPost {
                text: mention.as_ref().map_or_else(|| text.clone(), |name| format!("{text} @{name}")),
                reply_to: about_id.filter(|_| kind == ActionKind::Reply),
                quote: about_id.filter(|_| kind == ActionKind::Quote),
                auto_populate_reply_metadata: true,
                ..NewPost::default()
            };
            tries += 1;
            match posts::create(tx, &author, &new) {
                Ok(post) => {
                    let recent = RecentPost { id: post.id, author: writer.id };
                    return Ok(ActionOutcome::Done(kind, Some(recent).filter(|_| !writer.protected)));
                }
                Err(Error::Refused(Refusal::Forbidden { code: Some(DUPLICATE), .. })) if tries < MAX_TEXTS => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// Someone whom the writer follows.
    fn friend_name(&self, tx: &mut Tx<'_>, writer: &TrafficPerson) -> Result<Option<String>, Fault> {
        let circle = list_circle(tx, writer.id)?;
        let friend = self.dice.choose(&circle)?.and_then(|id| self.people.find(*id));
        Ok(friend.map(|friend| friend.username.clone()))
    }
}
