//! Recommendations: once a day it is looked at what each funding instrument pays for, and what of
//! it could do better is written down as a tree of changes (contract §8.8).

mod audiences;
mod bids;
mod rules;
mod tree;

use std::sync::Arc;

use base::{Error, Fault, UserId};
use network::emails::EmailSite;
use serde_json::Value;
use store::{Tx, records};

use crate::desk::Desk;
use crate::evaluator::Evaluator;
use crate::given::Given;
use crate::house::House;
use crate::record::Record;
use crate::resources::accounts::{self, ACCOUNT};
use crate::resources::campaigns::CAMPAIGN;
use crate::resources::funding_instruments::FUNDING_INSTRUMENT;
use crate::resources::line_items::LINE_ITEM;
use crate::resources::recommendations::RECOMMENDATION;
use crate::{engine, letters};

/// A day, in milliseconds.
pub const DAY: i64 = 24 * 3_600_000;
/// What nobody took up for so long is over, and what was turned down is not said again for so long.
const KEPT: i64 = 14 * DAY;
/// Days that are looked at.
const DAYS: i64 = 7;
const DAILY: &str = "daily_budget_amount_local_micro";
const TOTAL: &str = "total_budget_amount_local_micro";

/// Something that could do better.
#[derive(Clone, Debug)]
struct Advice {
    /// Which rule says it, and of what.
    subject: String,
    /// What following it is worth, in millionths.
    gain: i64,
    /// What is wrong, for people.
    message: String,
    /// What to change.
    changes: Value,
}

/// A campaign that a funding instrument pays for, and its line items.
struct Branch {
    campaign: Record,
    items: Vec<Record>,
}

/// The funding instrument that is to be looked at first; none when that of none is.
pub fn due(tx: &mut Tx<'_>) -> Result<Option<i64>, Fault> {
    let now = tx.now().ms();
    let rows = records::list_due(tx, FUNDING_INSTRUMENT.name, "advise_at", now, 1)?;
    Ok(rows.first().map(|row| row.id))
}

/// What the rules ask beside the ledger, and who tells of what they find.
#[derive(Clone, Debug)]
pub struct Adviser {
    /// Who decides whom advertising reaches.
    pub evaluator: Arc<Evaluator>,
    /// What the operator decided.
    pub house: House,
    /// The platform as its letters name it.
    pub site: EmailSite,
}

/// What could do better of what a funding instrument pays for.
#[derive(Clone, Debug, Default)]
pub struct Found(Vec<Advice>);

impl Adviser {
    /// Looks at what a funding instrument pays for. That takes its time and changes nothing, so
    /// that nobody who writes waits for it.
    pub fn look(&self, tx: &mut Tx<'_>, id: i64) -> Result<Found, Error> {
        let Some((mut desk, instrument)) = self.desk(tx, id)? else {
            return Ok(Found::default());
        };
        let live = !instrument.deleted && instrument.text("entity_status") == "ACTIVE";
        if !live || accounts::allows(&desk, "RECOMMENDATIONS").is_err() {
            return Ok(Found::default());
        }
        Ok(Found(found(&mut desk, id)?))
    }

    /// Says what was found; the instrument is looked at again a day later. What is `due` is left
    /// alone where another node was faster.
    pub fn say(&self, tx: &mut Tx<'_>, id: i64, due: bool, found: &Found) -> Result<(), Error> {
        let Some(row) = records::find_by_id(tx, FUNDING_INSTRUMENT.name, id)? else {
            return Ok(());
        };
        records::lock(tx, ACCOUNT.name, row.account_id)?;
        records::lock(tx, FUNDING_INSTRUMENT.name, id)?;
        let Some((mut desk, mut instrument)) = self.desk(tx, id)? else {
            return Ok(());
        };
        let now = desk.now();
        if due && instrument.time("advise_at").is_none_or(|at| at > now) {
            return Ok(());
        }
        instrument.set("advise_at", now.ms().saturating_add(DAY));
        desk.keep(&instrument)?;
        if let Some(new) = settle(&mut desk, id, &found.0)? {
            letters::improvement(&mut desk, &self.site, &new)?;
        }
        Ok(())
    }

    /// A funding instrument and a desk of its account.
    fn desk<'t, 'c>(
        &self,
        tx: &'t mut Tx<'c>,
        id: i64,
    ) -> Result<Option<(Desk<'t, 'c>, Record)>, Error> {
        let Some(row) = records::find_by_id(tx, FUNDING_INSTRUMENT.name, id)? else {
            return Ok(None);
        };
        let Some(account) = accounts::find(tx, row.account_id)? else {
            return Ok(None);
        };
        let instrument = Record::stored(&FUNDING_INSTRUMENT, &row)?;
        let mut desk = Desk::of_operator(tx, UserId::new(0), account);
        desk.evaluator = Some(Arc::clone(&self.evaluator));
        desk.house.clone_from(&self.house);
        Ok(Some((desk, instrument)))
    }
}

