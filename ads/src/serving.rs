//! Serving: what is shown to a viewer, and what became of it (contract §8.6). Own networks ask and
//! report; of what is shown nothing is written until that is reported, and of the auction only how
//! those fared who set their bid themselves.

mod auction;
mod candidates;
mod creatives;
mod reports;
mod token;
mod videos;

use base::refusal::AdsProblem;
use base::{Error, Fault, UserId};
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};
use store::Tx;
use store::ledger::{AdEntity, AuctionBid, Placement, ViewerTraits};

use crate::analytics::bucket_of;
use crate::evaluator::Evaluator;
use crate::house::House;
use crate::kind::instant;

pub(crate) use candidates::rate;

pub use reports::{MOST as MOST_REPORTS, Report, report};
pub use token::Impression;

/// Slots of one request.
const SLOTS: i64 = 20;

/// Who is looking.
#[derive(Clone, Debug, Default)]
pub struct Viewer {
    /// The user; none: someone who is none.
    pub user: Option<UserId>,
    /// As the ledger has it.
    pub number: i64,
    /// What is known of them.
    pub looks: ViewerTraits,
}

/// What is asked for.
#[derive(Clone, Debug)]
pub struct Ask {
    /// Who is looking.
    pub viewer: Viewer,
    /// At what.
    pub placement: Placement,
    /// At most so many.
    pub slots: i64,
    /// The post whose video it goes before, where it does.
    pub before: Option<i64>,
}

impl Ask {
    /// Reads it.
    pub fn read(body: &Value) -> Result<Self, Error> {
        let mut problems = Vec::new();
        let empty = Map::new();
        let members = body.as_object().unwrap_or(&empty);
        let viewer = members.get("viewer").and_then(Value::as_object);
        if viewer.is_none() {
            problems.push(AdsProblem::missing_parameter("viewer"));
        }
        let viewer = read_viewer(viewer.unwrap_or(&empty), &mut problems);
        let placement = match members.get("placement") {
            None | Some(Value::Null) => {
                problems.push(AdsProblem::missing_parameter("placement"));
                None
            }
            Some(value) => {
                let known = value.as_str().and_then(Placement::parse);
                if known.is_none() {
                    problems.push(wrong("placement", value, "a placement"));
                }
                known
            }
        };
        let slots = number(members, "slots", (1, SLOTS), &mut problems).unwrap_or(1);
        let before = id(members, "post_id", &mut problems);
        if !problems.is_empty() {
            return Err(base::Refusal::from(problems).into());
        }
        Ok(Self {
            viewer,
            placement: placement.unwrap_or(Placement::AllOn),
            slots,
            before,
        })
    }
}

fn wrong(name: &'static str, value: &Value, expected: &str) -> AdsProblem {
    let shown: String = match value {
        Value::String(text) => text.chars().take(100).collect(),
        other => other.to_string().chars().take(100).collect(),
    };
    let message = format!("Expected {expected}, got \"{shown}\" for {name}");
    AdsProblem::invalid_parameter(name, shown, message)
}

fn number(
    members: &Map<String, Value>,
    name: &'static str,
    (least, most): (i64, i64),
    problems: &mut Vec<AdsProblem>,
) -> Option<i64> {
    let value = members.get(name).filter(|value| !value.is_null())?;
    let number = value.as_i64().filter(|n| (least..=most).contains(n));
    if number.is_none() {
        problems.push(wrong(name, value, &format!("Integer in {least}..{most}")));
    }
    number
}

fn id(
    members: &Map<String, Value>,
    name: &'static str,
    problems: &mut Vec<AdsProblem>,
) -> Option<i64> {
    let value = members.get(name).filter(|value| !value.is_null())?;
    let id = value.as_str().and_then(base::Id::<()>::parse);
    if id.is_none() {
        problems.push(wrong(name, value, "an id as a string"));
    }
    id.map(base::Id::get)
}

