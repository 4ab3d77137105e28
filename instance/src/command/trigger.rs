//! `locum trigger`: causes an event by performing the action it reports. The action is subject to
//! the usual rules and is permanent.

use base::{Error, PostId, Refusal, UserId};
use clap::Args;
use identity::grants;
use network::activity::{ActivityEventKind, EVENT_KINDS, find_event_kind};
use network::audit::AuditActor;
use network::messages::{self, MessageSender, NewMessage};
use network::news::{self, NewNewsStory};
use network::posts::{self, NewPost, PostAuthor};
use network::profiles::{self, AffiliateBadge, ProfileChanges};
use network::spaces::{self, NewSpace};
use network::{blocks, follows, likes, mutes, reposts, users};
use serde_json::{Map, Value, json};
use store::Tx;
use store::messages::DmConversation;
use store::spaces::SpaceState;
use store::users::User;

use super::find;
use crate::Instance;
use crate::config::RunMode;

pub(super) const DEV_ONLY: &str = "events can be triggered on a development server only";

#[derive(Args, Clone, Debug)]
pub struct TriggerArgs {
    /// The event type, as in subscriptions: post.create, follow.follow, dm.received, …
    kind: String,
    /// The subject of the event: @username or id [default: the oldest account]
    #[arg(long)]
    user: Option<String>,
    /// The other participant: @username or id [default: the second-oldest account]
    #[arg(long, value_name = "USER")]
    other: Option<String>,
    /// The text of the post, message or profile field [default: generated]
    #[arg(long)]
    text: Option<String>,
    /// The post to delete, reply to, quote, repost or like [default: a new one]
    #[arg(long, value_name = "ID")]
    post: Option<String>,
    /// The app whose access oauth.revoke revokes: name, id or API key
    #[arg(long)]
    app: Option<String>,
}

impl TriggerArgs {
    fn refuse_unused_flags(&self, kind: &str) -> Result<(), Refusal> {
        let flags = [
            ("user", &self.user),
            ("other", &self.other),
            ("text", &self.text),
            ("post", &self.post),
            ("app", &self.app),
        ];
        let used = used_flags(kind);
        match flags.into_iter().find(|(name, value)| value.is_some() && !used.contains(name)) {
            Some((name, value)) => {
                let used: Vec<String> = used.iter().map(|name| format!("--{name}")).collect();
                let message = format!("{kind} has no --{name}; it takes {}", used.join(", "));
                Err(Refusal::invalid_parameter(name, value.as_deref().unwrap_or_default(), message))
            }
            None => Ok(()),
        }
    }
}

fn used_flags(kind: &str) -> &'static [&'static str] {
    match kind {
        "post.delete" => &["user", "post"],
        "post.mention.create" => &["user", "other", "text"],
        "post.reply.create" | "post.quote.create" => &["user", "other", "text", "post"],
        "post.repost.create" | "like.create" => &["user", "other", "post"],
        "profile.update.verified_badge" => &["user"],
        "profile.update.affiliate_badge" => &["user", "other"],
        _ => match kind.split_once('.') {
            Some(("post" | "profile" | "spaces", _)) => &["user", "text"],
            Some(("dm", _)) => &["user", "other", "text"],
            Some(("news", _)) => &["text"],
            Some(("oauth", _)) => &["user", "app"],
            _ => &["user", "other"],
        },
    }
}

pub(super) async fn execute(instance: &Instance, trigger: TriggerArgs) -> Result<Value, Error> {
    if instance.settings.mode != RunMode::Dev {
        return Err(Refusal::forbidden(DEV_ONLY).into());
    }
    let kind = require_event_kind(&trigger.kind)?;
    trigger.refuse_unused_flags(kind.name)?;
    let done = instance.write(move |tx| {
        let scene = TriggerContext::prepare(tx, &trigger)?;
        let mut told = scene.trigger_event(tx, kind)?;
        told.insert("kind".to_owned(), json!(kind.name));
        told.insert("user_id".to_owned(), json!(scene.user.id.to_string()));
        Ok(Value::Object(told))
    });
    done.await
}

fn require_event_kind(name: &str) -> Result<&'static ActivityEventKind, Refusal> {
    let found = find_event_kind(name).map(|(kind, _)| kind);
    found.filter(|kind| !kind.log_kind.is_empty()).ok_or_else(|| {
        let known = EVENT_KINDS.iter().filter(|kind| !kind.log_kind.is_empty());
        let known: Vec<&str> = known.map(|kind| kind.name).collect();
        let message = format!("[{name}] cannot be triggered; available events: {}", known.join(", "));
        Refusal::invalid_parameter("kind", name, message)
    })
}