/// What an account pays with.
pub fn instruments(tx: &mut Tx<'_>, account: i64) -> Result<Vec<i64>, Fault> {
    let rows = records::list_by_account(tx, FUNDING_INSTRUMENT.name, account)?;
    Ok(rows.iter().map(|row| row.id).collect())
}

/// What could do better of what an instrument pays for, the most worthwhile first.
fn found(desk: &mut Desk<'_, '_>, instrument: i64) -> Result<Vec<Advice>, Error> {
    let mut branches = Vec::new();
    for campaign in desk.shown(&CAMPAIGN, "funding_instrument_id", instrument)? {
        let items = desk.shown(&LINE_ITEM, "campaign_id", campaign.id)?;
        branches.push(Branch { campaign, items });
    }
    let mut all = rules::small_budgets(desk, &branches)?;
    all.extend(audiences::narrow(desk, &branches)?);
    all.extend(bids::low(desk, &branches)?);
    all.extend(rules::tired_creatives(desk, &branches)?);
    all.extend(rules::nothing_to_serve(desk, &branches)?);
    all.sort_by(|one, other| (other.gain, &one.subject).cmp(&(one.gain, &other.subject)));
    Ok(all)
}

/// Compares what was said with what is: what was followed, what is over, and what is new, which is
/// the answer.
fn settle(
    desk: &mut Desk<'_, '_>,
    instrument: i64,
    found: &[Advice],
) -> Result<Option<Record>, Error> {
    let now = desk.now();
    let said = desk.with(&RECOMMENDATION, "funding_instrument_id", instrument)?;
    let still: Vec<String> = found.iter().map(|one| one.subject.clone()).collect();
    let best = found.iter().find(|advice| {
        !said.iter().any(|one| {
            let turned_down = one.flag("refused") && one.updated_at.plus_ms(KEPT) > now;
            turned_down && one.text("subject") == advice.subject
        })
    });
    let mut holds = false;
    for pending in said.iter().filter(|one| one.text("status") == "PENDING") {
        let changes = pending.get("changes").cloned().unwrap_or_default();
        let status = if tree::is_done(desk, &changes)? {
            "APPLIED"
        } else {
            let subject = pending.text("subject");
            let is_best = best.as_ref().is_some_and(|best| best.subject == subject);
            let old = pending.created_at.plus_ms(KEPT) <= now;
            holds |= is_best;
            if is_best && !old {
                continue;
            }
            if old || !still.iter().any(|one| one == subject) {
                "EXPIRED"
            } else {
                // Something else is worth more.
                "DISMISSED"
            }
        };
        move_to(desk, pending.clone(), status)?;
    }
    let Some(best) = best.filter(|_| !holds).cloned() else {
        return Ok(None);
    };
    let mut given = Given::default();
    given.put("funding_instrument_id", instrument.into());
    given.put("status", "PENDING".into());
    given.put("message", best.message.into());
    given.put("subject", best.subject.into());
    given.put("changes", best.changes);
    engine::create(desk, &RECOMMENDATION, &given).map(Some)
}

fn move_to(desk: &mut Desk<'_, '_>, mut record: Record, status: &str) -> Result<(), Error> {
    record.set("status", status);
    record.updated_at = desk.now();
    desk.keep(&record)
}

/// Turns down what an account is recommended; false when there is no such thing.
pub fn dismiss(desk: &mut Desk<'_, '_>, id: i64) -> Result<bool, Error> {
    let found = desk.find(&RECOMMENDATION, id)?;
    let Some(mut record) = found.filter(|one| one.text("status") == "PENDING") else {
        return Ok(false);
    };
    record.set("refused", 1);
    move_to(desk, record, "DISMISSED")?;
    Ok(true)
}

/// Notes that an account did what it is recommended; false when something of it is not done.
pub fn follow(desk: &mut Desk<'_, '_>, id: i64) -> Result<bool, Error> {
    let found = desk.find(&RECOMMENDATION, id)?;
    let Some(record) = found.filter(|one| one.text("status") == "PENDING") else {
        return Ok(false);
    };
    let changes = record.get("changes").cloned().unwrap_or_default();
    if !tree::is_done(desk, &changes)? {
        return Ok(false);
    }
    move_to(desk, record, "APPLIED")?;
    Ok(true)
}
