//! Form fields made from the declarations of resources: the label, the help and the kind of input.

use ads::resources::conversation_cards::{IMAGE_CONVERSATION_CARD, VIDEO_CONVERSATION_CARD};
use ads_engine::{DefaultValue, FieldRequirement, FieldSpec, RecordView, Resource, ValueKind};
use base::{Error, Fault};
use pages::manager::FormInputKind;
use store::Tx;

use super::choices::{self, MediaFilter};
use super::forms::FormFieldSpec;
use super::labels::{format_amount, word_label};
use super::request::ManagerAccount;

/// The fields with these names, in their order, with the values of the record that the form changes.
pub(super) fn declared_fields(
    tx: &mut Tx<'_>,
    ctx: &ManagerAccount,
    resource: &Resource,
    now: Option<&RecordView>,
    names: &[&str],
) -> Result<Vec<FormFieldSpec>, Error> {
    names.iter().map(|name| declared_field(tx, ctx, resource, now, name)).collect()
}

fn declared_field(
    tx: &mut Tx<'_>,
    ctx: &ManagerAccount,
    resource: &Resource,
    now: Option<&RecordView>,
    name: &str,
) -> Result<FormFieldSpec, Error> {
    let field = resource.field(name);
    let field = field.ok_or_else(|| Fault::new(format!("{} has no field {name}", resource.name)))?;
    // Forms use the current name of fields that were renamed.
    let alias = field.aliases.first().filter(|_| field.name.post.ends_with("_tweet"));
    let name = alias.copied().unwrap_or(field.name.post);
    let initial = now.map(|now| initial_text(ctx, now, field)).unwrap_or_default();
    let kind = match record_choices(tx, ctx, resource, field)? {
        Some(options) => FormInputKind::Choice(options),
        None => input_kind(field, now),
    };
    let label = match kind {
        FormInputKind::Timestamp => format!("{} ({})", field.label, ctx.record.text("timezone")),
        _ => field.label.to_owned(),
    };
    let mut field_spec = FormFieldSpec::new(name, &label, kind).help(field.help).initial_value(initial.as_str());
    field_spec = field_spec.declared(field.kind.value).error_aliases(std::slice::from_ref(&field.name.post));
    if let Some(text) = none_label(field, &initial) {
        field_spec = field_spec.allow_none(text);
    }
    Ok(if field.is_advanced { field_spec.mark_advanced() } else { field_spec })
}

fn initial_text(ctx: &ManagerAccount, now: &RecordView, field: &FieldSpec) -> String {
    let name = field.name.post;
    match (field.kind.value, now.int(name)) {
        _ if field.kind.is_list() => now.texts(name).join(","),
        (ValueKind::Money, micros) => micros.map(format_amount).unwrap_or_default(),
        (ValueKind::Time, _) => now.time(name).map(|at| ctx.zone.format_local(at)).unwrap_or_default(),
        (ValueKind::Bool, _) => now.flag(name).to_string(),
        (ValueKind::Int(..), number) => number.map(|number| number.to_string()).unwrap_or_default(),
        _ => now.rendered_text(name),
    }
}

/// The values and labels of a field that refers to a record or file by name.
fn record_choices(
    tx: &mut Tx<'_>,
    ctx: &ManagerAccount,
    resource: &Resource,
    field: &FieldSpec,
) -> Result<Option<Vec<(String, String)>>, Error> {
    let media = match field.name.post {
        "funding_instrument_id" => return choices::funding_instruments(tx, ctx).map(Some),
        "account_media_id" => return choices::account_media(tx, ctx).map(Some),
        "curated_category_id" => return choices::curated_categories(tx).map(Some),
        "scheduled_post_id" => return choices::scheduled_posts(tx, ctx).map(Some),
        "card_uri" => return choices::cards(tx, ctx).map(Some),
        "poster_media_key" => MediaFilter::Images,
        "media_key" if resource.name == VIDEO_CONVERSATION_CARD.name => MediaFilter::Videos,
        "media_key" if resource.name == IMAGE_CONVERSATION_CARD.name => MediaFilter::Images,
        "media_key" => MediaFilter::All,
        _ => return Ok(None),
    };
    choices::media(tx, ctx, media).map(Some)
}

fn input_kind(field: &FieldSpec, now: Option<&RecordView>) -> FormInputKind {
    let words = |words: &mut dyn Iterator<Item = &'static str>| {
        FormInputKind::Choice(words.map(|word| (word.to_owned(), word_label(word))).collect())
    };
    let may_be_draft = now.is_none_or(|now| now.text("entity_status") == "DRAFT");
    match (field.kind.value, field.name.post) {
        (ValueKind::OneOf(all), _) if !field.kind.is_list() => {
            words(&mut all.iter().copied().filter(|word| may_be_draft || *word != "DRAFT"))
        }
        (ValueKind::Word(all), _) => words(&mut all.iter().map(|word| word.post)),
        (ValueKind::Money, _) => FormInputKind::Amount,
        (ValueKind::Time, _) => FormInputKind::Timestamp,
        (_, "text" | "description") => FormInputKind::Area,
        (_, name) if name.ends_with("_tweet") => FormInputKind::Area,
        _ => FormInputKind::Text,
    }
}

/// The label of the option for no value, if the field has one.
fn none_label(field: &FieldSpec, initial: &str) -> Option<&'static str> {
    let is_optional = field.create == FieldRequirement::Optional && matches!(field.default_value, DefaultValue::Empty);
    match field.name.post {
        "poster_media_key" => Some("Frame from the video"),
        "card_uri" => Some("None"),
        "funding_instrument_id" => None,
        _ if !initial.is_empty() => None,
        "media_key" if is_optional => Some("None"),
        "account_media_id" | "curated_category_id" | "scheduled_post_id" | "media_key" => Some("Choose one"),
        _ if is_optional && matches!(field.kind.value, ValueKind::OneOf(_)) && !field.kind.is_list() => {
            Some("Default for the objective")
        }
        _ => None,
    }
}
