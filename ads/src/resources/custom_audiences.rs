//! Custom audiences: people known to an advertiser, matched with users by hashed identifiers.

use crate::audience_schedule;
use ads_engine::account_context::{record_not_found, unknown_record};
use ads_engine::engine::{self, ensure_valid_params};
use ads_engine::{
    AccountContext, AdsRecord, AdsRole, COUNT, CURSOR, CustomOperation, FieldRequirement, FieldSpec, JsonShape, Kind,
    ListFilter, OperationOutput, ParsedParams, RecordChange, RequiredRole, Resource, ResourceVerb, SORT_BY,
    ValidationRule, WITH_DELETED, WITH_TOTAL_COUNT, listing, parse_record_id,
};
use base::refusal::AdsProblem;
use base::{Error, VocabularyWord};
use serde_json::{Value, json};
use store::ads::audiences;
use store::records;

use crate::resources::accounts::ACCOUNT;
use crate::resources::audience_permissions;
use crate::resources::audience_targeting as targeted;
use crate::resources::audience_users;
use crate::segments;

/// The size is computed once nothing has been written for a while.
pub static CUSTOM_AUDIENCE: Resource = Resource {
    name: "custom_audience",
    id: VocabularyWord::same_in_both("custom_audience_id"),
    path: "custom_audiences",
    label: "custom audience",
    legacy_path: "tailored_audiences",
    id_format: segments::AUDIENCE_ID_FORMAT,
    has_random_ids: true,
    not_found: "TAILORED_AUDIENCE_NOT_FOUND",
    fields: &[
        FieldSpec::text("name", 1, 255).label("Name").required(),
        FieldSpec::text("description", 1, 1000).label("Description").help("Optional. Only visible to your team."),
        // Only batches send this; an audience created singly is a list of members.
        FieldSpec::one_of("audience_type", TYPES).required().immutable().default_word("CRM"),
        FieldSpec::new("segments", Kind::custom(&JsonShape::new(segments::parse_segments))).immutable().hidden(),
        FieldSpec::new("audience_size", Kind::int(0, i64::MAX)).set_by_server(),
        FieldSpec::new("targetable", Kind::BOOL).set_by_server().default_flag(false),
        FieldSpec::text("partner_source", 1, 255).set_by_server().default_word("OTHER"),
        FieldSpec::new("created_by", Kind::ID).set_by_server().hidden(),
        FieldSpec::new("processed", Kind::BOOL).set_by_server().hidden().default_flag(false),
        // When the size is computed next.
        FieldSpec::new("due_at", Kind::TIME).set_by_server().hidden(),
    ],
    filters: &[
        ListFilter::ids("custom_audience_ids", "id", &CUSTOM_AUDIENCE),
        ListFilter::new("created_by", "created_by", Kind::ID),
    ],
    max_name_prefix: 255,
    verbs: &[],
    max_batch_items: 10,
    batch_verbs: &[ResourceVerb::Create],
    read_role: RequiredRole::AudienceReader,
    write_role: RequiredRole::AudienceWriter,
    rules: &[
        ValidationRule::OnRecord(validate_audience_type),
        ValidationRule::InContext(validate_unique_name),
        ValidationRule::InContext(validate_segments),
    ],
    compute_fields: Some(computed_fields),
    after_change: Some(sync_parts_and_matching),
    ..Resource::DEFAULT
};

/// The types, and the alias clients use for one of them on create.
const TYPES: &[&str] = &["CRM", "WEB", "MOBILE", "FLEXIBLE", "MOBILE_AUDIENCE"];

const ID: FieldSpec =
    FieldSpec::reference("custom_audience_id", &CUSTOM_AUDIENCE).required().update(FieldRequirement::Required);

