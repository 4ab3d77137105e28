//! The ads accounts of a world file, and what is created in them through the operations of the Ads API.

use std::collections::HashMap;

use ads::resources::accounts::NewAdsAccount;
use ads_engine::AdsOperation;
use base::{Error, Refusal, Time, UserId, Vocabulary};
use serde_json::{Map, Value};
use store::Tx;
use web::router::spell_path;

use super::entries::{AdsAccountEntry, AdsEntry};
use super::moments::relative_time;
use crate::dev::ads_requests::send_ads_request;
use crate::dev::demo_world::create_ads_account;

/// Of an account whose entry names no funds: 10,000 in its currency.
const DEFAULT_FUNDS: i64 = 10_000_000_000;

#[derive(Debug, Default)]
pub(super) struct FileAds {
    accounts: HashMap<String, FileAccount>,
    /// What parameters may refer to, by tag.
    ids: HashMap<String, String>,
    /// Of the first account.
    first_account: Option<String>,
}

#[derive(Clone, Debug)]
struct FileAccount {
    id: String,
    owner: UserId,
}

impl FileAds {
    pub(super) fn first_account(&self) -> Option<&str> {
        self.first_account.as_deref()
    }

    pub(super) fn add_tag(&mut self, tag: &str, id: String) {
        self.ids.insert(tag.to_owned(), id);
    }

    pub(super) fn create_account(
        &mut self,
        tx: &mut Tx<'_>,
        owner: UserId,
        entry: &AdsAccountEntry,
    ) -> Result<(), Error> {
        let new = NewAdsAccount {
            name: entry.name.clone().unwrap_or_else(|| entry.tag.clone()),
            timezone: entry.timezone.clone().unwrap_or_default(),
            ..NewAdsAccount::default()
        };
        let funds = entry.funded_amount_local_micro.unwrap_or(DEFAULT_FUNDS);
        let (account, instrument) = create_ads_account(tx, owner, &new, funds)?;
        self.add_tag(&entry.tag, account.formatted_id());
        self.add_tag(&format!("{}.funding_instrument", entry.tag), instrument.formatted_id());
        self.first_account.get_or_insert_with(|| account.formatted_id());
        self.accounts.insert(entry.tag.clone(), FileAccount { id: account.formatted_id(), owner });
        Ok(())
    }

    pub(super) fn create_entity(&mut self, tx: &mut Tx<'_>, entry: &AdsEntry) -> Result<(), Error> {
        let account = self.accounts.get(&entry.account).cloned().ok_or_else(|| {
            let message = format!("`account`: no ads account with the tag [{}] is declared above", entry.account);
            Refusal::invalid_parameter("account", &entry.account, message)
        })?;
        let operation = find_creation(&entry.create)?;
        let params = self.resolve_object(&entry.params, tx.now())?;
        let created = send_ads_request(tx, account.owner, operation, &[&account.id], Value::Object(params))?;
        if let (Some(tag), Some(id)) = (&entry.tag, created_id(&created)) {
            self.add_tag(tag, id.to_owned());
        }
        Ok(())
    }

    fn resolve_object(&self, params: &Map<String, Value>, now: Time) -> Result<Map<String, Value>, Error> {
        let resolve = |(name, value): (&String, &Value)| Ok((name.clone(), self.resolve(name, value, now)?));
        params.iter().map(resolve).collect()
    }

    /// Puts ids in place of `$tag`, and times in place of relative ones.
    fn resolve(&self, name: &str, value: &Value, now: Time) -> Result<Value, Error> {
        Ok(match value {
            Value::Object(members) => Value::Object(self.resolve_object(members, now)?),
            Value::Array(values) => {
                let resolved = values.iter().map(|value| self.resolve(name, value, now));
                Value::Array(resolved.collect::<Result<_, Error>>()?)
            }
            Value::String(text) => match referred_tag(text) {
                Some(tag) => Value::from(self.tagged_id(name, tag)?),
                None if name.ends_with("_time") || name.ends_with("_at") => {
                    relative_time(text, now).map_or_else(|| value.clone(), |time| Value::from(time.to_string()))
                }
                None => value.clone(),
            },
            _ => value.clone(),
        })
    }

    fn tagged_id(&self, name: &str, tag: &str) -> Result<&str, Error> {
        self.ids.get(tag).map(String::as_str).ok_or_else(|| {
            let message = format!("`params.{name}`: nothing with the tag [{tag}] is declared above");
            Refusal::invalid_parameter("params", tag, message).into()
        })
    }
}

fn referred_tag(text: &str) -> Option<&str> {
    let tag = text.strip_prefix('$')?;
    let is_name = tag.starts_with(|first: char| first.is_ascii_alphabetic())
        && tag.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-.".contains(&byte));
    is_name.then_some(tag)
}

/// Cards have a URI, posts a number as text.
fn created_id(data: &Value) -> Option<&str> {
    let first = data.get(0).unwrap_or(data);
    ["card_uri", "id_str", "id"].iter().find_map(|member| first.get(member)?.as_str())
}

/// The operation that creates what a path below the account names, in either vocabulary.
fn find_creation(path: &str) -> Result<&'static AdsOperation, Error> {
    let is_wanted = |operation: &&AdsOperation| {
        let spelled = [Vocabulary::Post, Vocabulary::Tweet].map(|vocabulary| spell_path(operation.path, vocabulary));
        let mut below_account = spelled.iter().filter_map(|path| path.split_once("}/"));
        operation.method == "POST" && below_account.any(|(_, rest)| rest == path)
    };
    ads_delivery::operations().iter().find(is_wanted).ok_or_else(|| {
        let message = format!("`create`: no operation [POST accounts/:account_id/{path}]: `locum routes` lists all");
        Refusal::invalid_parameter("create", path, message).into()
    })
}
