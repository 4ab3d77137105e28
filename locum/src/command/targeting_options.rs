//! `locum ads option`: what line items may be targeted by that an operator chooses.

use ads::option_catalog::{self, BLOCKED, CatalogOption, NewCatalogOption, OPTION_TYPES};
use base::{Error, Refusal};
use clap::{Args, Subcommand};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use store::Tx;

use super::find;
use crate::instance::Instance;

/// What may be done about options of targeting.
#[derive(Clone, Debug, Serialize, Deserialize, Subcommand)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum OptionCommand {
    /// Adds an option, or changes the one with its value
    Add(Box<NewTargetingOptionArgs>),
    /// Takes an option away; line items that name it reach nobody by it
    Remove {
        /// Its type
        #[arg(value_name = "TYPE")]
        kind: String,
        /// Its value
        value: String,
    },
    /// Lists options of a type, built-in ones included
    List {
        /// The type; all that an operator added when absent
        #[arg(value_name = "TYPE")]
        kind: Option<String>,
    },
}

/// An option to be.
#[derive(Args, Clone, Debug, Serialize, Deserialize)]
pub(crate) struct NewTargetingOptionArgs {
    /// `INTEREST`, `CONVERSATION`, `EVENT`, `TV_SHOW`, `APP_STORE_CATEGORY`, `DEVICE`,
    /// `NETWORK_OPERATOR`, `PLATFORM_VERSION`, or `BLOCKED_KEYWORD`, which is never suggested
    #[arg(value_name = "TYPE")]
    kind: String,
    /// Its name; an interest's has two levels: `Sports/Bicycling`
    name: String,
    /// What criteria name; a new value when absent
    #[arg(long)]
    value: Option<String>,
    /// Posts with this keyword are about it; may be given more than once
    #[arg(long = "keyword", value_name = "TEXT")]
    keywords: Vec<String>,
    /// Posts with this hashtag are about it; may be given more than once
    #[arg(long = "hashtag", value_name = "TAG")]
    hashtags: Vec<String>,
    /// Whoever follows this user is one of it, @username or id; may be given more than once
    #[arg(long = "follow", value_name = "USER")]
    users: Vec<String>,
    /// Kind of a conversation (`SPORTS`, …) or of an event (`CONFERENCE`, …)
    #[arg(long, value_name = "KIND", default_value = "")]
    about: String,
    /// Country of an event or an operator of networks, ISO 3166-1
    #[arg(long, default_value = "")]
    country: String,
    /// `ANDROID` or `IOS`
    #[arg(long, default_value = "")]
    os: String,
    /// Maker of a device
    #[arg(long, default_value = "")]
    manufacturer: String,
    /// Number of a version
    #[arg(long, default_value = "")]
    number: String,
    /// Genre of a show
    #[arg(long, default_value = "")]
    genre: String,
    /// Where a show is seen: `en-US`; may be given more than once
    #[arg(long = "locale", value_name = "LOCALE")]
    locales: Vec<String>,
    /// When an event begins
    #[arg(long, default_value = "")]
    start: String,
    /// When an event ends
    #[arg(long, default_value = "")]
    end: String,
}

/// Does it.
pub(super) async fn execute(instance: &Instance, command: OptionCommand) -> Result<Value, Error> {
    match command {
        OptionCommand::List { kind } => {
            let read = instance.store.read(move |tx| list_options(tx, kind.as_deref()));
            read.await
        }
        OptionCommand::Remove { kind, value } => {
            let removed = instance.store.write(move |tx| {
                let kind = kind.to_ascii_uppercase();
                if store::ads::options::remove(tx, &kind, &value)? {
                    return Ok(json!({ "type": kind, "value": value }));
                }
                Err(find::not_found("option", &value))
            });
            removed.await
        }
        OptionCommand::Add(addition) => {
            let added = instance.store.write(move |tx| {
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
    if let Some(empty) = words().find(|text| !network::keywords::is_valid_keyword(text)) {
        let message = "A keyword holds a word";
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

/// What is kept of an option beside its name: what was said of it.
fn option_details(addition: &NewTargetingOptionArgs, users: &[String]) -> Map<String, Value> {
    let about = if addition.kind.eq_ignore_ascii_case("EVENT") {
        "event_type"
    } else {
        "conversation_type"
    };
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
