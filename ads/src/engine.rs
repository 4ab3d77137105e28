//! What can be done to any resource.

use base::refusal::AdsProblem;
use base::{Error, Fault, Refusal};
use serde_json::Value;
use store::records::{self, RecordVisibility};

use crate::change::Change;
use crate::declare::{Delete, Need, Resource, Rule, Verb};
use crate::desk::{Desk, not_found};
use crate::given::Given;
use crate::history;
use crate::kind::{Ids, Kind};
use crate::record::Record;
use crate::resources::{RESOURCES, features};

/// One record, deleted or not.
pub fn get(desk: &mut Desk<'_, '_>, of: &'static Resource, given: &Given) -> Result<Record, Error> {
    checked(given)?;
    let id = id_of(of, given)?;
    if given.flag("with_deleted") {
        let found = desk.find(of, id)?;
        return found.ok_or_else(|| desk.not_found(of, id).into());
    }
    desk.need(of, id)
}

/// The id that the path names.
pub fn id_of(of: &Resource, given: &Given) -> Result<i64, Error> {
    let id = given.int(of.id.post);
    id.ok_or_else(|| AdsProblem::missing_parameter(of.id.post).into())
}

/// Refuses a request that could not be understood.
pub fn checked(given: &Given) -> Result<(), Error> {
    if given.problems.is_empty() {
        return Ok(());
    }
    Err(Refusal::from(given.problems.clone()).into())
}

/// Makes a record.
pub fn create(
    desk: &mut Desk<'_, '_>,
    of: &'static Resource,
    given: &Given,
) -> Result<Record, Error> {
    let mut problems = given.problems.clone();
    missing_references(desk, of, given, &mut problems)?;
    refuse(problems)?;
    let mut record = Record::new(of, 0, desk.account_id()?, desk.now());
    let mut sent = Vec::new();
    for field in of.fields {
        let name = field.name.post;
        match given.get(name) {
            Some(value) => {
                sent.push(name);
                record.set(name, value.clone());
            }
            None => record.set(name, field.default.value(field.kind)),
        }
    }
    let mut change = Change {
        verb: Verb::Create,
        record,
        before: None,
        sent,
    };
    judge(desk, &mut change)?;
    if let Some(twin) = of.twin
        && let Some(found) = twin(desk, &change.record)?
    {
        return revive(desk, found);
    }
    insert(desk, change)
}

fn insert(desk: &mut Desk<'_, '_>, mut change: Change) -> Result<Record, Error> {
    let of = change.record.of;
    let sequence = if of.sequence.is_empty() {
        of.name
    } else {
        of.sequence
    };
    change.record.id = match of.ids {
        Ids::Long => desk.tx.next_id::<()>().get(),
        Ids::Short | Ids::Twelve => {
            records::next_id(desk.tx, sequence)?.saturating_add(of.ids.first())
        }
    };
    change.record.level = level(&change.record);
    if !records::insert(desk.tx, of.name, &change.record.to_store())? {
        return Err(Fault::new(format!("{} {} is taken", of.name, change.record.id)).into());
    }
    settled(desk, &change)?;
    Ok(change.record)
}

/// A record that would be repeated: as it is, or not deleted any longer.
fn revive(desk: &mut Desk<'_, '_>, found: Record) -> Result<Record, Error> {
    if !found.deleted {
        return Ok(found);
    }
    let mut record = found.clone();
    record.deleted = false;
    record.level = level(&record);
    record.updated_at = desk.now();
    let change = Change {
        verb: Verb::Create,
        record,
        before: Some(found),
        sent: Vec::new(),
    };
    desk.keep(&change.record)?;
    settled(desk, &change)?;
    Ok(change.record)
}

/// Changes a record: what was sent, and nothing else.
pub fn update(
    desk: &mut Desk<'_, '_>,
    of: &'static Resource,
    id: i64,
    given: &Given,
) -> Result<Record, Error> {
    let before = desk.need(of, id)?;
    let mut problems = given.problems.clone();
    missing_references(desk, of, given, &mut problems)?;
    refuse(problems)?;
    let mut record = before.clone();
    let mut sent = Vec::new();
    for field in of.fields.iter().filter(|field| field.update != Need::No) {
        if let Some(value) = given.get(field.name.post) {
            sent.push(field.name.post);
            record.set(field.name.post, value.clone());
        }
    }
    let mut change = Change {
        verb: Verb::Update,
        record,
        before: Some(before),
        sent,
    };
    judge(desk, &mut change)?;
    if !change.is_any() {
        return Ok(change.record);
    }
    if change.record.level != RecordVisibility::Hidden {
        change.record.level = level(&change.record);
    }
    change.record.updated_at = desk.now();
    desk.keep(&change.record)?;
    settled(desk, &change)?;
    Ok(change.record)
}

/// Deletes a record, and hides what belongs to it.
pub fn delete(desk: &mut Desk<'_, '_>, of: &'static Resource, id: i64) -> Result<Record, Error> {
    let before = desk.need(of, id)?;
    let mut change = Change {
        verb: Verb::Delete,
        record: before.clone(),
        before: Some(before),
        sent: Vec::new(),
    };
    judge(desk, &mut change)?;
    change.record.deleted = true;
    change.record.level = RecordVisibility::Hidden;
    change.record.updated_at = desk.now();
    match of.delete {
        Delete::Soft => desk.keep(&change.record)?,
        Delete::Hard => records::delete(desk.tx, of.name, id)?,
    }
    hide_below(desk, of, id)?;
    settled(desk, &change)?;
    Ok(change.record)
}

