//! Cards of every type, found by URI or id.

use ads_engine::engine::ensure_valid_params;
use ads_engine::{
    AccountContext, AdsRecord, CardUriText, CustomOperation, FieldSpec, IdFormat, Kind, OperationOutput, ParsedParams,
    RequiredRole, Resource, WITH_DELETED, parse_record_id,
};
use base::refusal::AdsProblem;
use base::{Error, Fault};
use store::Tx;
use store::records::{self, RecordListing, RecordOrder};

use crate::resources::cards::CARD;
use crate::resources::conversation_cards::{IMAGE_CONVERSATION_CARD, VIDEO_CONVERSATION_CARD};
use crate::resources::legacy_cards::LEGACY_CARDS;
use crate::resources::poll_cards::POLL_CARD;

/// The sequence shared by all cards with short ids.
pub const SHORT_CARD_SEQUENCE: &str = "short_card";

/// Cards with short ids; their field `uri` holds the number in the card URI.
pub fn short_id_cards() -> impl Iterator<Item = &'static Resource> {
    [&POLL_CARD, &VIDEO_CONVERSATION_CARD, &IMAGE_CONVERSATION_CARD].into_iter().chain(LEGACY_CARDS)
}

const MAX_URIS: usize = 200;

pub static OPERATIONS: &[CustomOperation] = &[
    CustomOperation::get("getAdsCardsByUri", "cards/all", list_cards_by_uri)
        .summary("Cards of every kind by their addresses.")
        .requires_role(RequiredRole::CreativeReader)
        .params(&[FieldSpec::new("card_uris", Kind::custom(&CardUriText).list(1, MAX_URIS)).required(), WITH_DELETED]),
    CustomOperation::get("getAdsCardOfAnyKind", "cards/all/{card_id}", get_card)
        .summary("A card of any kind.")
        .requires_role(RequiredRole::CreativeReader)
        .params(&[FieldSpec::text("card_id", 1, 64).required(), WITH_DELETED]),
];

/// The type of the card that a post shows, of whatever account; empty if there is none, or it was deleted.
pub fn find_card_type(tx: &mut Tx<'_>, uri: &str) -> Result<String, Fault> {
    let number = uri.strip_prefix("card://").and_then(|number| number.parse().ok());
    let found = number.map_or(Ok(None), |number| store::ads::cards::find_by_number(tx, number))?;
    let Some((kind, row)) = found else {
        return Ok(String::new());
    };
    let mut resources = std::iter::once(&CARD).chain(short_id_cards());
    let card = resources.find(|resource| resource.name == kind).map(|resource| AdsRecord::from_stored(resource, row));
    Ok(card.transpose()?.map(|card| card.text("card_type").to_owned()).unwrap_or_default())
}

/// Cards in the order requested; missing ones are omitted.
fn list_cards_by_uri(ctx: &mut AccountContext<'_, '_>, params: &ParsedParams) -> Result<OperationOutput, Error> {
    ensure_valid_params(params)?;
    let uris = params.ints("card_uris");
    let account = ctx.account_id()?;
    let with_deleted = params.flag("with_deleted");
    let mut found: Vec<(i64, AdsRecord)> = Vec::new();
    for row in records::find_by_ids(ctx.tx, CARD.name, &uris)? {
        let card = AdsRecord::from_stored(&CARD, row)?;
        if card.account_id == account && (!card.deleted || with_deleted) {
            found.push((card.id, card));
        }
    }
    for resource in short_id_cards() {
        let cards = find_cards_by_uris(ctx, resource, &uris, with_deleted)?.into_iter();
        found.extend(cards.map(|card| (card.int("uri").unwrap_or(0), card)));
    }
    let place = |uri: i64| uris.iter().position(|other| *other == uri);
    found.sort_by_key(|(uri, _)| place(*uri));
    let output = OperationOutput::from_records(ctx, found.into_iter().map(|(_, card)| card).collect())?;
    Ok(output.as_last_page())
}

fn find_cards_by_uris(
    ctx: &mut AccountContext<'_, '_>,
    resource: &'static Resource,
    uris: &[i64],
    with_deleted: bool,
) -> Result<Vec<AdsRecord>, Error> {
    if uris.is_empty() {
        return Ok(Vec::new());
    }
    let listing = RecordListing {
        kind: resource.name,
        account: ctx.account_id()?,
        number_filters: &[("uri", uris.to_vec())],
        text_filters: &[],
        number_ranges: &[],
        name_prefix: "",
        include_drafts: false,
        include_deleted: with_deleted,
        orders: &[RecordOrder::NEWEST],
        after: None,
        limit: i64::try_from(MAX_URIS).unwrap_or(i64::MAX),
        indexed_fields: None,
    };
    let (rows, _) = records::page_with_total(ctx.tx, &listing, false)?;
    Ok(AdsRecord::from_rows(resource, rows.into_iter().map(|(_, row)| row).collect())?)
}

fn get_card(ctx: &mut AccountContext<'_, '_>, params: &ParsedParams) -> Result<OperationOutput, Error> {
    ensure_valid_params(params)?;
    let text = params.text("card_id").unwrap_or_default();
    let short = parse_record_id(IdFormat::Short, "card_id", text)?;
    let is_shown = |card: &AdsRecord| !card.deleted || params.flag("with_deleted");
    let mut found = None;
    if let Some(id) = IdFormat::Long.parse(text) {
        found = ctx.find_record(&CARD, id)?.filter(is_shown);
    }
    for resource in short_id_cards() {
        if found.is_none() {
            found = ctx.find_record(resource, short)?.filter(is_shown);
        }
    }
    let missing = || {
        let message = format!("The card {text} was not found");
        AdsProblem::invalid_parameter("card_id", text, message).with_code(CARD.not_found)
    };
    let card = found.ok_or_else(missing)?;
    OperationOutput::from_record(ctx, card)
}
