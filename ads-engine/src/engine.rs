//! The generic operations on every resource.

use std::collections::BTreeMap;

use base::refusal::AdsProblem;
use base::{Error, Fault, Refusal};
use schema::{FieldRequirement, IdFormat};
use store::Tx;
use store::records::{self, RecordVisibility};

use crate::account_context::{AccountContext, record_not_found};
use crate::declaration::{DeleteMode, FieldSpec, Resource, ResourceVerb, ValidationRule};
use crate::parsed_params::ParsedParams;
use crate::record::AdsRecord;
use crate::record_change::RecordChange;
use crate::record_view::RecordView;
use crate::{feature_gates, history};

/// Returns one record, deleted or not.
pub fn get(
    ctx: &mut AccountContext<'_, '_>,
    resource: &'static Resource,
    params: &ParsedParams,
) -> Result<AdsRecord, Error> {
    ensure_valid_params(params)?;
    let id = path_record_id(resource, params)?;
    if params.flag("with_deleted") {
        let found = ctx.find_record(resource, id)?;
        return found.ok_or_else(|| ctx.not_found_problem(resource, id).into());
    }
    ctx.require_record(resource, id)
}

pub fn path_record_id(resource: &Resource, params: &ParsedParams) -> Result<i64, Error> {
    if let Some(id) = params.int(resource.id.post) {
        return Ok(id);
    }
    ensure_valid_params(params)?;
    Err(AdsProblem::missing_parameter(resource.id.post).into())
}

pub fn ensure_valid_params(params: &ParsedParams) -> Result<(), Error> {
    if params.problems.is_empty() {
        return Ok(());
    }
    Err(Refusal::from(params.problems.clone()).into())
}

pub fn create(
    ctx: &mut AccountContext<'_, '_>,
    resource: &'static Resource,
    params: &ParsedParams,
) -> Result<AdsRecord, Error> {
    let mut problems = params.problems.clone();
    check_references(ctx, resource, params, &mut problems)?;
    refuse_problems(problems)?;
    let mut record = AdsRecord::new(resource, 0, ctx.account_id()?, ctx.now());
    let mut sent = Vec::new();
    for field in resource.fields {
        let name = field.name.post;
        match params.get(name) {
            Some(value) => {
                sent.push(name);
                record.set(name, value.clone());
            }
            None => record.set(name, field.default_value.to_value(field.kind)),
        }
    }
    let mut change = RecordChange { verb: ResourceVerb::Create, record, before: None, sent_fields: sent };
    validate_change(ctx, &mut change)?;
    if let Some(find_duplicate) = resource.find_duplicate
        && let Some(found) = find_duplicate(ctx, &change.record)?
    {
        return restore_deleted(ctx, found);
    }
    insert(ctx, change)
}

fn insert(ctx: &mut AccountContext<'_, '_>, mut change: RecordChange) -> Result<AdsRecord, Error> {
    let resource = change.record.resource;
    let sequence = if resource.sequence.is_empty() { resource.name } else { resource.sequence };
    change.record.id = match resource.id_format {
        _ if resource.has_random_ids => random_id(ctx.tx)?,
        IdFormat::Long => ctx.tx.next_id::<()>().get(),
        IdFormat::Short | IdFormat::Twelve => {
            records::next_id(ctx.tx, sequence)?.saturating_add(resource.id_format.number_offset())
        }
    };
    change.record.level = visibility_level(&change.record);
    if !change.record.insert(ctx.tx)? {
        return Err(Fault::new(format!("{} {} already exists", resource.name, change.record.id)).into());
    }
    apply_change_effects(ctx, &change)?;
    Ok(change.record)
}

/// Above all ids from sequences and below 2⁵¹, where collisions are improbable.
fn random_id(tx: &Tx<'_>) -> Result<i64, Fault> {
    const LEAST: i64 = 1 << 50;
    let bits = i64::from_be_bytes(tx.rng().random_bytes()?);
    Ok(LEAST | bits & (LEAST - 1))
}

/// Returns the duplicate, restored if it was deleted.
fn restore_deleted(ctx: &mut AccountContext<'_, '_>, found: AdsRecord) -> Result<AdsRecord, Error> {
    if !found.deleted {
        return Ok(found);
    }
    let mut record = found.clone();
    record.deleted = false;
    record.level = visibility_level(&record);
    record.updated_at = ctx.now();
    let change = RecordChange { verb: ResourceVerb::Create, record, before: Some(found), sent_fields: Vec::new() };
    ctx.save_record(&change.record)?;
    apply_change_effects(ctx, &change)?;
    Ok(change.record)
}