fn text(
    members: &Map<String, Value>,
    name: &'static str,
    most: usize,
    problems: &mut Vec<AdsProblem>,
) -> Option<String> {
    let value = members.get(name).filter(|value| !value.is_null())?;
    let text = value.as_str().filter(|text| {
        let length = text.chars().count();
        (1..=most).contains(&length) && !text.contains('\0')
    });
    if text.is_none() {
        let expected = format!("String of length 1..{most}");
        problems.push(wrong(name, value, &expected));
    }
    text.map(str::to_owned)
}

fn read_viewer(members: &Map<String, Value>, problems: &mut Vec<AdsProblem>) -> Viewer {
    let user = id(members, "user_id", problems);
    let key = text(members, "key", 128, problems);
    let number_of = match (user, &key) {
        (Some(user), None) => user,
        (None, Some(key)) => of_key(key),
        _ => {
            if problems.is_empty() {
                let message = "A viewer has either a user_id or a key";
                problems.push(AdsProblem::invalid_parameter("viewer", "", message));
            }
            0
        }
    };
    let country = text(members, "country", 2, problems).unwrap_or_default();
    let age = number(members, "age", (0, 150), problems);
    Viewer {
        user: user.map(UserId::new),
        number: number_of,
        looks: ViewerTraits {
            platform: number(members, "platform", (0, 4), problems),
            country: country.to_ascii_uppercase(),
            metro: text(members, "metro", 16, problems).unwrap_or_default(),
            age: age.and_then(bucket_of),
            gender: number(members, "gender", (1, 2), problems),
        },
    }
}

/// Someone who is no user is known by what a network calls them: a number below nothing.
fn of_key(key: &str) -> i64 {
    -1 - hashed(key.as_bytes())
}

/// A number of 62 bits that some bytes always come to.
pub(crate) fn hashed(bytes: &[u8]) -> i64 {
    let digest = Sha256::digest(bytes);
    let first = digest.first_chunk::<8>().copied().unwrap_or_default();
    i64::from_be_bytes(first) & (i64::MAX >> 1)
}

/// What a request came to.
#[derive(Clone, Debug)]
pub struct Served {
    /// What is told to who asked.
    pub answer: Value,
    /// What became of the bids, to be counted before that is told.
    pub bids: Vec<AuctionBid>,
}

/// What is to be shown, best first.
pub fn request(
    tx: &mut Tx<'_>,
    (evaluator, house): (&Evaluator, &House),
    key: &[u8; 32],
    ask: &Ask,
) -> Result<Served, Error> {
    let now = tx.now();
    let mut shown = Vec::new();
    let held = auction::hold(tx, (evaluator, house), ask)?;
    for won in held.won {
        let impression = Impression {
            id: tx.next_id::<()>().get(),
            line_item_id: won.item.id,
            creative: won.creative.kind,
            creative_id: won.creative.id,
            // Before a video, that video is what it is seen with.
            subject: match ask.before {
                Some(video) if won.creative.kind == AdEntity::MediaCreative => video,
                _ => won.creative.subject,
            },
            viewer: ask.viewer.number,
            placement: ask.placement,
            looks: ask.viewer.looks.clone(),
            price: won.price,
            at: now,
        };
        let mut members = won.creative.shown;
        for (name, value) in [
            ("impression_token", Value::from(impression.seal(key))),
            ("expires_at", instant(impression.until()).into()),
            ("line_item_id", won.item.written_id().into()),
            ("campaign_id", won.campaign.written_id().into()),
            ("placement", ask.placement.name().into()),
        ] {
            members.insert(name.to_owned(), value);
        }
        shown.push(Value::Object(members));
    }
    Ok(Served {
        answer: json!({ "data": shown }),
        bids: held.bids,
    })
}

/// Counts what became of the bids of a request.
pub fn count(tx: &mut Tx<'_>, bids: &[AuctionBid]) -> Result<(), Error> {
    Ok(store::ledger::record_auction(tx, bids)?)
}

/// That something which must hold does not.
fn broken(what: &str) -> Error {
    Fault::new(what.to_owned()).into()
}
