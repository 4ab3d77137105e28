//! `locum trigger`: makes a kind of event happen, by doing what it tells of. Nothing is made up:
//! the same rules hold as for everyone, and what was done stays.

use base::{Error, PostId, Refusal, UserId};
use clap::Args;
use network::activity::{ActivityEventKind, EVENT_KINDS, find_event_kind};
use network::audit::AuditActor;
use network::messages::{self, MessageSender, NewMessage};
use network::news::{self, NewNewsStory};
use network::posts::{self, NewPost, PostAuthor};
use network::profiles::{self, AffiliateBadge, ProfileChanges};
use network::spaces::{self, NewSpace};
use network::{blocks, follows, grants, likes, mutes, reposts, users};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use store::Tx;
use store::messages::DmConversation;
use store::spaces::SpaceState;
use store::users::User;

use super::find;
use crate::config::Mode;
use crate::world::World;

/// Why it is not done on a real network.
pub(super) const NOT_HERE: &str = "events are triggered in a test world only";

/// What is to happen, and to whom.
#[derive(Args, Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Trigger {
    /// The kind of event, as subscriptions name it: post.create, follow.follow, dm.received, …
    kind: String,
    /// Whom the event is about: @username or id; the oldest account by default
    #[arg(long)]
    user: Option<String>,
    /// Who else takes part: @username or id; the next oldest account by default
    #[arg(long, value_name = "USER")]
    other: Option<String>,
    /// What is written, or stands in the profile from now on; something new by default
    #[arg(long)]
    text: Option<String>,
    /// The post that is deleted, answered, quoted, reposted or liked; a new one by default
    #[arg(long, value_name = "ID")]
    post: Option<String>,
    /// Whose access is taken back by oauth.revoke: name, id or API key
    #[arg(long)]
    app: Option<String>,
}

/// Does it.
pub(super) async fn execute(world: &World, trigger: Trigger) -> Result<Value, Error> {
    if world.settings.mode != Mode::Dev {
        return Err(Refusal::forbidden(NOT_HERE).into());
    }
    let kind = kind(&trigger.kind)?;
    let done = world.store.write(move |tx| {
        let scene = Scene::set(tx, &trigger)?;
        let mut told = scene.cause(tx, kind)?;
        told.insert("kind".to_owned(), json!(kind.name));
        told.insert("user_id".to_owned(), json!(scene.user.id.to_string()));
        Ok(Value::Object(told))
    });
    done.await
}

/// The kind that is called so, if it ever happens here.
fn kind(name: &str) -> Result<&'static ActivityEventKind, Refusal> {
    let found = find_event_kind(name).map(|(kind, _)| kind);
    found
        .filter(|kind| !kind.log_kind.is_empty())
        .ok_or_else(|| {
            let known = EVENT_KINDS.iter().filter(|kind| !kind.log_kind.is_empty());
            let known: Vec<&str> = known.map(|kind| kind.name).collect();
            let message = format!("nothing here causes [{name}], only: {}", known.join(", "));
            Refusal::invalid_parameter("kind", name, message)
        })
}

/// What came of it.
type Told = Result<Map<String, Value>, Error>;

/// Those who take part, and what they are to say.
struct Scene<'t> {
    trigger: &'t Trigger,
    user: User,
    other: UserId,
    text: String,
}

impl<'t> Scene<'t> {
    fn set(tx: &mut Tx<'_>, trigger: &'t Trigger) -> Result<Self, Error> {
        let user = match &trigger.user {
            Some(text) => find::user(tx, text)?,
            None => someone(tx, None)?,
        };
        let other = match &trigger.other {
            Some(text) => find::user(tx, text)?,
            None => someone(tx, Some(user.id))?,
        };
        // Nobody may say the same twice in a row.
        let fresh = || format!("Triggered {}", trigger_id(tx));
        let text = trigger.text.clone().unwrap_or_else(fresh);
        Ok(Self {
            trigger,
            user,
            other: other.id,
            text,
        })
    }

