//! Cards of all kinds and accounts, by the number in their URI.

use base::Fault;

use crate::Tx;
use crate::records::{self, RecordVisibility};

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
    if records::find_by_id(tx, "card", number)?.is_some_and(|card| card.level == RecordVisibility::Listed) {
        return Ok(true);
    }
    for kind in NUMBERED_KINDS {
        if !records::list_in_all_accounts(tx, kind, ("uri", number))?.is_empty() {
            return Ok(true);
        }
    }
    Ok(false)
}