/// Updates the fields that were sent.
pub fn update(
    ctx: &mut AccountContext<'_, '_>,
    resource: &'static Resource,
    id: i64,
    params: &ParsedParams,
) -> Result<AdsRecord, Error> {
    let before = ctx.require_record(resource, id)?;
    let mut problems = params.problems.clone();
    check_references(ctx, resource, params, &mut problems)?;
    refuse_problems(problems)?;
    let mut record = before.clone();
    let mut sent = Vec::new();
    for field in resource.fields.iter().filter(|field| field.update != FieldRequirement::Ignored) {
        let value = params.get(field.name.post).filter(|value| !(field.keeps_value && value.is_null()));
        if let Some(value) = value {
            sent.push(field.name.post);
            record.set(field.name.post, value.clone());
        }
    }
    let mut change = RecordChange { verb: ResourceVerb::Update, record, before: Some(before), sent_fields: sent };
    validate_change(ctx, &mut change)?;
    if !change.has_any_change() {
        return Ok(change.record);
    }
    if change.record.level != RecordVisibility::Hidden {
        change.record.level = visibility_level(&change.record);
    }
    change.record.updated_at = ctx.now();
    ctx.save_record(&change.record)?;
    apply_change_effects(ctx, &change)?;
    Ok(change.record)
}

/// Deletes a record and hides its children.
pub fn delete(ctx: &mut AccountContext<'_, '_>, resource: &'static Resource, id: i64) -> Result<AdsRecord, Error> {
    let before = ctx.require_record(resource, id)?;
    let mut change = RecordChange {
        verb: ResourceVerb::Delete,
        record: before.clone(),
        before: Some(before),
        sent_fields: Vec::new(),
    };
    validate_change(ctx, &mut change)?;
    change.record.deleted = true;
    change.record.level = RecordVisibility::Hidden;
    change.record.updated_at = ctx.now();
    match resource.delete_mode {
        DeleteMode::Soft => ctx.save_record(&change.record)?,
        DeleteMode::Hard => records::delete(ctx.tx, resource.name, id)?,
    }
    hide_children(ctx, resource, &[id])?;
    apply_change_effects(ctx, &change)?;
    Ok(change.record)
}

/// Children of deleted records are listed with deleted records only, but are not marked as deleted
/// themselves.
fn hide_children(ctx: &mut AccountContext<'_, '_>, resource: &'static Resource, ids: &[i64]) -> Result<(), Error> {
    let account = ctx.account_id()?;
    for below in ctx.account()?.record.resource.account_resources {
        let is_parent =
            |field: &&FieldSpec| field.is_parent && field.target().is_some_and(|to| std::ptr::eq(to, resource));
        let parents = below.fields.iter().filter(is_parent);
        for field in parents {
            let hidden = records::hide_by_field(ctx.tx, below.name, account, field.name.post, ids)?;
            if !hidden.is_empty() {
                hide_children(ctx, below, &hidden)?;
            }
        }
    }
    Ok(())
}

fn visibility_level(record: &AdsRecord) -> RecordVisibility {
    let drafts = record.resource.has_drafts && record.text("entity_status") == "DRAFT";
    if drafts { RecordVisibility::Draft } else { RecordVisibility::Listed }
}

/// Records history and runs the resource's hook after a change.
fn apply_change_effects(ctx: &mut AccountContext<'_, '_>, change: &RecordChange) -> Result<(), Error> {
    history::record_history(ctx, change)?;
    if let Some(after) = change.record.resource.after_change {
        after(ctx, change)?;
    }
    let Some(settles) = change.record.resource.validate_batch else {
        return Ok(());
    };
    // A batch evaluates its effects once, at its end.
    if ctx.add_to_batch(change) {
        return Ok(());
    }
    let wrong = settles(ctx, std::slice::from_ref(change))?;
    refuse_problems(wrong.into_iter().flatten().collect())
}

fn refuse_problems(problems: Vec<AdsProblem>) -> Result<(), Error> {
    if problems.is_empty() {
        return Ok(());
    }
    Err(Refusal::from(problems).into())
}

