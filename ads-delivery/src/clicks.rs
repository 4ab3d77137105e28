//! Clicks on card links and links in posts (contract ads §8.11): attributed like other engagement, or to the
//! impression whose token the link carried.

use base::{Fault, PostId};
use store::Tx;
use store::ads::card_links::CardLink;
use store::ledger::{self, AdEntity, AdEventKind, AdEventOrigin};
use store::posts::{self, PostState};
use store::short_links;

use crate::attribution::{EngagementAct, attribute_act};
use crate::ledger::{LedgerEvent, record_events};
use crate::serving::{AdImpression, hash_to_id};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CardClick {
    pub post: PostId,
    /// The user id; negative for a viewer who is not signed in.
    pub viewer: i64,
    /// The impression the serving client says the click came from.
    pub impression: Option<AdImpression>,
}

/// An id for a viewer who is not signed in: stable for a browser at an address, and not traceable to either.
pub fn anonymous_viewer_id(key: &[u8; 32], address: &str, agent: &str) -> i64 {
    let text = format!("card click\0{address}\0{agent}");
    -1 - hash_to_id(&[key.as_slice(), text.as_bytes()].concat())
}

/// Records a click on a card link in a post; returns the impression that it is attributed to.
pub fn record_card_click(tx: &mut Tx<'_>, link: &CardLink, click: &CardClick) -> Result<Option<i64>, Fault> {
    let post = posts::find_by_id(tx, click.post)?;
    let carries = format!("card://{}", link.card_id);
    if post.is_none_or(|post| post.card_uri != carries || post.state != PostState::Live) {
        return Ok(None);
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
        return Ok(None);
    };
    record_events(tx, std::slice::from_ref(&event))?;
    Ok(Some(event.impression_id))
}

/// A click on a link in a post.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LinkClick {
    pub post: PostId,
    /// The user id; negative for a viewer who is not signed in.
    pub viewer: i64,
}

/// Records a click in the ledger if it is attributed to promotion, or else once per viewer and day; returns the impression
/// that it is attributed to.
pub fn record_link_click(tx: &mut Tx<'_>, click: LinkClick) -> Result<Option<i64>, Fault> {
    let at = tx.now();
    let act = EngagementAct { kind: AdEventKind::UrlClick, at, viewer: click.viewer, subject: click.post.get() };
    if let Some(event) = attribute_act(tx, act)? {
        record_events(tx, std::slice::from_ref(&event))?;
        return Ok(Some(event.impression_id));
    }
    short_links::record_click(tx, click.post, click.viewer, at)?;
    Ok(None)
}

/// The event for a click that carried the token of a reported impression.
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
    let (act, id) = ((AdEventKind::CardClick, now), tx.next_id::<()>().get());
    Ok(Some(LedgerEvent::from_impression(shown, act, AdEventOrigin::Attributed, id)))
}