pub static OPERATIONS: &[CustomOperation] = &[
    CustomOperation::get("getAdsAudiences", "custom_audiences", list_audiences)
        .summary("Custom audiences of an account, or those that others let it use.")
        .requires_role(RequiredRole::AudienceReader)
        .aliases(&["tailored_audiences"])
        .params(&[
            FieldSpec::one_of("permission_scope", &["OWNER", "SHARED"]).default_word("OWNER"),
            FieldSpec::new("custom_audience_ids", Kind::custom(&CUSTOM_AUDIENCE).list(1, 200))
                .alias(&["tailored_audience_ids"]),
            COUNT,
            CURSOR,
            SORT_BY,
            FieldSpec::text("q", 1, 255),
            WITH_DELETED,
            WITH_TOTAL_COUNT,
        ]),
    CustomOperation::get("getAdsAudience", "custom_audiences/{custom_audience_id}", get_audience)
        .summary("A custom audience of the account, or one that it may use.")
        .requires_role(RequiredRole::AudienceReader)
        .aliases(&["tailored_audiences/{custom_audience_id}"])
        .params(&[ID, WITH_DELETED]),
    CustomOperation::post("createAdsAudience", "custom_audiences", create_audience)
        .summary("Creates a custom audience without members.")
        .requires_role(RequiredRole::AudienceWriter)
        .aliases(&["tailored_audiences"])
        .params(&[FieldSpec::text("name", 1, 255).required(), FieldSpec::text("description", 1, 1000)]),
    CustomOperation::put("updateAdsAudience", "custom_audiences/{custom_audience_id}", update_audience)
        .summary("Changes a custom audience's name or description.")
        .requires_role(RequiredRole::AudienceWriter)
        .aliases(&["tailored_audiences/{custom_audience_id}"])
        .params(&[
            ID,
            FieldSpec::text("name", 1, 255).required().update(FieldRequirement::Optional),
            FieldSpec::text("description", 1, 1000),
        ]),
    CustomOperation::delete("deleteAdsAudience", "custom_audiences/{custom_audience_id}", delete_audience)
        .summary("Deletes a custom audience: it comes to nobody any more.")
        .requires_role(RequiredRole::AudienceWriter)
        .aliases(&["tailored_audiences/{custom_audience_id}"])
        .params(&[ID]),
    CustomOperation::get(
        "getAdsAudienceTargeted",
        "custom_audiences/{custom_audience_id}/targeted",
        targeted::list_targeting_line_items,
    )
    .summary("Line items that target a custom audience, by campaign.")
    .requires_role(RequiredRole::CampaignReader)
    .aliases(&["tailored_audiences/{custom_audience_id}/targeted"])
    .params(&[ID, FieldSpec::new("with_active", Kind::BOOL).default_flag(true), CURSOR]),
    CustomOperation::post(
        "changeAdsAudienceUsers",
        "custom_audiences/{custom_audience_id}/users",
        audience_users::change_members,
    )
    .summary("Adds and removes members of a custom audience: all of them or none.")
    .requires_role(RequiredRole::AudienceWriter)
    .aliases(&["tailored_audiences/{custom_audience_id}/users"])
    .params(&[ID])
    .takes_json()
    .rate_limited(ads_engine::AdsRateClass::AccountPerMinute(1500))
    .body_limit(audience_users::MAX_BODY_BYTES),
];

/// The type of audiences built from other audiences.
pub const FLEXIBLE: &str = "FLEXIBLE";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AudienceAccess {
    Own,
    Write,
    Read,
}

/// Finds an audience available to the account, and what the account may do with it.
pub fn find(
    ctx: &mut AccountContext<'_, '_>,
    id: i64,
    with_deleted: bool,
) -> Result<Option<(AdsRecord, AudienceAccess)>, Error> {
    let Some(record) = AdsRecord::find(ctx.tx, &CUSTOM_AUDIENCE, id)? else {
        return Ok(None);
    };
    if record.account_id != ctx.account_id()? {
        if record.deleted {
            return Ok(None);
        }
        let permission = audience_permissions::find_granted_permission(ctx, id)?;
        let hold = permission.map(|one| match one.text("permission_level") {
            "READ_WRITE" => AudienceAccess::Write,
            _ => AudienceAccess::Read,
        });
        let hold = hold.filter(|_| !is_partner(ctx));
        return Ok(hold.map(|hold| (record, hold)));
    }
    let known = with_deleted || !record.deleted;
    let own = !is_partner(ctx) || record.int("created_by") == Some(ctx.caller.user.get());
    Ok((known && own).then_some((record, AudienceAccess::Own)))
}

/// Partner audience managers see only the audiences they created.
fn is_partner(ctx: &AccountContext<'_, '_>) -> bool {
    let account = ctx.account();
    account.is_ok_and(|account| account.role == AdsRole::PartnerAudienceManager)
}

pub fn require_audience(
    ctx: &mut AccountContext<'_, '_>,
    params: &ParsedParams,
) -> Result<(AdsRecord, AudienceAccess), Error> {
    ensure_valid_params(params)?;
    let id = params.int("custom_audience_id").unwrap_or(-1);
    let found = find(ctx, id, params.flag("with_deleted"))?;
    let missing = || record_not_found(&CUSTOM_AUDIENCE, CUSTOM_AUDIENCE.id.post, id);
    found.ok_or_else(|| missing().into())
}

