//! Card links: a short link for each card and destination.

use base::{Fault, Id};

use crate::Tx;
use crate::db::SqlRow;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CardLink {
    pub id: i64,
    pub card_id: i64,
    /// Empty for the platform's own page of the card.
    pub url: String,
    pub title: String,
    pub media_key: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CardDestination<'a> {
    /// Empty for the platform's own page of the card.
    pub url: &'a str,
    pub title: &'a str,
    pub media_key: &'a str,
}

fn link_from_row(row: &SqlRow<'_, '_>) -> Result<CardLink, Fault> {
    Ok(CardLink {
        id: row.int(0)?,
        card_id: row.int(1)?,
        url: row.text(2)?,
        title: row.text(3)?,
        media_key: row.text(4)?,
    })
}

pub fn find_by_id(tx: &mut Tx<'_>, id: i64) -> Result<Option<CardLink>, Fault> {
    let sql = "SELECT id, card_id, url, title, media_key FROM card_link WHERE id = $1";
    tx.query_row(sql, &[id.into()], link_from_row)
}

/// The current links; the links of one card are in its order.
pub fn list_by_cards(tx: &mut Tx<'_>, cards: &[i64]) -> Result<Vec<CardLink>, Fault> {
    let sql = "SELECT id, card_id, url, title, media_key FROM card_link \
               WHERE card_id = $1 AND place > 0 ORDER BY place";
    tx.query_by_keys(sql, cards, &[], link_from_row)
}

/// Replaces the destinations of a card. Former links stay resolvable.
pub fn set_destinations(tx: &mut Tx<'_>, card: i64, destinations: &[CardDestination<'_>]) -> Result<(), Fault> {
    let sql = "UPDATE card_link SET place = 0 WHERE card_id = $1 AND place > 0";
    tx.execute(sql, &[card.into()])?;
    for (position, destination) in (1_i64..).zip(destinations) {
        let known = "SELECT id FROM card_link WHERE card_id = $1 AND url = $2";
        let known = tx.query_row(known, &[card.into(), destination.url.into()], |row| row.int(0))?;
        if let Some(id) = known {
            let sql = "UPDATE card_link SET title = $1, media_key = $2, place = $3 WHERE id = $4";
            let args = [destination.title.into(), destination.media_key.into(), position.into(), id.into()];
            tx.execute(sql, &args)?;
            continue;
        }
        let id: Id<()> = tx.next_id();
        let sql = "INSERT INTO card_link (id, card_id, url, title, media_key, place) \
                   VALUES ($1, $2, $3, $4, $5, $6)";
        let args = [
            id.get().into(),
            card.into(),
            destination.url.into(),
            destination.title.into(),
            destination.media_key.into(),
            position.into(),
        ];
        tx.execute(sql, &args)?;
    }
    Ok(())
}

/// Deletes every link of a deleted card.
pub fn remove_links(tx: &mut Tx<'_>, card: i64) -> Result<(), Fault> {
    let sql = "DELETE FROM card_link WHERE card_id = $1";
    tx.execute(sql, &[card.into()]).map(|_| ())
}
