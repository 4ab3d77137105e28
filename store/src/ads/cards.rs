//! Cards of all kinds and accounts, by the number in their URI.

use base::Fault;

use crate::Tx;
use crate::records::{self, RecordRow, RecordVisibility};

/// Kinds whose URI has a number of its own; that of a `card` is its id.
const NUMBERED_KINDS: [&str; 9] = [
    "poll_card",
    "video_conversation_card",
    "image_conversation_card",
    "website_card",
    "video_website_card",
    "image_app_download_card",
    "video_app_download_card",
    "image_direct_message_card",
    "video_direct_message_card",
];

/// Whether a card has this number and was not deleted.
pub fn exists(tx: &mut Tx<'_>, number: i64) -> Result<bool, Fault> {
    Ok(find_by_number(tx, number)?.is_some())
}

/// The kind and the record of the card that has this number and was not deleted.
pub fn find_by_number(tx: &mut Tx<'_>, number: i64) -> Result<Option<(&'static str, RecordRow)>, Fault> {
    let card = records::find_by_id(tx, "card", number)?;
    if let Some(card) = card.filter(|card| card.level == RecordVisibility::Listed) {
        return Ok(Some(("card", card)));
    }
    for kind in NUMBERED_KINDS {
        let card = records::list_in_all_accounts(tx, kind, ("uri", number))?.into_iter().next();
        if let Some(card) = card {
            return Ok(Some((kind, card)));
        }
    }
    Ok(None)
}
