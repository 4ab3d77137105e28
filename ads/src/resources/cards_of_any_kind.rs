//! Cards of every kind, found by what posts call them and by their ids.

use base::Error;
use base::refusal::AdsProblem;
use store::records::{self, RecordListing, RecordOrder};

use crate::access::Who;
use crate::answer::Answer;
use crate::declare::{Custom, Field, Resource, WITH_DELETED};
use crate::desk::Desk;
use crate::engine::{checked, show, show_one};
use crate::given::Given;
use crate::kind::{Ids, Kind};
use crate::record::Record;
use crate::resources::cards::CARD;
use crate::resources::conversation_cards::{IMAGE_CONVERSATION_CARD, VIDEO_CONVERSATION_CARD};
use crate::resources::poll_cards::POLL_CARD;

/// The sequence that counts the cards whose ids are short: no two have the same id.
pub const SEQUENCE: &str = "short_card";

/// Cards with short ids; their field `uri` is the number in their address.
static SHORT: [&Resource; 3] = [
    &POLL_CARD,
    &VIDEO_CONVERSATION_CARD,
    &IMAGE_CONVERSATION_CARD,
];

const URIS: usize = 200;

/// What can be done with them.
pub static OPERATIONS: &[Custom] = &[
    Custom::get(
        "getAdsCardsByUri",
        "cards/all",
        "Cards of every kind by their addresses.",
        list,
    )
    .who(Who::CreativeReader)
    .params(&[
        Field::new("card_uris", Kind::CardUris(URIS)).required(),
        WITH_DELETED,
    ]),
    Custom::get(
        "getAdsCardOfAnyKind",
        "cards/all/{card_id}",
        "A card of any kind.",
        get,
    )
    .who(Who::CreativeReader)
    .params(&[Field::text("card_id", 1, 64).required(), WITH_DELETED]),
];

/// In the order in which they were asked for; those that are not there are left out.
fn list(desk: &mut Desk<'_, '_>, given: &Given) -> Result<Answer, Error> {
    checked(given)?;
    let uris = given.ints("card_uris");
    let mut found: Vec<(i64, String)> = Vec::new();
    let account = desk.account_id()?;
    let mut cards = Vec::new();
    for row in records::find_by_ids(desk.tx, CARD.name, &uris)? {
        let card = Record::stored(&CARD, &row)?;
        if card.account_id == account && (!card.deleted || given.flag("with_deleted")) {
            cards.push((card.id, card));
        }
    }
    spoken(desk, cards, &mut found)?;
    for of in SHORT {
        let cards = of_uris(desk, of, &uris)?;
        let cards = cards.into_iter();
        let cards = cards
            .map(|card| (card.int("uri").unwrap_or(0), card))
            .collect();
        spoken(desk, cards, &mut found)?;
    }
    let place = |uri: i64| uris.iter().position(|other| *other == uri);
    found.sort_by_key(|(uri, _)| place(*uri));
    let all: Vec<String> = found.into_iter().map(|(_, text)| text).collect();
    Ok(Answer::raw(format!("[{}]", all.join(","))).last_page())
}

/// Shows cards of one kind.
fn spoken(
    desk: &mut Desk<'_, '_>,
    cards: Vec<(i64, Record)>,
    found: &mut Vec<(i64, String)>,
) -> Result<(), Error> {
    let (uris, cards): (Vec<i64>, Vec<Record>) = cards.into_iter().unzip();
    found.extend(uris.into_iter().zip(show(desk, &cards)?));
    Ok(())
}

fn of_uris(
    desk: &mut Desk<'_, '_>,
    of: &'static Resource,
    uris: &[i64],
) -> Result<Vec<Record>, Error> {
    if uris.is_empty() {
        return Ok(Vec::new());
    }
    let listing = RecordListing {
        kind: of.name,
        account: desk.account_id()?,
        number_filters: &[("uri", uris.to_vec())],
        text_filters: &[],
        name_prefix: "",
        include_drafts: false,
        include_deleted: false,
        orders: &[RecordOrder::NEWEST],
        after: None,
        limit: i64::try_from(URIS).unwrap_or(i64::MAX),
        indexed_fields: None,
    };
    let (rows, _) = records::page_with_total(desk.tx, &listing, false)?;
    let all: Result<Vec<Record>, _> = rows
        .iter()
        .map(|(_, row)| Record::stored(of, row))
        .collect();
    Ok(all?)
}

fn get(desk: &mut Desk<'_, '_>, given: &Given) -> Result<Answer, Error> {
    checked(given)?;
    let text = given.text("card_id").unwrap_or_default();
    let short = Ids::Short.read("card_id", text)?;
    let mut found = None;
    if let Ok(id) = Ids::Long.read("card_id", text) {
        let card = desk.find(&CARD, id)?;
        found = card.filter(|card| !card.deleted || given.flag("with_deleted"));
    }
    for of in SHORT {
        if found.is_none() {
            found = desk.find(of, short)?;
        }
    }
    let missing = || {
        let message = format!("The card {text} was not found");
        AdsProblem::invalid_parameter("card_id", text, message).with_code(CARD.not_found)
    };
    let card = found.ok_or_else(missing)?;
    Ok(Answer::raw(show_one(desk, &card)?))
}
