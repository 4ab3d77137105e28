//! `locum space`.

use std::time::Duration;

use base::id::{decode_base62, encode_base62};
use base::refusal::ResourceRef;
use base::{Error, PostId, Refusal, Time, UserId};
use clap::{Args, Subcommand};
use network::spaces::{self, NewSpace};
use serde_json::{Value, json};
use store::Tx;
use store::spaces::{Space, SpaceRole};

use super::find;
use super::limit::LimitArgs;
use crate::Instance;

#[derive(Clone, Debug, Subcommand)]
pub enum SpaceCommand {
    /// Create a space: live now, or scheduled with --start
    Create(NewSpaceArgs),
    /// List spaces, newest first
    List {
        #[command(flatten)]
        limit: LimitArgs,
    },
    /// Show a space
    Show {
        /// The space's id
        space: String,
    },
    /// Start a scheduled space; spaces never start on their own
    Open {
        /// The space's id
        space: String,
    },
    /// End a live space
    Close {
        /// The space's id
        space: String,
    },
    /// Cancel a scheduled space
    Cancel {
        /// The space's id
        space: String,
    },
    /// Add a participant to a live space
    Join(SpaceUserArgs),
    /// Remove a participant from a live space
    Leave(SpaceUserArgs),
    /// Make a user a speaker in a live space
    Speak(SpaceUserArgs),
    /// Invite a user to speak
    Invite(SpaceUserArgs),
    /// Subscribe a user to a scheduled space
    Subscribe(SpaceUserArgs),
    /// Unsubscribe a user from a scheduled space
    Unsubscribe(SpaceUserArgs),
    /// Buy a ticket to a ticketed space for a user
    Buy(SpaceUserArgs),
    /// Share a post in a live space
    Share {
        #[command(flatten)]
        who: SpaceUserArgs,
        /// The post's id
        post: String,
    },
}

#[derive(Args, Clone, Debug)]
pub struct NewSpaceArgs {
    /// The creator: @username or id
    creator: String,
    /// The title
    #[arg(long, default_value = "", hide_default_value = true)]
    title: String,
    /// The start time, at most 14 days ahead: 2026-12-01T18:00:00Z, or 2h from now
    #[arg(long, value_name = "WHEN")]
    start: Option<String>,
    /// The language [default: detected from the title]
    #[arg(long, default_value = "", hide_default_value = true)]
    lang: String,
    /// Require a ticket
    #[arg(long)]
    ticketed: bool,
    /// An additional host; repeatable
    #[arg(long = "host", value_name = "USER")]
    hosts: Vec<String>,
    /// A user to invite as a speaker; repeatable
    #[arg(long = "invite", value_name = "USER")]
    invited: Vec<String>,
    /// A topic; repeatable
    #[arg(long = "topic", value_name = "NAME")]
    topics: Vec<String>,
}

#[derive(Args, Clone, Debug)]
pub struct SpaceUserArgs {
    /// The space's id
    space: String,
    /// @username or id
    user: String,
}

/// Returns false if nothing changed.
type SpaceAction = fn(&mut Tx<'_>, i64, UserId) -> Result<bool, Error>;

pub(super) async fn execute(instance: &Instance, command: SpaceCommand) -> Result<Value, Error> {
    let store = &instance.store;
    match command {
        SpaceCommand::Create(new) => instance.write(move |tx| create_space(tx, &new)).await,
        SpaceCommand::List { limit: LimitArgs { limit } } => {
            let read = store.read(move |tx| Ok(store::spaces::list(tx, i64::MAX, limit)?));
            Ok(read.await?.iter().map(space_summary).collect())
        }
        SpaceCommand::Show { space } => store.read(move |tx| show_space(tx, parse_id(&space)?)).await,
        SpaceCommand::Open { space } => change_space(instance, space, spaces::open).await,
        SpaceCommand::Close { space } => change_space(instance, space, spaces::close).await,
        SpaceCommand::Cancel { space } => change_space(instance, space, spaces::cancel).await,
        SpaceCommand::Join(who) => act_on_space(instance, who, spaces::join).await,
        SpaceCommand::Leave(who) => act_on_space(instance, who, spaces::leave).await,
        SpaceCommand::Speak(who) => act_on_space(instance, who, spaces::add_speaker).await,
        SpaceCommand::Invite(who) => act_on_space(instance, who, spaces::invite).await,
        SpaceCommand::Subscribe(who) => {
            act_on_space(instance, who, |tx, id, user| spaces::set_reminder(tx, id, user, true)).await
        }
        SpaceCommand::Unsubscribe(who) => {
            act_on_space(instance, who, |tx, id, user| spaces::set_reminder(tx, id, user, false)).await
        }
        SpaceCommand::Buy(who) => act_on_space(instance, who, spaces::buy_ticket).await,
        SpaceCommand::Share { who, post } => {
            let shared = instance.write(move |tx| {
                let space = parse_id(&who.space)?;
                let user = find::user(tx, &who.user)?.id;
                let post = PostId::parse(&post).ok_or_else(|| find::not_found("post", &post))?;
                let changed = spaces::share_post(tx, space, user, post)?;
                Ok(add_change_flag(show_space(tx, space)?, changed))
            });
            shared.await
        }
    }
}

fn create_space(tx: &mut Tx<'_>, new: &NewSpaceArgs) -> Result<Value, Error> {
    let creator = find::user(tx, &new.creator)?.id;
    let people = |tx: &mut Tx<'_>, names: &[String]| {
        let found = names.iter().map(|name| Ok(find::user(tx, name)?.id));
        found.collect::<Result<Vec<UserId>, Error>>()
    };
    let start = new.start.as_deref().map(|text| parse_start(tx.now(), text));
    let new = NewSpace {
        title: new.title.clone(),
        start: start.transpose()?,
        lang: new.lang.clone(),
        ticketed: new.ticketed,
        hosts: people(tx, &new.hosts)?,
        invited: people(tx, &new.invited)?,
        topics: new.topics.clone(),
    };
    let made = spaces::create(tx, creator, &new)?;
    show_space(tx, made.id)
}

