//! Links of cards that are opened (contract §8.11): the click belongs to what is promoted as other
//! acts do, or to the impression whose token the link came with.

use base::{Fault, PostId};
use store::Tx;
use store::ads::card_links::CardLink;
use store::ledger::{self, AdEntity, AdEventKind, AdEventOrigin};
use store::posts::{self, PostState};

use crate::attribution::{EngagementAct, attribute_act};
use crate::ledger::{LedgerEvent, record_events};
use crate::serving::{AdImpression, hash_to_id};

/// Somebody opens a link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CardClick {
    /// The post whose card it was.
    pub post: PostId,
    /// Who clicked: a user, or less than nothing for someone who is none.
    pub viewer: i64,
    /// The impression that a serving client says it came from.
    pub impression: Option<AdImpression>,
}

/// The number of someone who is nobody here: the same for the same browser at the same address, and
/// not to be traced back to either.
pub fn anonymous_viewer_id(key: &[u8; 32], address: &str, agent: &str) -> i64 {
    let text = format!("card click\0{address}\0{agent}");
    -1 - hash_to_id(&[key.as_slice(), text.as_bytes()].concat())
}

/// Records that the link of a card was opened at a post; whether it counts for anything.
pub fn record_card_click(tx: &mut Tx<'_>, link: &CardLink, click: &CardClick) -> Result<bool, Fault> {
    let post = posts::find_by_id(tx, click.post)?;
    let carries = format!("card://{}", link.card_id);
    if post.is_none_or(|post| post.card_uri != carries || post.state != PostState::Live) {
        return Ok(false);
    }
    let event = match event_from_impression_token(tx, click)? {
        Some(event) => Some(event),
        None => attribute_act(
            tx,
            EngagementAct {
                kind: AdEventKind::CardClick,
                at: tx.now(),
                viewer: click.viewer,
                subject: click.post.get(),
            },
        )?,
    };
    let Some(event) = event else {
        return Ok(false);
    };
    Ok(!record_events(tx, &[event])?.is_empty())
}

/// What a click is where it came with the token of an impression that was reported.
fn event_from_impression_token(tx: &mut Tx<'_>, click: &CardClick) -> Result<Option<LedgerEvent>, Fault> {
    let (now, post) = (tx.now(), click.post.get());
    let shown = click.impression.as_ref().filter(|shown| {
        let holds = shown.requested_at.ms() <= now.ms() && now.ms() <= shown.engageable_until().ms();
        holds && shown.creative == AdEntity::PromotedPost && shown.subject == post
    });
    let Some(shown) = shown else {
        return Ok(None);
    };
    let known = ledger::event_kinds_by_impressions(tx, &[shown.id])?;
    if !known.contains(&(shown.id, AdEventKind::Impression)) {
        return Ok(None);
    }
    Ok(Some(LedgerEvent {
        kind: AdEventKind::CardClick,
        at: now,
        line_item_id: shown.line_item_id,
        creative: shown.creative,
        creative_id: shown.creative_id,
        subject: shown.subject,
        viewer: shown.viewer,
        placement: shown.placement,
        viewer_traits: shown.viewer_traits.clone(),
        price: shown.price,
        origin: AdEventOrigin::Attributed,
        id: tx.next_id::<()>().get(),
        impression_id: shown.id,
    }))
}
