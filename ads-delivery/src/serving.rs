//! Ad serving: selects ads for a viewer (contract ads §8.6). The operator's networks request and
//! report. Nothing is written about an ad until it is reported, except auction outcomes of manual
//! bids.

mod auction;
mod candidates;
mod creatives;
mod impression_token;
mod reports;
mod video_placements;

use ads_engine::AdsConfig;
use ads_engine::field_kind::format_time;
use base::refusal::AdsProblem;
use base::{Error, Fault, UserId};
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};
use store::Tx;
use store::ledger::{AdEntity, AuctionBid, Placement, ViewerTraits};

use crate::analytics::age_bucket;
use crate::conversions::{CLICK_ID_PARAMETER, format_click_id};
use crate::evaluator::Evaluator;

pub(crate) use auction::{
    AuctionTerms, Competition, CreativeChooser, FrequencyHistory, is_capped, load_frequency_history,
    run_market_auctions,
};
pub(crate) use candidates::{AuctionCandidate, DeliveryState, expected_rate, matches_placement};
pub(crate) use creatives::{AdCreative, creative_from_record, list_creatives};

pub use impression_token::AdImpression;
pub use reports::{ImpressionReport, MAX_REPORTS as MOST_REPORTS, record_reports};

const MAX_SLOTS: i64 = 20;

#[derive(Clone, Debug, Default)]
pub struct AdViewer {
    /// `None` for a viewer who is not signed in.
    pub user: Option<UserId>,
    /// The viewer id in the ledger.
    pub ledger_id: i64,
    pub traits: ViewerTraits,
}

#[derive(Clone, Debug)]
pub struct AdRequest {
    pub viewer: AdViewer,
    pub placement: Placement,
    /// The maximum number of ads.
    pub slots: i64,
    /// The post whose video a pre-roll ad precedes.
    pub video_post_id: Option<i64>,
}

impl AdRequest {
    pub fn parse(body: &Value) -> Result<Self, Error> {
        let mut problems = Vec::new();
        let empty = Map::new();
        let members = body.as_object().unwrap_or(&empty);
        let viewer = members.get("viewer").and_then(Value::as_object);
        if viewer.is_none() {
            problems.push(AdsProblem::missing_parameter("viewer"));
        }
        let viewer = parse_viewer(viewer.unwrap_or(&empty), &mut problems);
        let placement = match members.get("placement") {
            None | Some(Value::Null) => {
                problems.push(AdsProblem::missing_parameter("placement"));
                None
            }
            Some(value) => {
                let known = value.as_str().and_then(Placement::parse);
                if known.is_none() {
                    problems.push(invalid_member("placement", value, "a placement"));
                }
                known
            }
        };
        let slots = parse_number(members, "slots", (1, MAX_SLOTS), &mut problems).unwrap_or(1);
        let before = parse_id(members, "post_id", &mut problems);
        if !problems.is_empty() {
            return Err(base::Refusal::from(problems).into());
        }
        Ok(Self { viewer, placement: placement.unwrap_or(Placement::AllOn), slots, video_post_id: before })
    }
}

fn invalid_member(name: &'static str, value: &Value, expected: &str) -> AdsProblem {
    let shown: String = match value {
        Value::String(text) => text.chars().take(100).collect(),
        other => other.to_string().chars().take(100).collect(),
    };
    let message = format!("Expected {expected}, got \"{shown}\" for {name}");
    AdsProblem::invalid_parameter(name, shown, message)
}

fn parse_number(
    members: &Map<String, Value>,
    name: &'static str,
    (least, most): (i64, i64),
    problems: &mut Vec<AdsProblem>,
) -> Option<i64> {
    let value = members.get(name).filter(|value| !value.is_null())?;
    let number = value.as_i64().filter(|n| (least..=most).contains(n));
    if number.is_none() {
        problems.push(invalid_member(name, value, &format!("Integer in {least}..{most}")));
    }
    number
}

fn parse_id(members: &Map<String, Value>, name: &'static str, problems: &mut Vec<AdsProblem>) -> Option<i64> {
    let value = members.get(name).filter(|value| !value.is_null())?;
    let id = value.as_str().and_then(base::Id::<()>::parse);
    if id.is_none() {
        problems.push(invalid_member(name, value, "an id as a string"));
    }
    id.map(base::Id::get)
}

