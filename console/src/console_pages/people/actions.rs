//! What is done to a user, or as a user.

use base::{AppId, Error, Id, PostId, Refusal, UserId};
use identity::{apps, tokens};
use network::audit::{self, AuditAction, AuditActor};
use network::messages::{self, MessageSender, NewMessage};
use network::polls::NewPoll;
use network::posts::{self, NewPost, PostAuthor};
use network::profiles::{self, ProfileChanges};
use network::{blocks, follows, likes, mutes, reposts};
use pages::console::MintedToken;
use portal::SubmittedForm;
use serde_json::json;
use store::Tx;
use store::users::User;

use super::find_user;

const TOKEN_LIFETIME_MS: i64 = tokens::ACCESS_TTL_MS;
const DEFAULT_POLL_MINUTES: i64 = 60;

/// The fields of all forms on a user's page.
pub(super) struct ActionForm {
    pub(super) act: String,
    pub(super) app: String,
    pub(super) profile: ProfileChanges,
    pub(super) verified_type: String,
    pub(super) subscription_type: String,
    pub(super) protected: bool,
    pub(super) parody: bool,
    pub(super) receives_dm: bool,
    pub(super) text: String,
    pub(super) reply_to: String,
    pub(super) quote: String,
    pub(super) poll_options: String,
    pub(super) poll_minutes: String,
    pub(super) target_post: String,
    pub(super) target_user: String,
    pub(super) recipient: String,
    pub(super) message: String,
}

impl ActionForm {
    pub(super) fn read(sent: &SubmittedForm<'_>) -> Self {
        let is_ticked = |name| sent.optional_text(name).is_some();
        Self {
            act: sent.text("act"),
            app: sent.text("app"),
            profile: ProfileChanges {
                username: Some(sent.text("username")),
                name: Some(sent.text("name")),
                description: Some(sent.text("description")),
                location: Some(sent.text("location")),
                url: Some(sent.text("url")),
                ..ProfileChanges::default()
            },
            verified_type: sent.text("verified_type"),
            subscription_type: sent.text("subscription_type"),
            protected: is_ticked("protected"),
            parody: is_ticked("parody"),
            receives_dm: is_ticked("receives_dm"),
            text: sent.text("text").replace("\r\n", "\n"),
            reply_to: sent.text("reply_to"),
            quote: sent.text("quote"),
            poll_options: sent.text("poll_options"),
            poll_minutes: sent.text("poll_minutes"),
            target_post: sent.text("target_post"),
            target_user: sent.text("target_user"),
            recipient: sent.text("recipient"),
            message: sent.text("message"),
        }
    }

    fn has_profile(&self) -> bool {
        self.act == "edit"
    }
}

