//! Draft posts: composed for an account and not published.

use ads_engine::engine::ensure_valid_params;
use ads_engine::{
    AccountContext, AdsRecord, CustomOperation, DeleteMode, FieldSpec, IdFormat, Kind, ListFilter, OperationOutput,
    ParsedParams, RequiredRole, Resource, ResourceVerb, ValidationRule,
};
use base::refusal::AdsProblem;
use base::time::DAY_MS;
use base::{Error, UserId, VocabularyWord};
use serde_json::Value;

use crate::post_preview::SignedPreview;
use crate::resources::compositions::{
    self, LIST_PARAMS, card_field, media_keys_field, name_field, nullcast_field, require_write_access, text_field,
    validate_composition,
};

pub static DRAFT_POST: Resource = Resource {
    name: "draft_post",
    id: VocabularyWord::new("draft_post_id", "draft_tweet_id"),
    id_format: IdFormat::Long,
    path: "draft_<posts>",
    label: "draft post",
    fields: &[
        name_field(),
        text_field(),
        FieldSpec::new("user_id", Kind::ID).set_by_server(),
        FieldSpec::new("as_user_id", Kind::LONG).immutable().hidden(),
        nullcast_field(),
        card_field(),
        media_keys_field(),
    ],
    filters: &[ListFilter::new("user_id", "user_id", Kind::ID)],
    page_size: (100, 200),
    supports_list_extras: false,
    verbs: &[ResourceVerb::Get, ResourceVerb::Create, ResourceVerb::Update, ResourceVerb::Delete],
    read_role: RequiredRole::CreativeReader,
    write_role: RequiredRole::PostWriter,
    rules: &[ValidationRule::InContext(validate_composition)],
    delete_mode: DeleteMode::Hard,
    shows_deleted: false,
    compute_fields: Some(computed_fields),
    ..Resource::DEFAULT
};

/// A deletion is reported once.
#[expect(clippy::unnecessary_wraps, reason = "the signature of computed fields")]
fn computed_fields(
    _: &mut AccountContext<'_, '_>,
    drafts: &[AdsRecord],
) -> Result<Vec<Vec<(&'static str, Value)>>, Error> {
    let fields = |draft: &AdsRecord| {
        let status = draft.deleted.then(|| ("status", "DELETED".into()));
        status.into_iter().collect()
    };
    Ok(drafts.iter().map(fields).collect())
}

pub static OPERATIONS: &[CustomOperation] = &[
    CustomOperation::get("getAdsDraftPosts", "draft_<posts>", |ctx: &mut AccountContext<'_, '_>, params| {
        compositions::list(ctx, &DRAFT_POST, params)
    })
    .summary("A page of draft posts of a user.")
    .requires_role(RequiredRole::CreativeReader)
    .params(LIST_PARAMS),
    CustomOperation::post("previewAdsDraftPost", "draft_<posts>/preview/{draft_post_id}", send_preview_notification)
        .summary("Sends the caller a notification with a link to a preview of the draft.")
        .requires_role(RequiredRole::PostWriter)
        .params(&[FieldSpec::new("draft_post_id", Kind::custom(&DRAFT_POST)).legacy_name("draft_tweet_id").required()]),
];

/// Notifies the caller of the preview URL.
fn send_preview_notification(
    ctx: &mut AccountContext<'_, '_>,
    params: &ParsedParams,
) -> Result<OperationOutput, Error> {
    ensure_valid_params(params)?;
    let draft = ctx.require_record(&DRAFT_POST, params.int("draft_post_id").unwrap_or(-1))?;
    require_write_access(ctx, UserId::new(draft.int("user_id").unwrap_or(0)))?;
    let account = ctx.account()?.record.text("name").to_owned();
    let caller = ctx.caller.user;
    let caller = store::users::find_by_id(ctx.tx, caller)?.ok_or_else(|| {
        let message = "The caller no longer exists";
        Error::from(AdsProblem::new("USER_NOT_FOUND", message))
    })?;
    let path = SignedPreview::new(ctx, "DRAFT", draft.id, DAY_MS)?.signed_path(&ctx.cursor_key);
    let text = format!("A draft post of the advertising account {account} is ready for preview.");
    network::notifications::notify_user(ctx.tx, caller.id, &text, &path)?;
    let message = format!("See @{}'s notifications to preview your draft post.", caller.username);
    Ok(OperationOutput { data_member: "message", ..OperationOutput::from_value(message.into()) })
}