    fn cause(&self, tx: &mut Tx<'_>, kind: &ActivityEventKind) -> Told {
        match kind.name.split_once('.') {
            Some(("profile", _)) => self.profile(tx, kind.name),
            Some(("post" | "like", _)) => self.post(tx, kind.name),
            Some(("dm", what)) => self.message(tx, what),
            Some(("spaces", what)) => self.space(tx, what),
            Some(("news", _)) => {
                let new = NewNewsStory {
                    name: self.text.clone(),
                    publish: true,
                    ..NewNewsStory::default()
                };
                let story = news::create(tx, &new)?;
                Ok(told([("story_id", story.id.to_string())]))
            }
            Some(("oauth", _)) => {
                let app = self.trigger.app.as_deref();
                let app =
                    app.ok_or_else(|| Refusal::invalid_parameter("app", "", "which --app?"))?;
                let app = find::app(tx, app)?;
                grants::revoke(tx, &AuditActor::user(self.user.id, ""), app.id)?;
                Ok(told([("app_id", app.id.to_string())]))
            }
            _ => self.tie(tx, kind.name),
        }
    }

    /// What begins has ended before, what ends has begun: else nothing would happen.
    fn tie(&self, tx: &mut Tx<'_>, name: &str) -> Told {
        let (user, other) = (self.user.id, self.other);
        match name {
            "follow.follow" => {
                follows::unfollow(tx, user, other)?;
                follows::follow_approved(tx, user, other)?;
            }
            "follow.unfollow" => {
                follows::follow_approved(tx, user, other)?;
                follows::unfollow(tx, user, other)?;
            }
            "mute.mute" => {
                mutes::unmute(tx, user, other)?;
                mutes::mute(tx, user, other)?;
            }
            "mute.unmute" => {
                mutes::mute(tx, user, other)?;
                mutes::unmute(tx, user, other)?;
            }
            "block.block" => {
                blocks::unblock(tx, user, other)?;
                blocks::block(tx, user, other)?;
            }
            "block.unblock" => {
                blocks::block(tx, user, other)?;
                blocks::unblock(tx, user, other)?;
            }
            name => return Err(find::unknown("kind", name)),
        }
        Ok(told([("other_id", other.to_string())]))
    }

    fn profile(&self, tx: &mut Tx<'_>, name: &str) -> Told {
        let (by, id) = (AuditActor::operator(), self.user.id);
        let said = Some(self.text.clone());
        let address = |end: &str| {
            let made = || format!("https://example.org/{}{end}", trigger_id(tx));
            Some(self.trigger.text.clone().unwrap_or_else(made))
        };
        let mut edit = ProfileChanges::default();
        match name {
            "profile.update.bio" => edit.description = said,
            "profile.update.geo" => edit.location = said,
            "profile.update.screenname" => edit.name = said,
            "profile.update.url" => edit.url = address(""),
            "profile.update.profile_picture" => edit.profile_image_url = address(".png"),
            "profile.update.banner_picture" => edit.profile_banner_url = address(".png"),
            "profile.update.handle" => {
                // At most 15 characters.
                let made = || format!("user_{:09}", trigger_id(tx) % 1_000_000_000);
                edit.username = Some(self.trigger.text.clone().unwrap_or_else(made));
            }
            "profile.update.verified_badge" => {
                let blue = self.user.verified_type == "blue";
                let user = profiles::set_verified_type(
                    tx,
                    &by,
                    id,
                    if blue { "business" } else { "blue" },
                )?;
                return Ok(told([("verified_type", user.verified_type)]));
            }
            "profile.update.affiliate_badge" => {
                let badge = AffiliateBadge::default();
                let none = self.user.affiliation.is_empty();
                let organization = none.then_some((self.other, &badge));
                let user = profiles::set_affiliation(tx, &by, id, organization)?;
                return Ok(told([("affiliation", user.affiliation)]));
            }
            name => return Err(find::unknown("kind", name)),
        }
        profiles::update(tx, &by, id, &edit)?;
        Ok(Map::new())
    }

    /// A post of somebody's.
    fn write(tx: &mut Tx<'_>, author: UserId, new: &NewPost) -> Result<PostId, Error> {
        let author = PostAuthor {
            user_id: author,
            app_id: None,
            self_serve: false,
        };
        Ok(posts::create(tx, &author, new)?.id)
    }

    /// The post that is meant, or a new one of somebody's.
    fn subject(&self, tx: &mut Tx<'_>, author: UserId) -> Result<PostId, Error> {
        if let Some(text) = &self.trigger.post {
            return find::post(text);
        }
        let text = format!("To be acted upon {}", trigger_id(tx));
        Self::write(tx, author, &plain(text))
    }