/// Like [`require_audience`], but the account must own it.
pub fn require_own_audience(ctx: &mut AccountContext<'_, '_>, params: &ParsedParams) -> Result<AdsRecord, Error> {
    let (record, hold) = require_audience(ctx, params)?;
    if hold == AudienceAccess::Own {
        return Ok(record);
    }
    Err(action_not_allowed("Only its owner may do this with an audience"))
}

/// Requires an audience that the account owns or may use, and that is large enough to target.
pub fn require_targetable(ctx: &mut AccountContext<'_, '_>, value: &str) -> Result<AdsRecord, Error> {
    let id = parse_record_id(CUSTOM_AUDIENCE.id_format, "targeting_value", value)?;
    let Some((audience, _)) = find(ctx, id, false)? else {
        return Err(unknown_record(&CUSTOM_AUDIENCE, "targeting_value", value).into());
    };
    if audience.flag("targetable") && may_use_parts(ctx, &audience)? {
        return Ok(audience);
    }
    let message = format!("The audience {value} cannot be targeted (yet)");
    Err(AdsProblem::invalid_attribute("targeting_value", message).into())
}

/// Whether the account still has access to the audiences of others that a flexible one is made of.
fn may_use_parts(ctx: &mut AccountContext<'_, '_>, audience: &AdsRecord) -> Result<bool, Error> {
    if audience.text("audience_type") != FLEXIBLE {
        return Ok(true);
    }
    let segments = audience.get("segments").cloned().unwrap_or_default();
    for id in segments::audience_ids(&segments) {
        if find(ctx, id, true)?.is_none() {
            return Ok(false);
        }
    }
    Ok(true)
}

pub fn action_not_allowed(message: &str) -> Error {
    AdsProblem::new("ACTION_NOT_ALLOWED", message).into()
}

fn list_audiences(ctx: &mut AccountContext<'_, '_>, params: &ParsedParams) -> Result<OperationOutput, Error> {
    ensure_valid_params(params)?;
    if params.text("permission_scope") == Some("SHARED") {
        let mut shared = audience_permissions::list_shared_audiences(ctx)?;
        if is_partner(ctx) {
            shared.clear();
        }
        if params.has("custom_audience_ids") {
            let ids = params.ints("custom_audience_ids");
            shared.retain(|record| ids.contains(&record.id));
        }
        return listing::list_in_memory(ctx, &CUSTOM_AUDIENCE, params, shared);
    }
    let mut params = params.clone();
    if is_partner(ctx) {
        params.insert("created_by", ctx.caller.user.get().into());
    }
    listing::list(ctx, &CUSTOM_AUDIENCE, &params)
}

fn get_audience(ctx: &mut AccountContext<'_, '_>, params: &ParsedParams) -> Result<OperationOutput, Error> {
    let (record, _) = require_audience(ctx, params)?;
    OperationOutput::from_record(ctx, record)
}

fn create_audience(ctx: &mut AccountContext<'_, '_>, params: &ParsedParams) -> Result<OperationOutput, Error> {
    let record = engine::create(ctx, &CUSTOM_AUDIENCE, params)?;
    OperationOutput::from_record(ctx, record)
}

fn update_audience(ctx: &mut AccountContext<'_, '_>, params: &ParsedParams) -> Result<OperationOutput, Error> {
    let audience = require_own_audience(ctx, params)?;
    if audience.text("audience_type") == FLEXIBLE {
        return Err(action_not_allowed("An audience that is made of others cannot be changed"));
    }
    let record = engine::update(ctx, &CUSTOM_AUDIENCE, audience.id, params)?;
    OperationOutput::from_record(ctx, record)
}

fn delete_audience(ctx: &mut AccountContext<'_, '_>, params: &ParsedParams) -> Result<OperationOutput, Error> {
    let id = require_own_audience(ctx, params)?.id;
    let record = engine::delete(ctx, &CUSTOM_AUDIENCE, id)?;
    OperationOutput::from_record(ctx, record)
}

/// Flexible audiences are created in batches only.
fn validate_audience_type(change: &RecordChange) -> Result<(), AdsProblem> {
    if !change.is_new() || !change.was_sent("audience_type") {
        return Ok(());
    }
    let segments = change.record.get("segments");
    match (change.record.text("audience_type"), segments) {
        ("FLEXIBLE", None) => Err(AdsProblem::missing_parameter("segments")),
        ("FLEXIBLE", Some(segments)) if segments::is_bounded(segments) => Ok(()),
        ("FLEXIBLE", Some(_)) => {
            let message = "The segments say only who is not in the audience";
            Err(AdsProblem::invalid_attribute("segments", message))
        }
        ("MOBILE" | "MOBILE_AUDIENCE", _) => {
            let message = "An app event tag with retargeting creates such an audience";
            Err(AdsProblem::new("FEATURE_NOT_AVAILABLE", message))
        }
        (other, _) => {
            let message = format!("Expected FLEXIBLE, got \"{other}\" for audience_type");
            Err(AdsProblem::invalid_parameter("audience_type", other, message))
        }
    }
}