/// What belongs to something deleted is listed with deleted records only, and says that it was not
/// deleted itself.
fn hide_below(desk: &mut Desk<'_, '_>, of: &'static Resource, id: i64) -> Result<(), Error> {
    let account = desk.account_id()?;
    for below in RESOURCES {
        let parents = below.fields.iter().filter(|field| match field.kind {
            Kind::Reference(to, true) => std::ptr::eq(to, of),
            _ => false,
        });
        for field in parents {
            let hidden =
                records::hide_by_field(desk.tx, below.name, account, (field.name.post, id))?;
            for id in hidden {
                hide_below(desk, below, id)?;
            }
        }
    }
    Ok(())
}

/// Where a record is shown that is not deleted.
fn level(record: &Record) -> RecordVisibility {
    let drafts = record.of.drafts && record.text("entity_status") == "DRAFT";
    if drafts {
        RecordVisibility::Draft
    } else {
        RecordVisibility::Listed
    }
}

/// Notes what happened and does what follows from it.
fn settled(desk: &mut Desk<'_, '_>, change: &Change) -> Result<(), Error> {
    history::note(desk, change)?;
    if let Some(after) = change.record.of.after {
        after(desk, change)?;
    }
    let Some(settles) = change.record.of.settles else {
        return Ok(());
    };
    // Of a batch it counts what all of it comes to.
    if desk.joins_batch(change) {
        return Ok(());
    }
    let wrong = settles(desk, std::slice::from_ref(change))?;
    refuse(wrong.into_iter().flatten().collect())
}

fn refuse(problems: Vec<AdsProblem>) -> Result<(), Error> {
    if problems.is_empty() {
        return Ok(());
    }
    Err(Refusal::from(problems).into())
}

/// Whether everything that was sent refers to something of this account that is there.
fn missing_references(
    desk: &mut Desk<'_, '_>,
    of: &'static Resource,
    given: &Given,
    problems: &mut Vec<AdsProblem>,
) -> Result<(), Error> {
    for field in of.fields {
        let Kind::Reference(to, _) = field.kind else {
            continue;
        };
        let Some(id) = given.int(field.name.post) else {
            continue;
        };
        let found = desk.find(to, id)?;
        if found.is_none_or(|found| found.deleted || found.level == RecordVisibility::Hidden) {
            let name = field.name.name_in(desk.caller.speech);
            problems.push(not_found(to, name, id));
        }
    }
    Ok(())
}

/// Whether a change keeps the rules; all that it breaks is told.
fn judge(desk: &mut Desk<'_, '_>, change: &mut Change) -> Result<(), Error> {
    if change.verb == Verb::Delete {
        return within(desk, change);
    }
    let mut problems = features::missing(desk, change)?;
    for rule in change.record.of.rules {
        match rule {
            Rule::Own(holds) => problems.extend(holds(change).err()),
            Rule::Beside(field, holds) => {
                if let Some(other) = beside(desk, change, field)? {
                    problems.extend(holds(change, &other).err());
                }
            }
            Rule::Within(_) => {}
        }
    }
    refuse(problems)?;
    within(desk, change)
}

/// Rules that look around come last: what they find is worth nothing if the rest is wrong.
fn within(desk: &mut Desk<'_, '_>, change: &mut Change) -> Result<(), Error> {
    let mut problems = Vec::new();
    for rule in change.record.of.rules {
        let Rule::Within(holds) = rule else {
            continue;
        };
        match holds(desk, change) {
            Ok(()) => {}
            Err(Error::Refused(Refusal::Ads(declined))) => problems.extend(declined.problems),
            Err(other) => return Err(other),
        }
    }
    refuse(problems)
}

fn beside(
    desk: &mut Desk<'_, '_>,
    change: &Change,
    name: &'static str,
) -> Result<Option<Record>, Error> {
    let field = change.record.of.field(name);
    match (field.map(|field| field.kind), change.record.int(name)) {
        (Some(Kind::Reference(to, _)), Some(id)) => desk.find(to, id),
        _ => Ok(None),
    }
}

/// Records as they are shown, with what is worked out of each.
pub fn show(desk: &mut Desk<'_, '_>, records: &[Record]) -> Result<Vec<String>, Error> {
    if let Some(shows) = records.first().and_then(|record| record.of.shows) {
        return shows(desk, records);
    }
    let speech = desk.caller.speech;
    let computed = match records.first().and_then(|record| record.of.computed) {
        Some(computed) => computed(desk, records)?,
        None => Vec::new(),
    };
    let nothing: Vec<(&'static str, Value)> = Vec::new();
    let all = records.iter().enumerate().map(|(place, record)| {
        let mut text = String::with_capacity(512);
        record.write(&mut text, speech, computed.get(place).unwrap_or(&nothing));
        text
    });
    Ok(all.collect())
}

/// One record as it is shown.
pub fn show_one(desk: &mut Desk<'_, '_>, record: &Record) -> Result<String, Error> {
    let shown = show(desk, std::slice::from_ref(record))?;
    Ok(shown.into_iter().next().unwrap_or_default())
}

/// Several as an array.
pub fn show_all(desk: &mut Desk<'_, '_>, records: &[Record]) -> Result<String, Error> {
    let shown = show(desk, records)?;
    let length: usize = shown.iter().map(|one| one.len() + 1).sum();
    let mut text = String::with_capacity(length + 2);
    text.push('[');
    for (place, one) in shown.iter().enumerate() {
        if place > 0 {
            text.push(',');
        }
        text.push_str(one);
    }
    text.push(']');
    Ok(text)
}