    fn post(&self, tx: &mut Tx<'_>, name: &str) -> Told {
        let (user, other) = (self.user.id, self.other);
        let mut new = plain(self.text.clone());
        let id = match name {
            "post.create" => Self::write(tx, user, &new)?,
            "post.delete" => {
                let id = self.subject(tx, user)?;
                posts::delete(tx, user, id)?;
                id
            }
            "post.mention.create" => {
                new.text = format!("@{} {}", self.user.username, self.text);
                Self::write(tx, other, &new)?
            }
            "post.reply.create" => {
                new.reply_to = Some(self.subject(tx, user)?);
                Self::write(tx, other, &new)?
            }
            "post.quote.create" => {
                new.quote = Some(self.subject(tx, user)?);
                Self::write(tx, other, &new)?
            }
            "post.repost.create" => {
                let id = self.subject(tx, user)?;
                reposts::undo(tx, other, id)?;
                reposts::repost(tx, other, None, id)?.id
            }
            "like.create" => {
                let id = self.subject(tx, other)?;
                likes::unlike(tx, user, id)?;
                likes::like(tx, user, id)?;
                id
            }
            name => return Err(find::unknown("kind", name)),
        };
        Ok(told([("post_id", id.to_string())]))
    }

    fn send(
        &self,
        tx: &mut Tx<'_>,
        from: UserId,
        to: UserId,
    ) -> Result<(i64, DmConversation), Error> {
        let sender = MessageSender {
            user_id: from,
            app_id: None,
        };
        let new = NewMessage {
            text: self.text.clone(),
            media: None,
        };
        let event = messages::send_to_user(tx, &sender, to, &new)?;
        Ok((event.id, event.conversation))
    }

    fn message(&self, tx: &mut Tx<'_>, what: &str) -> Told {
        let (user, other) = (self.user.id, self.other);
        let (id, conversation) = match what {
            "sent" => self.send(tx, user, other)?,
            "received" => self.send(tx, other, user)?,
            // It is read, or answered, by the other.
            "read" => {
                let (id, conversation) = self.send(tx, user, other)?;
                messages::mark_read(tx, &conversation, other, Some(id))?;
                (id, conversation)
            }
            "indicate_typing" => {
                let (id, conversation) = match store::messages::find_direct(tx, user, other)? {
                    Some(known) => (0, known),
                    None => self.send(tx, user, other)?,
                };
                messages::indicate_typing(tx, &conversation, other)?;
                (id, conversation)
            }
            name => return Err(find::unknown("kind", name)),
        };
        let mut told = told([("conversation_id", conversation.to_string())]);
        if id != 0 {
            told.insert("event_id".to_owned(), json!(id.to_string()));
        }
        Ok(told)
    }

    /// A space begins. One that ends is the user's that is live, or a new one.
    fn space(&self, tx: &mut Tx<'_>, what: &str) -> Told {
        let user = self.user.id;
        let mut live = store::spaces::list_active_by_creators(tx, &[user])?;
        live.retain(|space| space.state == SpaceState::Live);
        let id = match live.pop() {
            Some(space) if what == "end" => space.id,
            _ => {
                let new = NewSpace {
                    title: self.text.clone(),
                    ..NewSpace::default()
                };
                spaces::create(tx, user, &new)?.id
            }
        };
        if what == "end" {
            spaces::close(tx, id)?;
        }
        Ok(told([("space_id", base::id::encode_base62(id))]))
    }
}

/// The oldest account, or the oldest but one: that of somebody who may act.
fn someone(tx: &mut Tx<'_>, but: Option<UserId>) -> Result<User, Error> {
    let mut oldest = users::list(tx, None, 50)?;
    oldest.retain(|user| user.state == store::users::UserState::Active && Some(user.id) != but);
    let missing = || Refusal::forbidden("there are too few people: make one with `user create`");
    Ok(oldest.into_iter().next().ok_or_else(missing)?)
}

/// What was there never before.
fn trigger_id(tx: &Tx<'_>) -> i64 {
    tx.next_id::<()>().get()
}

fn plain(text: String) -> NewPost {
    NewPost {
        text,
        ..NewPost::default()
    }
}

fn told<const N: usize>(members: [(&str, String); N]) -> Map<String, Value> {
    let members = members.into_iter();
    members
        .map(|(name, text)| (name.to_owned(), json!(text)))
        .collect()
}
