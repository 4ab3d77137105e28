//! Recommendations: possible improvements of an account's advertising, as changes to make.

use ads_engine::engine::{ensure_valid_params, view_record};
use ads_engine::{
    AccountContext, AdsRecord, CustomOperation, FieldSpec, IdFormat, JsonShape, Kind, OperationData, OperationOutput,
    ParsedParams, RequiredRole, Resource,
};
use base::{Error, Vocabulary, VocabularyWord};
use serde_json::Value;
use store::records;

use crate::resources::accounts::{self, ACCOUNT};
use crate::resources::funding_instruments::FUNDING_INSTRUMENT;
use crate::resources::servability::accept_any_shape;

/// At most one per funding instrument is open.
pub static RECOMMENDATION: Resource = Resource {
    name: "recommendation",
    id: VocabularyWord::same_in_both("recommendation_id"),
    id_format: IdFormat::Twelve,
    path: "recommendations",
    label: "recommendation",
    fields: &[
        FieldSpec::reference("funding_instrument_id", &FUNDING_INSTRUMENT).set_by_server(),
        FieldSpec::one_of("status", &["PENDING", "APPLIED", "EXPIRED", "DISMISSED"]).set_by_server(),
        FieldSpec::text("message", 1, 255).set_by_server(),
        FieldSpec::text("subject", 1, 64).set_by_server().hidden(),
        FieldSpec::new("changes", Kind::custom(&JsonShape::new(accept_any_shape))).set_by_server().hidden(),
        // Dismissed by an operator.
        FieldSpec::new("refused", Kind::BOOL).set_by_server().hidden().default_flag(false),
    ],
    verbs: &[],
    shows_deleted: false,
    compute_fields: Some(|_, records| Ok(records.iter().map(account_field).collect())),
    ..Resource::DEFAULT
};

const ID: FieldSpec = FieldSpec::reference("recommendation_id", &RECOMMENDATION).required();
const RECOMMENDATION_PATH: &str = "recommendations/{recommendation_id}";

/// Available in both API versions.
pub static OPERATIONS: &[CustomOperation] = &[
    CustomOperation::get("getAdsRecommendations", "recommendations", list_recommendations)
        .summary("Recommendations for an account that are open: at most one for each funding instrument.")
        .version("5")
        .requires_role(RequiredRole::CampaignReader),
    CustomOperation::get("getAdsRecommendation", RECOMMENDATION_PATH, get_recommendation)
        .summary("A recommendation, as a tree of changes.")
        .version("5")
        .requires_role(RequiredRole::CampaignReader)
        .params(&[ID]),
    CustomOperation::get("getAdsRecommendationsOfTwelve", "recommendations", list_recommendations)
        .summary("The same as in version 5.")
        .requires_role(RequiredRole::CampaignReader),
    CustomOperation::get("getAdsRecommendationOfTwelve", RECOMMENDATION_PATH, get_recommendation)
        .summary("The same as in version 5.")
        .requires_role(RequiredRole::CampaignReader)
        .params(&[ID]),
];

fn list_recommendations(ctx: &mut AccountContext<'_, '_>, params: &ParsedParams) -> Result<OperationOutput, Error> {
    ensure_valid_params(params)?;
    accounts::require_opt_in_feature(ctx, "RECOMMENDATIONS")?;
    let account = ctx.account_id()?;
    let mut open = Vec::new();
    for row in records::list_by_account(ctx.tx, FUNDING_INSTRUMENT.name, account)? {
        let existing = ctx.list_visible_records(&RECOMMENDATION, "funding_instrument_id", row.id)?;
        open.extend(existing.into_iter().filter(|one| one.text("status") == "PENDING"));
    }
    let count = open.len();
    let output = OperationOutput::from_records(ctx, open)?.as_last_page();
    Ok(output.with_total_count(count))
}

fn get_recommendation(ctx: &mut AccountContext<'_, '_>, params: &ParsedParams) -> Result<OperationOutput, Error> {
    ensure_valid_params(params)?;
    accounts::require_opt_in_feature(ctx, "RECOMMENDATIONS")?;
    let id = params.int("recommendation_id").unwrap_or(-1);
    let record = ctx.require_record(&RECOMMENDATION, id)?;
    let changes = record.get("changes").cloned().unwrap_or_default();
    let mut view = view_record(ctx, record)?;
    view.computed.push(("changes", render_changes(changes, ctx.caller.vocabulary)));
    let mut output = OperationOutput { data: OperationData::Record(Box::new(view)), ..OperationOutput::default() };
    output.data_type = "recommendations";
    Ok(output)
}

fn render_changes(changes: Value, vocabulary: Vocabulary) -> Value {
    if vocabulary == Vocabulary::Post {
        return changes;
    }
    let mut text = changes.to_string();
    for (post, tweet) in [
        ("\"promoted_posts\"", "\"promoted_tweets\""),
        ("\"promoted_post_id\":", "\"promoted_tweet_id\":"),
        ("\"post_ids\":", "\"tweet_ids\":"),
    ] {
        text = text.replace(post, tweet);
    }
    serde_json::from_str(&text).unwrap_or(changes)
}

fn account_field(record: &AdsRecord) -> Vec<(&'static str, Value)> {
    let written = ACCOUNT.id_format.format(record.account_id);
    vec![("account_id", written.into())]
}