fn parse_text(
    members: &Map<String, Value>,
    name: &'static str,
    max: usize,
    problems: &mut Vec<AdsProblem>,
) -> Option<String> {
    let value = members.get(name).filter(|value| !value.is_null())?;
    let text = value.as_str().filter(|text| {
        let length = text.chars().count();
        (1..=max).contains(&length) && !text.contains('\0')
    });
    if text.is_none() {
        let expected = format!("String of length 1..{max}");
        problems.push(invalid_member(name, value, &expected));
    }
    text.map(str::to_owned)
}

fn parse_viewer(members: &Map<String, Value>, problems: &mut Vec<AdsProblem>) -> AdViewer {
    let user = parse_id(members, "user_id", problems);
    let key = parse_text(members, "key", 128, problems);
    let number_of = match (user, &key) {
        (Some(user), None) => user,
        (None, Some(key)) => viewer_id_from_key(key),
        _ => {
            if problems.is_empty() {
                let message = "A viewer has either a user_id or a key";
                problems.push(AdsProblem::invalid_parameter("viewer", "", message));
            }
            0
        }
    };
    let country = parse_text(members, "country", 2, problems).unwrap_or_default();
    let age = parse_number(members, "age", (0, 150), problems);
    AdViewer {
        user: user.map(UserId::new),
        ledger_id: number_of,
        traits: ViewerTraits {
            platform: parse_number(members, "platform", (0, 4), problems),
            country: country.to_ascii_uppercase(),
            metro: parse_text(members, "metro", 16, problems).unwrap_or_default(),
            age: age.and_then(age_bucket),
            gender: parse_number(members, "gender", (1, 2), problems),
        },
    }
}

/// A negative viewer id derived from the network's own id of a viewer.
fn viewer_id_from_key(key: &str) -> i64 {
    viewer_id_from_digest(&Sha256::digest(key.as_bytes()).into())
}

/// The viewer id of a network's own id, such as that of a device, with this SHA-256 digest.
pub(crate) fn viewer_id_from_digest(digest: &[u8; 32]) -> i64 {
    -1 - digest_to_id(digest)
}

/// The first 62 bits of a hash.
pub(crate) fn hash_to_id(bytes: &[u8]) -> i64 {
    digest_to_id(&Sha256::digest(bytes).into())
}

fn digest_to_id(digest: &[u8; 32]) -> i64 {
    let first = digest.first_chunk::<8>().copied().unwrap_or_default();
    i64::from_be_bytes(first) & (i64::MAX >> 1)
}

#[derive(Clone, Debug)]
pub struct ServedAds {
    pub answer: Value,
    /// Recorded before the response is sent.
    pub bid_outcomes: Vec<AuctionBid>,
}

/// Selects ads, best first. Files are below `files_url`.
pub fn serve_ads(
    tx: &mut Tx<'_>,
    (evaluator, config): (&Evaluator, &AdsConfig),
    (key, files_url): (&[u8; 32], &str),
    request: &AdRequest,
) -> Result<ServedAds, Error> {
    let now = tx.now();
    let mut shown = Vec::new();
    let result = auction::run_auctions(tx, (evaluator, config), request)?;
    for won in result.winners {
        let impression = AdImpression {
            id: tx.next_id::<()>().get(),
            line_item_id: won.candidate.item.id,
            creative: won.creative.kind,
            creative_id: won.creative.id,
            // A pre-roll ad is attributed to the video it precedes.
            subject: match request.video_post_id {
                Some(video) if won.creative.kind == AdEntity::MediaCreative => video,
                _ => won.creative.subject,
            },
            viewer: request.viewer.ledger_id,
            placement: request.placement,
            viewer_traits: request.viewer.traits.clone(),
            price: won.price,
            requested_at: now,
        };
        let mut members = won.creative.content;
        if let Some(Value::String(url)) = members.get_mut("media_url")
            && url.starts_with('/')
        {
            url.insert_str(0, files_url);
        }
        for (name, value) in [
            ("impression_token", Value::from(impression.encode(key))),
            (CLICK_ID_PARAMETER, format_click_id(key, impression.id).into()),
            ("expires_at", format_time(impression.viewable_until()).into()),
            ("line_item_id", won.candidate.item.formatted_id().into()),
            ("campaign_id", won.candidate.campaign.formatted_id().into()),
            ("placement", request.placement.name().into()),
        ] {
            members.insert(name.to_owned(), value);
        }
        shown.push(Value::Object(members));
    }
    Ok(ServedAds { answer: json!({ "data": shown }), bid_outcomes: result.bid_outcomes })
}

fn invariant_broken(what: &str) -> Error {
    Fault::new(what.to_owned()).into()
}