type TriggerResult = Result<Map<String, Value>, Error>;

struct TriggerContext<'t> {
    trigger: &'t TriggerArgs,
    user: User,
    other: UserId,
    text: String,
}

impl<'t> TriggerContext<'t> {
    fn prepare(tx: &mut Tx<'_>, trigger: &'t TriggerArgs) -> Result<Self, Error> {
        let user = match &trigger.user {
            Some(text) => find::user(tx, text)?,
            None => oldest_active_user(tx, None)?,
        };
        let other = match &trigger.other {
            Some(text) => find::user(tx, text)?,
            None => oldest_active_user(tx, Some(user.id))?,
        };
        // Consecutive duplicate posts are rejected.
        let fresh = || format!("Triggered {}", next_trigger_number(tx));
        let text = trigger.text.clone().unwrap_or_else(fresh);
        Ok(Self { trigger, user, other: other.id, text })
    }

    fn trigger_event(&self, tx: &mut Tx<'_>, kind: &ActivityEventKind) -> TriggerResult {
        match kind.name.split_once('.') {
            Some(("profile", _)) => self.trigger_profile_event(tx, kind.name),
            Some(("post" | "like", _)) => self.trigger_post_event(tx, kind.name),
            Some(("dm", what)) => self.trigger_message_event(tx, what),
            Some(("spaces", what)) => self.trigger_space_event(tx, what),
            Some(("news", _)) => {
                let new = NewNewsStory { name: self.text.clone(), publish: true, ..NewNewsStory::default() };
                let story = news::create(tx, &new)?;
                Ok(json_fields([("story_id", story.id.to_string())]))
            }
            Some(("oauth", _)) => {
                let app = self.trigger.app.as_deref();
                let app = app.ok_or_else(|| Refusal::invalid_parameter("app", "", "--app is required"))?;
                let app = find::app(tx, app)?;
                grants::revoke(tx, &AuditActor::user(self.user.id, ""), app.id)?;
                Ok(json_fields([("app_id", app.id.to_string())]))
            }
            _ => self.trigger_relation_event(tx, kind.name),
        }
    }

