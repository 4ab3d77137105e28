//! Card links: a short link for each card and destination.

use base::{Fault, Id};

use crate::Tx;
use crate::db::{insert, row, select};

row! {
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct CardLink from "card_link" {
        /// Empty for the platform's own page of the card.
        pub url: String,
        pub title: String,
        pub media_key: String,
        pub id: i64,
        pub card_id: i64,
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CardDestination<'a> {
    /// Empty for the platform's own page of the card.
    pub url: &'a str,
    pub title: &'a str,
    pub media_key: &'a str,
}

pub fn find_by_id(tx: &mut Tx<'_>, id: i64) -> Result<Option<CardLink>, Fault> {
    let sql = select!(CardLink, "WHERE id = $1");
    tx.query_row(sql, &[id.into()])
}

/// The current links; the links of one card are in its order.
pub fn list_by_cards(tx: &mut Tx<'_>, cards: &[i64]) -> Result<Vec<CardLink>, Fault> {
    let sql = select!(CardLink, "WHERE card_id = $1 AND place > 0 ORDER BY place");
    tx.query_by_keys(sql, cards, &[])
}

/// Replaces the destinations of a card. Former links stay resolvable.
pub fn set_destinations(tx: &mut Tx<'_>, card: i64, destinations: &[CardDestination<'_>]) -> Result<(), Fault> {
    let sql = "UPDATE card_link SET place = 0 WHERE card_id = $1 AND place > 0";
    tx.execute_later(sql, &[card.into()])?;
    for (position, destination) in (1_i64..).zip(destinations) {
        let known = "SELECT id FROM card_link WHERE card_id = $1 AND url = $2";
        let known: Option<i64> = tx.query_row(known, &[card.into(), destination.url.into()])?;
        if let Some(id) = known {
            let sql = "UPDATE card_link SET title = $1, media_key = $2, place = $3 WHERE id = $4";
            let args = [destination.title.into(), destination.media_key.into(), position.into(), id.into()];
            tx.execute_later(sql, &args)?;
            continue;
        }
        let id: Id<()> = tx.next_id();
        let CardDestination { url, title, media_key } = *destination;
        insert!(
            tx,
            "card_link",
            id = id,
            card_id = card,
            url = url,
            title = title,
            media_key = media_key,
            place = position
        )?;
    }
    Ok(())
}

/// Deletes every link of a deleted card.
pub fn remove_links(tx: &mut Tx<'_>, card: i64) -> Result<(), Fault> {
    let sql = "DELETE FROM card_link WHERE card_id = $1";
    tx.execute_later(sql, &[card.into()])
}
