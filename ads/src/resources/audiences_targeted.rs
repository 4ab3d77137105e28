//! What targets custom audiences: criteria, their line items and campaigns.

use std::collections::{BTreeMap, BTreeSet};

use base::{Error, UserId};
use serde_json::{Value, json};
use store::Tx;
use store::records::{self, OrderValue, RecordVisibility};

use crate::answer::Answer;
use crate::cursor;
use crate::desk::Desk;
use crate::given::Given;
use crate::listing::{place, walk};
use crate::record::Record;
use crate::resources::accounts::{self, ACCOUNT};
use crate::resources::campaigns::CAMPAIGN;
use crate::resources::custom_audiences::{CUSTOM_AUDIENCE, need};
use crate::resources::line_items::{self, LINE_ITEM};
use crate::resources::servability;
use crate::resources::targeting_criteria::{TARGETING_CRITERION, alike};

/// Campaigns on one page.
const PAGE: usize = 200;

/// The account's line items that target an audience, by campaign.
pub fn list(desk: &mut Desk<'_, '_>, given: &Given) -> Result<Answer, Error> {
    let (audience, _) = need(desk, given)?;
    let scope = walk(desk, &given.echo);
    let after = match place(desk, &scope, given)? {
        Some((OrderValue::Number(_), id)) => id,
        _ => i64::MIN,
    };
    let mut by_campaign = items(desk, audience.id, after)?;
    let ids: Vec<i64> = by_campaign.keys().copied().collect();
    let mut campaigns = of_ids(desk, &CAMPAIGN, &ids)?;
    campaigns.sort_by_key(|campaign| campaign.id);
    let (approval, now) = (
        desk.account()?.record.text("approval_status").to_owned(),
        desk.now(),
    );
    let all: Vec<Record> = by_campaign
        .values()
        .flatten()
        .chain(&campaigns)
        .cloned()
        .collect();
    let means = servability::means(desk, &all)?;
    let mut data: Vec<(i64, Value)> = Vec::new();
    for campaign in &campaigns {
        let mut shown = by_campaign.remove(&campaign.id).unwrap_or_default();
        shown.sort_by_key(|item| item.id);
        let mut entries = Vec::new();
        for item in &shown {
            let state = servability::of_line_item(item, campaign, &approval, &means, now);
            let servable = state.servable();
            if servable == Value::Bool(true) || !given.flag("with_active") {
                let name = item.get("name");
                entries
                    .push(json!({ "id": item.written_id(), "name": name, "servable": servable }));
            }
        }
        if !entries.is_empty() {
            let entry = json!({
                "campaign_id": campaign.written_id(),
                "campaign_name": campaign.text("name"),
                "line_items": entries,
            });
            data.push((campaign.id, entry));
        }
    }
    let more = data.len() > PAGE;
    data.truncate(PAGE);
    let last = data.last().filter(|_| more);
    let next =
        last.map(|(id, _)| cursor::seal(&desk.cursor_key, &scope, &(OrderValue::Number(*id), *id)));
    let mut answer = Answer::one(&data.into_iter().map(|(_, entry)| entry).collect());
    answer.next_cursor = Some(next);
    Ok(answer)
}

/// The line items that target an audience, by the campaigns behind one.
fn items(
    desk: &mut Desk<'_, '_>,
    audience: i64,
    after: i64,
) -> Result<BTreeMap<i64, Vec<Record>>, Error> {
    let criteria = desk.shown(&TARGETING_CRITERION, "audience", audience)?;
    let mut ids: Vec<i64> = criteria
        .iter()
        .filter_map(|one| one.int("line_item_id"))
        .collect();
    ids.sort_unstable();
    ids.dedup();
    let mut by_campaign: BTreeMap<i64, Vec<Record>> = BTreeMap::new();
    for item in of_ids(desk, &LINE_ITEM, &ids)? {
        let campaign = item.int("campaign_id").unwrap_or(0);
        if item.level != RecordVisibility::Hidden && campaign > after {
            by_campaign.entry(campaign).or_default().push(item);
        }
    }
    Ok(by_campaign)
}

fn of_ids(
    desk: &mut Desk<'_, '_>,
    of: &'static crate::declare::Resource,
    ids: &[i64],
) -> Result<Vec<Record>, Error> {
    let rows = records::find_by_ids(desk.tx, of.name, ids)?;
    let all: Result<Vec<Record>, _> = rows.iter().map(|row| Record::stored(of, row)).collect();
    Ok(all?)
}

/// Looks at every line item that targets an audience, after that became targetable or ceased to be.
pub fn changed(tx: &mut Tx<'_>, audience: i64) -> Result<(), Error> {
    let mut items: BTreeSet<(i64, i64)> = BTreeSet::new();
    for row in records::list_all_by_field(tx, TARGETING_CRITERION.name, ("audience", audience))? {
        let criterion = Record::stored(&TARGETING_CRITERION, &row)?;
        let item = criterion.int("line_item_id").unwrap_or(0);
        items.insert((criterion.account_id, item));
    }
    for (account, item) in items {
        records::lock(tx, ACCOUNT.name, account)?;
        if let Some(account) = accounts::find(tx, account)? {
            let mut desk = Desk::of_operator(tx, UserId::new(0), account);
            look_at(&mut desk, item)?;
        }
    }
    Ok(())
}

/// Notes whether a line item has lost the last audience that it could be shown to.
pub fn look_at(desk: &mut Desk<'_, '_>, item: i64) -> Result<(), Error> {
    let mut audiences = Vec::new();
    for kind in ["CUSTOM_AUDIENCE", "CUSTOM_AUDIENCE_EXPANDED"] {
        for one in desk.shown(&TARGETING_CRITERION, "alike", alike(item, kind))? {
            if one.text("operator_type") == "EQ" && one.text("targeting_type") == kind {
                audiences.extend(one.int("audience"));
            }
        }
    }
    let targetable = |record: &Record| record.flag("targetable") && !record.deleted;
    let reaches = of_ids(desk, &CUSTOM_AUDIENCE, &audiences)?;
    let unreached = !audiences.is_empty() && !reaches.iter().any(targetable);
    line_items::set_unreached(desk, item, unreached)
}