/// Segments must use lists of members that the account owns or may use.
fn validate_segments(ctx: &mut AccountContext<'_, '_>, change: &mut RecordChange) -> Result<(), Error> {
    if !change.is_new() || change.record.text("audience_type") != FLEXIBLE {
        return Ok(());
    }
    let segments = change.record.get("segments").cloned().unwrap_or_default();
    let name = CUSTOM_AUDIENCE.id.post;
    for id in segments::audience_ids(&segments) {
        let Some((part, _)) = find(ctx, id, false)? else {
            return Err(record_not_found(&CUSTOM_AUDIENCE, name, id).into());
        };
        if part.text("audience_type") == FLEXIBLE {
            let id = part.formatted_id();
            let message = format!("The audience {id} is made of others itself");
            return Err(AdsProblem::invalid_attribute(name, message).into());
        }
    }
    change.record.set("due_at", ctx.now().ms());
    Ok(())
}

fn validate_unique_name(ctx: &mut AccountContext<'_, '_>, change: &mut RecordChange) -> Result<(), Error> {
    if change.is_new() {
        change.record.set("created_by", ctx.caller.user.get());
    }
    if change.verb == ResourceVerb::Delete || !change.changes_field("name") {
        return Ok(());
    }
    let name = change.record.text("name").to_owned();
    let (account, key) = (ctx.account_id()?, change.record.name_key());
    for row in records::list_by_name(ctx.tx, CUSTOM_AUDIENCE.name, account, &key)? {
        let other = AdsRecord::from_stored(&CUSTOM_AUDIENCE, row)?;
        if other.id != change.record.id && other.text("name") == name {
            let message = format!("There is an audience with the name \"{name}\" already");
            return Err(AdsProblem::invalid_attribute("name", message).into());
        }
    }
    Ok(())
}

fn sync_parts_and_matching(ctx: &mut AccountContext<'_, '_>, change: &RecordChange) -> Result<(), Error> {
    if change.verb == ResourceVerb::Create
        && let Some(segments) = change.record.get("segments")
    {
        let parts = segments::audience_ids(segments);
        audiences::set_component_audiences(ctx.tx, change.record.id, &parts)?;
    }
    if change.verb != ResourceVerb::Delete {
        return Ok(());
    }
    for whole in audiences::list_containing_audiences(ctx.tx, change.record.id)? {
        audience_schedule::mark_audience_changed(ctx.tx, whole)?;
    }
    audiences::delete(ctx.tx, change.record.id)?;
    targeted::refresh_targeting_line_items(ctx.tx, change.record.id)
}

fn computed_fields(
    ctx: &mut AccountContext<'_, '_>,
    records: &[AdsRecord],
) -> Result<Vec<Vec<(&'static str, Value)>>, Error> {
    let account = ctx.account_id()?;
    let mut all = Vec::with_capacity(records.len());
    for record in records {
        let own = record.account_id == account;
        let level = if own {
            "READ_WRITE".to_owned()
        } else {
            let permission = audience_permissions::find_granted_permission(ctx, record.id)?;
            permission.map_or_else(|| "READ_ONLY".to_owned(), |one| one.text("permission_level").to_owned())
        };
        let kind = record.text("audience_type");
        let mut members = vec![
            ("targetable_types", json!([kind, format!("EXCLUDED_{kind}")])),
            reasons_not_targetable(record),
            ("permission_level", level.into()),
            ("owner_account_id", ACCOUNT.id_format.format(record.account_id).into()),
            ("is_owner", own.into()),
        ];
        if let Some(segments) = record.get("segments") {
            members.push(("metadata", json!([{ "segments": segments }])));
        }
        all.push(members);
    }
    Ok(all)
}

/// Why an audience cannot be targeted (yet).
pub fn reasons_not_targetable(record: &AdsRecord) -> (&'static str, Value) {
    let reasons: &[&str] = match (record.flag("processed"), record.flag("targetable")) {
        (false, _) => &["PROCESSING", "TOO_SMALL"],
        (true, false) => &["TOO_SMALL"],
        (true, true) => &[],
    };
    ("reasons_not_targetable", json!(reasons))
}
