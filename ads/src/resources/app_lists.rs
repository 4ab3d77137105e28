//! Lists of apps by their identifiers in the app stores.

use ads_engine::listing;
use ads_engine::{
    AccountContext, AdsRecord, COUNT, CURSOR, CustomOperation, FieldSpec, Kind, ListFilter, OperationData,
    OperationOutput, ParsedParams, RequiredRole, Resource, ResourceVerb, SORT_BY, WITH_DELETED, WITH_TOTAL_COUNT,
};
use base::{Error, VocabularyWord};
use serde_json::{Value, json};

pub static APP_LIST: Resource = Resource {
    name: "app_list",
    id: VocabularyWord::same_in_both("app_list_id"),
    path: "app_lists",
    label: "app list",
    fields: &[
        FieldSpec::text("name", 1, 255).required(),
        FieldSpec::new("app_store_identifiers", Kind::text(1, 255).list(1, MAX_APPS)).required().hidden(),
    ],
    filters: &[ListFilter::ids("app_list_ids", "id", &APP_LIST)],
    verbs: &[ResourceVerb::Get, ResourceVerb::Create, ResourceVerb::Delete],
    compute_fields: Some(|_, lists| Ok(lists.iter().map(|list| vec![("apps", apps_json(list))]).collect())),
    ..Resource::DEFAULT
};

const MAX_APPS: usize = 1000;

/// Lists omit the apps (contract ads §4.16).
pub static OPERATIONS: &[CustomOperation] = &[CustomOperation::get("getAdsAppLists", "app_lists", list_app_lists)
    .summary("A page of app lists, without their apps.")
    .requires_role(RequiredRole::CampaignReader)
    .params(&[
        FieldSpec::new("app_list_ids", Kind::custom(&APP_LIST).list(1, 200)),
        COUNT,
        CURSOR,
        SORT_BY,
        WITH_DELETED,
        WITH_TOTAL_COUNT,
    ])];

fn list_app_lists(ctx: &mut AccountContext<'_, '_>, params: &ParsedParams) -> Result<OperationOutput, Error> {
    let mut output = listing::list(ctx, &APP_LIST, params)?;
    if let OperationData::Records(lists) = &mut output.data {
        for list in lists {
            list.computed.retain(|(name, _)| *name != "apps");
        }
    }
    Ok(output)
}

fn apps_json(list: &AdsRecord) -> Value {
    list.texts("app_store_identifiers").into_iter().map(app_json).collect()
}

/// The identifiers of one store are numbers, and those of the other package names.
fn app_json(identifier: &str) -> Value {
    let number = identifier.bytes().all(|byte| byte.is_ascii_digit());
    json!({ "app_store_identifier": identifier, "os_type": if number { "iOS" } else { "Android" } })
}