    /// First undoes or creates the relation as needed, so that the action has an effect.
    fn trigger_relation_event(&self, tx: &mut Tx<'_>, name: &str) -> TriggerResult {
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
            name => return Err(find::not_found("kind", name)),
        }
        Ok(json_fields([("other_id", other.to_string())]))
    }

    fn trigger_profile_event(&self, tx: &mut Tx<'_>, name: &str) -> TriggerResult {
        let (by, id) = (AuditActor::operator(), self.user.id);
        let said = Some(self.text.clone());
        let address = |end: &str| {
            let made = || format!("https://example.org/{}{end}", next_trigger_number(tx));
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
                let made = || format!("user_{:09}", next_trigger_number(tx) % 1_000_000_000);
                edit.username = Some(self.trigger.text.clone().unwrap_or_else(made));
            }
            "profile.update.verified_badge" => {
                let blue = self.user.verified_type == "blue";
                let user = profiles::set_verified_type(tx, &by, id, if blue { "business" } else { "blue" })?;
                return Ok(json_fields([("verified_type", user.verified_type)]));
            }
            "profile.update.affiliate_badge" => {
                let badge = AffiliateBadge::default();
                let none = self.user.affiliation.is_empty();
                let organization = none.then_some((self.other, &badge));
                let user = profiles::set_affiliation(tx, &by, id, organization)?;
                return Ok(json_fields([("affiliation", user.affiliation)]));
            }
            name => return Err(find::not_found("kind", name)),
        }
        profiles::update(tx, &by, id, &edit)?;
        Ok(Map::new())
    }

    fn create_post(tx: &mut Tx<'_>, author: UserId, new: &NewPost) -> Result<PostId, Error> {
        let author = PostAuthor { user_id: author, app_id: None, self_serve: false };
        Ok(posts::create(tx, &author, new)?.id)
    }

    /// The requested post, or a new one by `author`.
    fn target_post(&self, tx: &mut Tx<'_>, author: UserId) -> Result<PostId, Error> {
        if let Some(text) = &self.trigger.post {
            return find::post_id(text);
        }
        let text = format!("Triggered target {}", next_trigger_number(tx));
        Self::create_post(tx, author, &text_post(text))
    }

    fn trigger_post_event(&self, tx: &mut Tx<'_>, name: &str) -> TriggerResult {
        let (user, other) = (self.user.id, self.other);
        let mut new = text_post(self.text.clone());
        let id = match name {
            "post.create" => Self::create_post(tx, user, &new)?,
            "post.delete" => {
                let id = self.target_post(tx, user)?;
                posts::delete(tx, user, id)?;
                id
            }
            "post.mention.create" => {
                new.text = format!("@{} {}", self.user.username, self.text);
                Self::create_post(tx, other, &new)?
            }
            "post.reply.create" => {
                new.reply_to = Some(self.target_post(tx, user)?);
                Self::create_post(tx, other, &new)?
            }
            "post.quote.create" => {
                new.quote = Some(self.target_post(tx, user)?);
                Self::create_post(tx, other, &new)?
            }
            "post.repost.create" => {
                let id = self.target_post(tx, user)?;
                reposts::undo(tx, other, id)?;
                reposts::repost(tx, other, None, id)?.id
            }
            "like.create" => {
                let id = self.target_post(tx, other)?;
                likes::unlike(tx, user, id)?;
                likes::like(tx, user, id)?;
                id
            }
            name => return Err(find::not_found("kind", name)),
        };
        Ok(json_fields([("post_id", id.to_string())]))
    }

    fn send_message(&self, tx: &mut Tx<'_>, from: UserId, to: UserId) -> Result<(i64, DmConversation), Error> {
        let sender = MessageSender { user_id: from, app_id: None };
        let new = NewMessage { text: self.text.clone(), media: None };
        let event = messages::send_to_user(tx, &sender, to, &new)?;
        Ok((event.id, event.conversation))
    }

    fn trigger_message_event(&self, tx: &mut Tx<'_>, what: &str) -> TriggerResult {
        let (user, other) = (self.user.id, self.other);
        let (id, conversation) = match what {
            "sent" => self.send_message(tx, user, other)?,
            "received" => self.send_message(tx, other, user)?,
            // The other participant reads or replies.
            "read" => {
                let (id, conversation) = self.send_message(tx, user, other)?;
                messages::mark_read(tx, &conversation, other, Some(id))?;
                (id, conversation)
            }
            "indicate_typing" => {
                let (id, conversation) = match store::messages::find_direct(tx, user, other)? {
                    Some(known) => (0, known),
                    None => self.send_message(tx, user, other)?,
                };
                messages::indicate_typing(tx, &conversation, other)?;
                (id, conversation)
            }
            name => return Err(find::not_found("kind", name)),
        };
        let mut told = json_fields([("conversation_id", conversation.to_string())]);
        if id != 0 {
            told.insert("event_id".to_owned(), json!(id.to_string()));
        }
        Ok(told)
    }

    /// To end a space, uses the user's live space or creates one.
    fn trigger_space_event(&self, tx: &mut Tx<'_>, what: &str) -> TriggerResult {
        let user = self.user.id;
        let mut live = store::spaces::list_active_by_creators(tx, &[user])?;
        live.retain(|space| space.state == SpaceState::Live);
        let id = match live.pop() {
            Some(space) if what == "end" => space.id,
            _ => {
                let new = NewSpace { title: self.text.clone(), ..NewSpace::default() };
                spaces::create(tx, user, &new)?.id
            }
        };
        if what == "end" {
            spaces::close(tx, id)?;
        }
        Ok(json_fields([("space_id", base::id::encode_base62(id))]))
    }
}

/// The oldest active account, except `but`.
fn oldest_active_user(tx: &mut Tx<'_>, but: Option<UserId>) -> Result<User, Error> {
    let mut oldest = users::list(tx, None, 50)?;
    oldest.retain(|user| user.state == store::users::UserState::Active && Some(user.id) != but);
    let missing = || Refusal::forbidden("too few users: create one with `user create`");
    Ok(oldest.into_iter().next().ok_or_else(missing)?)
}

fn next_trigger_number(tx: &Tx<'_>) -> i64 {
    tx.next_id::<()>().get()
}

fn text_post(text: String) -> NewPost {
    NewPost { text, ..NewPost::default() }
}

fn json_fields<const N: usize>(members: [(&str, String); N]) -> Map<String, Value> {
    let members = members.into_iter();
    members.map(|(name, text)| (name.to_owned(), json!(text))).collect()
}