pub(super) enum ActionOutcome {
    /// The key of a notice.
    Done(&'static str),
    Minted(MintedToken),
}

/// The notices after actions, by key.
pub(super) const NOTICES: &[(&str, &str)] = &[
    ("created", "The user was created. The password is dev."),
    ("edited", "The profile was saved."),
    ("suspended", "The user was suspended."),
    ("restored", "The user was restored."),
    ("posted", "The post was published."),
    ("deleted", "The post was deleted."),
    ("liked", "The post was liked."),
    ("unliked", "The like was removed."),
    ("reposted", "The post was reposted."),
    ("unreposted", "The repost was removed."),
    ("followed", "The user is followed, or has a follow request."),
    ("unfollowed", "The user is no longer followed."),
    ("approved", "The follow request was approved."),
    ("denied", "The follow request was denied."),
    ("blocked", "The user was blocked."),
    ("unblocked", "The user was unblocked."),
    ("muted", "The user was muted."),
    ("unmuted", "The user was unmuted."),
    ("sent", "The message was sent."),
];

pub(super) fn execute(tx: &mut Tx<'_>, user: &User, form: &ActionForm) -> Result<ActionOutcome, Error> {
    let done = match form.act.as_str() {
        "mint-oauth1" | "mint-oauth2" => return mint_token(tx, user, form).map(ActionOutcome::Minted),
        "edit" => edit_profile(tx, user.id, form)?,
        "suspend" => identity::account_states::suspend(tx, user.id).map(|_| "suspended")?,
        "restore" => identity::account_states::restore(tx, user.id).map(|_| "restored")?,
        "post" => create_post(tx, user.id, form)?,
        "message" => send_message(tx, user.id, form)?,
        "delete-post" | "like" | "unlike" | "repost" | "undo-repost" => act_on_post(tx, user.id, form)?,
        _ => act_on_user(tx, user.id, form)?,
    };
    Ok(ActionOutcome::Done(done))
}

fn edit_profile(tx: &mut Tx<'_>, user: UserId, form: &ActionForm) -> Result<&'static str, Error> {
    let actor = AuditActor::operator();
    profiles::update(tx, &actor, user, &form.profile)?;
    profiles::set_verified_type(tx, &actor, user, &form.verified_type)?;
    profiles::set_subscription_type(tx, &actor, user, &form.subscription_type)?;
    profiles::set_protected(tx, &actor, user, form.protected)?;
    profiles::set_parody(tx, &actor, user, form.parody)?;
    profiles::set_receives_dm(tx, &actor, user, form.receives_dm)?;
    Ok("edited")
}

fn create_post(tx: &mut Tx<'_>, user: UserId, form: &ActionForm) -> Result<&'static str, Error> {
    let author = PostAuthor { user_id: user, app_id: None, self_serve: false };
    let new = NewPost {
        text: form.text.clone(),
        reply_to: optional_post_id("reply_to", &form.reply_to)?,
        quote: optional_post_id("quote", &form.quote)?,
        poll: new_poll(form)?,
        ..NewPost::default()
    };
    posts::create(tx, &author, &new)?;
    Ok("posted")
}

fn new_poll(form: &ActionForm) -> Result<Option<NewPoll>, Refusal> {
    let options = form.poll_options.lines().map(str::trim).filter(|option| !option.is_empty());
    let options: Vec<String> = options.map(str::to_owned).collect();
    let minutes = form.poll_minutes.trim();
    if options.is_empty() {
        return Ok(None);
    }
    let duration_minutes = if minutes.is_empty() { Ok(DEFAULT_POLL_MINUTES) } else { minutes.parse() };
    let duration_minutes = duration_minutes.map_err(|_| {
        let message = format!("[{minutes}] is not a number of minutes from 5 to 10080.");
        Refusal::invalid_parameter("poll_minutes", minutes, message)
    })?;
    Ok(Some(NewPoll { options, duration_minutes }))
}

fn optional_post_id(parameter: &'static str, text: &str) -> Result<Option<PostId>, Refusal> {
    if text.trim().is_empty() { Ok(None) } else { parse_post_id(parameter, text).map(Some) }
}

/// Accepts an id, or a link that ends with it.
fn parse_post_id(parameter: &'static str, text: &str) -> Result<PostId, Refusal> {
    let text = text.trim();
    let path = text.split(['?', '#']).next().unwrap_or_default();
    let last = path.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
    PostId::parse(last).ok_or_else(|| {
        let message = if text.is_empty() {
            "Enter the id of a post, or a link to it.".to_owned()
        } else {
            format!("[{text}] is neither the id of a post nor a link to one.")
        };
        Refusal::invalid_parameter(parameter, text, message)
    })
}

fn act_on_post(tx: &mut Tx<'_>, user: UserId, form: &ActionForm) -> Result<&'static str, Error> {
    let id = parse_post_id("target_post", &form.target_post)?;
    Ok(match form.act.as_str() {
        "like" => likes::like(tx, user, id).map(|_| "liked")?,
        "unlike" => likes::unlike(tx, user, id).map(|_| "unliked")?,
        "repost" => reposts::repost(tx, user, None, id).map(|_| "reposted")?,
        "undo-repost" => reposts::undo(tx, user, id).map(|_| "unreposted")?,
        _ => delete_post(tx, user, id)?,
    })
}

fn delete_post(tx: &mut Tx<'_>, user: UserId, id: PostId) -> Result<&'static str, Error> {
    let original = store::posts::find_by_id(tx, id)?.and_then(|post| post.repost_of_id);
    match original {
        Some(original) => reposts::undo(tx, user, original).map(|_| "unreposted"),
        None => posts::delete(tx, user, id).map(|()| "deleted"),
    }
}

fn act_on_user(tx: &mut Tx<'_>, user: UserId, form: &ActionForm) -> Result<&'static str, Error> {
    let other = find_user(tx, "target_user", &form.target_user)?.id;
    Ok(match form.act.as_str() {
        "follow" => follows::follow(tx, user, other).map(|_| "followed")?,
        "unfollow" => follows::unfollow(tx, user, other).map(|_| "unfollowed")?,
        // Seen from the other side: a follower is made to stop following.
        "remove-follower" => follows::unfollow(tx, other, user).map(|_| "unfollowed")?,
        "approve" => follows::approve_request(tx, user, other).map(|()| "approved")?,
        "deny" => follows::deny_request(tx, user, other).map(|()| "denied")?,
        "block" => blocks::block(tx, user, other).map(|()| "blocked")?,
        "unblock" => blocks::unblock(tx, user, other).map(|_| "unblocked")?,
        "mute" => mutes::mute(tx, user, other).map(|()| "muted")?,
        "unmute" => mutes::unmute(tx, user, other).map(|_| "unmuted")?,
        unknown => return Err(Refusal::invalid_value("act", unknown).into()),
    })
}

fn send_message(tx: &mut Tx<'_>, user: UserId, form: &ActionForm) -> Result<&'static str, Error> {
    let recipient = find_user(tx, "recipient", &form.recipient)?.id;
    let new = NewMessage { text: form.message.clone(), media: None };
    messages::send_to_user(tx, &MessageSender { user_id: user, app_id: None }, recipient, &new)?;
    Ok("sent")
}

fn mint_token(tx: &mut Tx<'_>, user: &User, form: &ActionForm) -> Result<MintedToken, Error> {
    let id: Option<AppId> = Id::parse(&form.app);
    let app = apps::find(tx, id.ok_or_else(|| Refusal::invalid_value("app", &form.app))?)?;
    let is_oauth1 = form.act == "mint-oauth1";
    let values = if is_oauth1 {
        let (token, secret) = tokens::mint_oauth1(tx, app.id, user.id, app.permission)?;
        vec![
            ("Access token", token.expose_secret().to_owned()),
            ("Access token secret", secret.expose_secret().to_owned()),
        ]
    } else {
        let token = tokens::mint_oauth2(tx, app.id, user.id, tokens::all_scopes(), Some(TOKEN_LIFETIME_MS))?;
        vec![("User token, valid for 2 hours, with all scopes", token.expose_secret().to_owned())]
    };
    let kind = if is_oauth1 { "oauth1" } else { "oauth2" };
    let detail = json!({"user": user.id.to_string(), "kind": kind});
    audit::append(tx, &AuditActor::operator(), AuditAction::TOKEN_MINT, Some(app.id), &detail)?;
    Ok(MintedToken { app: app.name, values })
}

/// The form field that a refusal is about; none if it is about the whole action.
pub(super) fn field_at_fault(form: &ActionForm, refusal: &Refusal) -> Option<&'static str> {
    const PROFILE: [&str; 5] = ["username", "name", "description", "location", "url"];
    let parameter = refusal.first_parameter();
    let named = |fields: &[&'static str]| fields.iter().find(|field| **field == parameter).copied();
    match form.act.as_str() {
        "edit" => named(&PROFILE),
        "post" if parameter == "poll.options" => Some("poll_options"),
        "post" if parameter == "poll.duration_minutes" => Some("poll_minutes"),
        "post" => named(&["reply_to", "quote", "poll_minutes"]).or(Some("text")),
        "message" => named(&["recipient"]).or(Some("message")),
        "like" | "unlike" | "repost" | "undo-repost" => Some("target_post"),
        "follow" | "unfollow" | "block" | "unblock" | "mute" | "unmute" => Some("target_user"),
        _ => None,
    }
}

/// What the profile form shows again after it was refused.
pub(super) fn resubmitted_profile(form: &ActionForm) -> Option<&ProfileChanges> {
    form.has_profile().then_some(&form.profile)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_post_is_named_by_its_id_or_by_a_link_to_it() {
        for text in
            [" 12", "https://x.com/ada/status/12?s=20", "http://127.0.0.1:8080/ada/status/12/", "/i/web/status/12"]
        {
            assert_eq!(parse_post_id("quote", text).unwrap(), PostId::new(12), "{text}");
        }
        for text in ["", "ada", "https://x.com/ada/status/", "-1"] {
            let refused = parse_post_id("quote", text).unwrap_err();
            assert!(matches!(refused, Refusal::InvalidParameters(_)), "{text}");
        }
    }
}