/// Accepts an RFC 3339 time or a duration from now.
fn parse_start(now: Time, text: &str) -> Result<Time, Refusal> {
    let after = |span: Duration| now.plus_ms(i64::try_from(span.as_millis()).unwrap_or(i64::MAX));
    let at = Time::parse(text).or_else(|| crate::config::parse_duration(text).map(after));
    at.ok_or_else(|| {
        let message = format!("[{text}] is not a time such as 2026-12-01T18:00:00Z or 2h");
        Refusal::invalid_parameter("start", text, message)
    })
}

fn parse_id(text: &str) -> Result<i64, Error> {
    decode_base62(text).ok_or_else(|| unknown_space(text))
}

fn unknown_space(text: &str) -> Error {
    Refusal::NotFound(ResourceRef::new("space", "space", text)).into()
}

async fn change_space(
    instance: &Instance,
    space: String,
    change: fn(&mut Tx<'_>, i64) -> Result<Space, Error>,
) -> Result<Value, Error> {
    let changed = instance.write(move |tx| {
        let space = parse_id(&space)?;
        change(tx, space)?;
        show_space(tx, space)
    });
    changed.await
}

async fn act_on_space(instance: &Instance, who: SpaceUserArgs, act: SpaceAction) -> Result<Value, Error> {
    let done = instance.write(move |tx| {
        let space = parse_id(&who.space)?;
        let user = find::user(tx, &who.user)?.id;
        let changed = act(tx, space, user)?;
        Ok(add_change_flag(show_space(tx, space)?, changed))
    });
    done.await
}

fn add_change_flag(mut value: Value, changed: bool) -> Value {
    if let Some(map) = value.as_object_mut() {
        map.insert("changed".to_owned(), Value::Bool(changed));
    }
    value
}

fn space_summary(space: &Space) -> Value {
    json!({
        "id": encode_base62(space.id),
        "creator_id": space.creator_id.to_string(),
        "state": space.state.name(),
        "title": space.title,
        "participants": space.participant_count,
    })
}

fn show_space(tx: &mut Tx<'_>, id: i64) -> Result<Value, Error> {
    let space = store::spaces::find_by_id(tx, id)?.ok_or_else(|| unknown_space(&encode_base62(id)))?;
    let parts = store::spaces::list_hosts_and_speakers(tx, &[id])?;
    let those = |role: SpaceRole| -> Vec<String> {
        let those = parts.iter().filter(|(_, part, _)| *part == role);
        those.map(|(_, _, user)| user.to_string()).collect()
    };
    let time = |at: Option<Time>| at.map(|at| at.to_string());
    Ok(json!({
        "id": encode_base62(space.id),
        "creator_id": space.creator_id.to_string(),
        "state": space.state.name(),
        "title": space.title,
        "lang": space.lang,
        "ticketed": space.ticketed,
        "created_at": space.created_at.to_string(),
        "scheduled_start": time(space.scheduled_start),
        "started_at": time(space.started_at),
        "ended_at": time(space.ended_at),
        "hosts": those(SpaceRole::Host),
        "invited": those(SpaceRole::Invited),
        "speakers": those(SpaceRole::Speaker),
        "participants": space.participant_count,
        "subscribers": space.subscriber_count,
    }))
}