/// Requires every reference that was sent to exist in this account.
fn check_references(
    ctx: &mut AccountContext<'_, '_>,
    resource: &'static Resource,
    params: &ParsedParams,
    problems: &mut Vec<AdsProblem>,
) -> Result<(), Error> {
    for field in resource.fields {
        let (Some(to), Some(id)) = (field.target(), params.int(field.name.post)) else {
            continue;
        };
        let found = ctx.find_record(to, id)?;
        if found.is_none_or(|found| found.deleted || found.level == RecordVisibility::Hidden) {
            let name = field.name.name_in(ctx.caller.vocabulary);
            problems.push(record_not_found(to, name, id));
        }
    }
    Ok(())
}

/// Applies the rules of the resource; collects every violation.
fn validate_change(ctx: &mut AccountContext<'_, '_>, change: &mut RecordChange) -> Result<(), Error> {
    if change.verb == ResourceVerb::Delete {
        return apply_context_rules(ctx, change);
    }
    let mut problems = feature_gates::check_gates(ctx, change)?;
    // Rules about the same field follow each other.
    let mut referenced = ("", None);
    for rule in change.record.resource.rules {
        match rule {
            ValidationRule::OnRecord(holds) => problems.extend(holds(change).err()),
            ValidationRule::OnReference(field, holds) => {
                if referenced.0 != *field {
                    referenced = (*field, find_referenced_record(ctx, change, field)?);
                }
                if let Some(other) = &referenced.1 {
                    problems.extend(holds(change, other).err());
                }
            }
            ValidationRule::InContext(_) => {}
        }
    }
    refuse_problems(problems)?;
    apply_context_rules(ctx, change)
}

/// Rules that query the store run last, only once all others pass.
fn apply_context_rules(ctx: &mut AccountContext<'_, '_>, change: &mut RecordChange) -> Result<(), Error> {
    let mut problems = Vec::new();
    for rule in change.record.resource.rules {
        let ValidationRule::InContext(holds) = rule else {
            continue;
        };
        match holds(ctx, change) {
            Ok(()) => {}
            Err(Error::Refused(Refusal::Ads(declined))) => problems.extend(declined.problems),
            Err(other) => return Err(other),
        }
    }
    refuse_problems(problems)
}

fn find_referenced_record(
    ctx: &mut AccountContext<'_, '_>,
    change: &RecordChange,
    name: &'static str,
) -> Result<Option<AdsRecord>, Error> {
    let field = change.record.resource.field(name);
    match (field.and_then(FieldSpec::target), change.record.int(name)) {
        (Some(to), Some(id)) => ctx.find_record(to, id),
        _ => Ok(None),
    }
}

/// Adds the computed fields, which each resource computes for all of its records at once.
pub fn view_records(ctx: &mut AccountContext<'_, '_>, records: Vec<AdsRecord>) -> Result<Vec<RecordView>, Error> {
    let mut by_resource: BTreeMap<&str, Vec<(usize, AdsRecord)>> = BTreeMap::new();
    for (position, record) in records.into_iter().enumerate() {
        by_resource.entry(record.resource.name).or_default().push((position, record));
    }
    let mut views = Vec::new();
    for group in by_resource.into_values() {
        let (positions, records): (Vec<usize>, Vec<AdsRecord>) = group.into_iter().unzip();
        let computed = match records.first().and_then(|record| record.resource.compute_fields) {
            Some(compute) => compute(ctx, &records)?,
            None => Vec::new(),
        };
        let computed = computed.into_iter().chain(std::iter::repeat_with(Vec::new));
        let group = records.into_iter().zip(computed).map(|(record, computed)| RecordView { record, computed });
        views.extend(positions.into_iter().zip(group));
    }
    views.sort_unstable_by_key(|(position, _)| *position);
    Ok(views.into_iter().map(|(_, view)| view).collect())
}

pub fn view_record(ctx: &mut AccountContext<'_, '_>, record: AdsRecord) -> Result<RecordView, Error> {
    let computed = match record.resource.compute_fields {
        Some(compute) => compute(ctx, std::slice::from_ref(&record))?.pop(),
        None => None,
    };
    Ok(RecordView { record, computed: computed.unwrap_or_default() })
}
