//! Attribution of engagement on the platform to promoted entities (contract ads §8.6): likes,
//! reposts, replies, follows and votes. Events are read from the event log behind a durable cursor
//! that moves in the same transaction, so that each counts once and users never wait for the
//! ledger.

use std::collections::HashMap;

use ads::resources::accounts::{ACCOUNT, PRODUCTION_ID_BASE};
use ads::resources::promoted_posts::PROMOTED_POST;
use ads_engine::AdsRecord;
use base::{Fault, PostId, Time, UserId};
use store::event_log::{LogEvent as Entry, LogReader};
use store::ledger::{self, AdEntity, AdEvent, AdEventKind, AdEventOrigin, Placement, ViewerTraits};
use store::posts::Post;
use store::{Tx, posts, records};

use crate::ledger::{LedgerEvent, record_events};
use crate::serving::hash_to_id;

pub const ATTRIBUTION_READER: LogReader = LogReader::from_end("ads");
/// Engagement counts as caused by an impression for this long after it.
const ATTRIBUTION_WINDOW_MS: i64 = 86_400_000;

#[derive(Clone, Copy, Debug)]
pub(crate) struct EngagementAct {
    pub(crate) kind: AdEventKind,
    pub(crate) at: Time,
    pub(crate) viewer: i64,
    /// The id of the post or user.
    pub(crate) subject: i64,
}

/// Records the engagement in entries read by [`ATTRIBUTION_READER`] that promoted entities caused.
pub fn attribute_entries(tx: &mut Tx<'_>, entries: &[Entry]) -> Result<(), Fault> {
    let mut events = Vec::new();
    for act in acts_from_log(tx, entries)? {
        events.extend(attribute_act(tx, act)?);
    }
    if !events.is_empty() {
        record_events(tx, &events)?;
    }
    Ok(())
}

fn acts_from_log(tx: &mut Tx<'_>, entries: &[Entry]) -> Result<Vec<EngagementAct>, Fault> {
    let written = entries.iter().filter(|entry| entry.kind == "post.create");
    let written: Vec<PostId> = written.map(|entry| PostId::new(entry.subject_id)).collect();
    let written: HashMap<i64, Post> =
        posts::find_by_ids(tx, &written)?.into_iter().map(|post| (post.id.get(), post)).collect();
    let mut acts = Vec::new();
    for entry in entries {
        let act =
            |kind: AdEventKind, subject: i64| EngagementAct { kind, at: entry.at, viewer: entry.actor_id, subject };
        match entry.kind.as_str() {
            "like.create" => acts.push(act(AdEventKind::Like, entry.subject_id)),
            "poll.vote" => acts.push(act(AdEventKind::PollVote, entry.subject_id)),
            "follow.follow" => acts.push(act(AdEventKind::Follow, entry.subject_id)),
            "post.create" => {
                let Some(post) = written.get(&entry.subject_id) else {
                    continue;
                };
                if post.repost_of_id.is_some() && post.nullcast {
                    // Reposting a post is how it is promoted, not engagement with it.
                } else if let Some(filter) = post.repost_of_id {
                    acts.push(act(AdEventKind::Repost, filter.get()));
                } else if let Some(to) = post.in_reply_to_post_id
                    && post.edit_root_id.is_none_or(|root| root == post.id)
                {
                    acts.push(act(AdEventKind::Reply, to.get()));
                }
            }
            _ => {}
        }
    }
    Ok(acts)
}

/// The ledger event for an act: attributed to an impression of the last day, or to a promoted-only post.
pub(crate) fn attribute_act(tx: &mut Tx<'_>, act: EngagementAct) -> Result<Option<LedgerEvent>, Fault> {
    let since = act.at.plus_ms(-ATTRIBUTION_WINDOW_MS);
    for shown in ledger::list_impressions_of_viewer(tx, act.viewer, (since, act.at))? {
        if matches_impression(tx, &shown, act)? {
            return Ok(Some(event_from_impression(tx, &shown, act)));
        }
    }
    if act.kind == AdEventKind::Follow {
        return Ok(None);
    }
    let post = posts::find_by_id(tx, PostId::new(act.subject))?;
    if post.is_none_or(|post| !post.nullcast) {
        return Ok(None);
    }
    let mut promoted = find_latest_promotion(tx, act.subject)?;
    if promoted.is_none() {
        // The post may be promoted through a repost.
        for repost in store::reposts::list_nullcast(tx, PostId::new(act.subject))? {
            promoted = find_latest_promotion(tx, repost.get())?.or(promoted);
        }
    }
    Ok(promoted.map(|promoted| event_from_promoted_post(tx, &promoted, act)))
}

/// The newest promotion of a post in an account that exists and is not a sandbox.
fn find_latest_promotion(tx: &mut Tx<'_>, post: i64) -> Result<Option<AdsRecord>, Fault> {
    for row in records::list_newest(tx, PROMOTED_POST.name, ("post_id", post), PRODUCTION_ID_BASE)? {
        let account = AdsRecord::find(tx, &ACCOUNT, row.account_id)?;
        if account.is_some_and(|account| !account.deleted) {
            return AdsRecord::from_stored(&PROMOTED_POST, row).map(Some);
        }
    }
    Ok(None)
}

fn matches_impression(tx: &mut Tx<'_>, shown: &AdEvent, act: EngagementAct) -> Result<bool, Fault> {
    match (act.kind, shown.creative) {
        (AdEventKind::Follow, AdEntity::PromotedAccount) => Ok(shown.subject_id == act.subject),
        (AdEventKind::Follow, AdEntity::PromotedPost) => {
            let post = posts::find_by_id(tx, PostId::new(shown.subject_id))?;
            let followed = UserId::new(act.subject);
            Ok(post.is_some_and(|post| post.author_id == followed))
        }
        (AdEventKind::Follow, _) => Ok(false),
        (_, AdEntity::PromotedPost) => Ok(shown.subject_id == act.subject),
        _ => Ok(false),
    }
}

/// Each reply counts; other acts count once per impression, however often they are undone and repeated.
fn dedup_key(id: i64, act: EngagementAct, filter: i64) -> i64 {
    if act.kind == AdEventKind::Reply { id } else { filter }
}

fn event_from_impression(tx: &Tx<'_>, shown: &AdEvent, act: EngagementAct) -> LedgerEvent {
    let id = tx.next_id::<()>().get();
    let impression_id = dedup_key(id, act, shown.impression_id);
    LedgerEvent { viewer: act.viewer, impression_id, ..LedgerEvent::from_touch(shown, (act.kind, act.at), id) }
}

/// Without an impression there was no auction, so nothing is charged.
fn event_from_promoted_post(tx: &Tx<'_>, promoted: &AdsRecord, act: EngagementAct) -> LedgerEvent {
    let id = tx.next_id::<()>().get();
    let pair = format!("{}:{}:{}", promoted.id, act.subject, act.viewer);
    LedgerEvent {
        kind: act.kind,
        at: act.at,
        line_item_id: promoted.int("line_item_id").unwrap_or(0),
        creative: AdEntity::PromotedPost,
        creative_id: promoted.id,
        subject: act.subject,
        viewer: act.viewer,
        placement: Placement::AllOn,
        viewer_traits: ViewerTraits::default(),
        price: 0,
        origin: AdEventOrigin::Attributed,
        id,
        impression_id: dedup_key(id, act, -1 - hash_to_id(pair.as_bytes())),
        weight: 1,
    }
}
