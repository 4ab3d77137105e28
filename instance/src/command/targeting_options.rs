//! `locum ads option`: operator-defined targeting options.

use ads::option_catalog::{self, BLOCKED, CatalogOption, NewCatalogOption, OPTION_TYPES};
use base::{Error, Refusal};
use clap::{Args, Subcommand};
use serde_json::{Map, Value, json};
use store::Tx;

use super::find;
use crate::Instance;

#[derive(Clone, Debug, Subcommand)]
pub enum OptionCommand {
    /// Add an option or update the one with the same value
    Add(Box<NewTargetingOptionArgs>),
    /// Remove an option; line items that target it no longer reach anyone through it
    Remove {
        /// The type
        #[arg(value_name = "TYPE")]
        kind: String,
        /// The value
        value: String,
    },
    /// List options of a type, including built-in ones
    List {
        /// The type [default: all options added by an operator]
        #[arg(value_name = "TYPE")]
        kind: Option<String>,
    },
}

#[derive(Args, Clone, Debug)]
pub struct NewTargetingOptionArgs {
    /// `INTEREST`, `CONVERSATION`, `EVENT`, `TV_SHOW`, `APP_STORE_CATEGORY`, `DEVICE`, `NETWORK_OPERATOR`,
    /// `PLATFORM_VERSION`, or `BLOCKED_KEYWORD` (never suggested)
    #[arg(value_name = "TYPE")]
    kind: String,
    /// The name; interests have two levels: `Sports/Bicycling`
    name: String,
    /// The value that targeting criteria refer to [default: generated]
    #[arg(long)]
    value: Option<String>,
    /// A keyword that identifies posts about it; repeatable
    #[arg(long = "keyword", value_name = "TEXT")]
    keywords: Vec<String>,
    /// A hashtag that identifies posts about it; repeatable
    #[arg(long = "hashtag", value_name = "TAG")]
    hashtags: Vec<String>,
    /// A user whose followers belong to it: @username or id; repeatable
    #[arg(long = "follow", value_name = "USER")]
    users: Vec<String>,
    /// The kind of conversation (`SPORTS`, …) or event (`CONFERENCE`, …)
    #[arg(long, value_name = "KIND", default_value = "", hide_default_value = true)]
    about: String,
    /// The ISO 3166-1 country of an event or network operator
    #[arg(long, default_value = "", hide_default_value = true)]
    country: String,
    /// `ANDROID` or `IOS`
    #[arg(long, default_value = "", hide_default_value = true)]
    os: String,
    /// The device's manufacturer
    #[arg(long, default_value = "", hide_default_value = true)]
    manufacturer: String,
    /// The version number
    #[arg(long, default_value = "", hide_default_value = true)]
    number: String,
    /// The show's genre
    #[arg(long, default_value = "", hide_default_value = true)]
    genre: String,
    /// A locale in which a show airs: `en-US`; repeatable
    #[arg(long = "locale", value_name = "LOCALE")]
    locales: Vec<String>,
    /// The event's start time
    #[arg(long, default_value = "", hide_default_value = true)]
    start: String,
    /// The event's end time
    #[arg(long, default_value = "", hide_default_value = true)]
    end: String,
}

pub(super) async fn execute(instance: &Instance, command: OptionCommand) -> Result<Value, Error> {
    match command {
        OptionCommand::List { kind } => {
            let read = instance.store.read(move |tx| list_options(tx, kind.as_deref()));
            read.await
        }
        OptionCommand::Remove { kind, value } => {
            let removed = instance.write(move |tx| {
                let kind = kind.to_ascii_uppercase();
                if store::ads::options::remove(tx, &kind, &value)? {
                    return Ok(json!({ "type": kind, "value": value }));
                }
                Err(find::not_found("option", &value))
            });
            removed.await
        }
        OptionCommand::Add(addition) => {
            let added = instance.write(move |tx| {
                let new = build_option(tx, &addition)?;
                let kind = new.kind.to_ascii_uppercase();
                let choice = option_catalog::upsert(tx, &new)?;
                Ok(render_option(&kind, &choice))
            });
            added.await
        }
    }
}

fn build_option(tx: &mut Tx<'_>, addition: &NewTargetingOptionArgs) -> Result<NewCatalogOption, Error> {
    let words = || addition.keywords.iter().chain(&addition.hashtags);
    if let Some(empty) = words().find(|text| !post_search::keywords::is_valid_keyword(text)) {
        let message = "A keyword must contain a word";
        return Err(Refusal::invalid_parameter("keyword", empty, message).into());
    }
    let mut users = Vec::new();
    for user in &addition.users {
        users.push(find::user(tx, user)?.id.to_string());
    }
    Ok(NewCatalogOption {
        kind: addition.kind.clone(),
        name: addition.name.clone(),
        value: addition.value.clone(),
        details: option_details(addition, &users),
    })
}

fn option_details(addition: &NewTargetingOptionArgs, users: &[String]) -> Map<String, Value> {
    let about = if addition.kind.eq_ignore_ascii_case("EVENT") { "event_type" } else { "conversation_type" };
    let texts = [
        (about, &addition.about),
        ("country_code", &addition.country),
        ("os_type", &addition.os),
        ("manufacturer", &addition.manufacturer),
        ("number", &addition.number),
        ("genre", &addition.genre),
        ("start_time", &addition.start),
        ("end_time", &addition.end),
    ];
    let lists = [
        ("keywords", addition.keywords.as_slice()),
        ("hashtags", &addition.hashtags),
        ("users", users),
        ("locales", &addition.locales),
    ];
    let texts = texts.into_iter().filter(|(_, text)| !text.is_empty());
    let lists = lists.into_iter().filter(|(_, all)| !all.is_empty());
    texts
        .map(|(name, text)| (name.to_owned(), text.as_str().into()))
        .chain(lists.map(|(name, all)| (name.to_owned(), json!(all))))
        .collect()
}

fn list_options(tx: &mut Tx<'_>, kind: Option<&str>) -> Result<Value, Error> {
    let mut rows = Vec::new();
    if let Some(kind) = kind {
        let kind = kind.to_ascii_uppercase();
        if !OPTION_TYPES.contains(&kind.as_str()) {
            return Err(find::not_found("type", &kind));
        }
        let all = option_catalog::list_by_type(tx, &kind)?;
        rows.extend(all.iter().map(|choice| render_option(&kind, choice)));
    } else {
        for kind in OPTION_TYPES {
            for one in store::ads::options::list_by_kind(tx, kind)? {
                if let Some(choice) = option_catalog::find(tx, kind, &one.value)? {
                    rows.push(render_option(kind, &choice));
                }
            }
        }
    }
    Ok(rows.into())
}

fn render_option(kind: &str, choice: &CatalogOption) -> Value {
    let mut row = json!({ "type": kind, "value": choice.value, "name": choice.name });
    if let Some(members) = row.as_object_mut()
        && kind != BLOCKED
    {
        members.extend(choice.details.clone());
    }
    row
}
