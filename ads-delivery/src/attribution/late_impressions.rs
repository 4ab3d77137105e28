//! Engagement that was attributed to nothing, because clients reported the impression only afterwards.

use std::collections::HashMap;

use base::{Fault, PostId, UserId, sorted_distinct};
use store::ledger::{self, AdEntity, AdEvent, AdEventKind, EngagementAct};
use store::{Tx, posts};

use super::record_acts;

/// Attributes what the viewers of new impressions did between the impression and now.
pub(crate) fn attribute_earlier_acts(tx: &mut Tx<'_>, facts: &[AdEvent]) -> Result<(), Fault> {
    let now = tx.now();
    let late = facts.iter().filter(|fact| {
        let is_served = fact.kind == AdEventKind::Impression && fact.at < now && fact.viewer_id > 0;
        is_served && matches!(fact.creative, AdEntity::PromotedPost | AdEntity::PromotedAccount)
    });
    let late: Vec<&AdEvent> = late.collect();
    let Some(since) = late.iter().map(|shown| shown.at).min() else {
        return Ok(());
    };
    let viewers = sorted_distinct(late.iter().map(|shown| shown.viewer_id));
    let mut acts = ledger::list_acts_of_users(tx, &viewers, since)?;
    acts.extend(list_votes(tx, &late)?);
    acts.retain(|act| late.iter().any(|shown| may_have_led_to(shown, act)));
    record_acts(tx, &acts)
}

/// Whom a post's promotion made somebody follow is found by its author.
fn may_have_led_to(shown: &AdEvent, act: &EngagementAct) -> bool {
    let is_subject = act.kind == AdEventKind::Follow || shown.subject_id == act.subject;
    shown.viewer_id == act.viewer && shown.at <= act.at && is_subject
}

fn list_votes(tx: &mut Tx<'_>, late: &[&AdEvent]) -> Result<Vec<EngagementAct>, Fault> {
    let shown = late.iter().filter(|shown| shown.creative == AdEntity::PromotedPost);
    let shown: Vec<PostId> = shown.map(|shown| PostId::new(shown.subject_id)).collect();
    let polls: HashMap<i64, i64> = posts::find_by_ids(tx, &sorted_distinct(shown))?
        .into_iter()
        .filter_map(|post| Some((post.id.get(), post.poll_id?)))
        .collect();
    let mut votes = Vec::new();
    for shown in late {
        let Some(poll) = polls.get(&shown.subject_id) else { continue };
        let (viewer, kind, subject) = (shown.viewer_id, AdEventKind::PollVote, shown.subject_id);
        let at = ledger::find_vote_time(tx, *poll, UserId::new(viewer))?;
        votes.extend(at.map(|at| EngagementAct { viewer, kind, subject, at, reply_id: None }));
    }
    Ok(votes)
}
