//! Content and business categories (contract ads §9.2, §9.3), and placements.

use ads_engine::engine::ensure_valid_params;
use ads_engine::{
    AccountContext, AdsRateClass, CustomOperation, FieldRequirement, FieldSpec, Kind, OperationOutput, ParsedParams,
    ReferenceList, RequiredRole,
};
use base::Error;
use serde_json::{Value, json};

use crate::resources::line_items::objectives::{PLACEMENT_RULES, PRODUCTS};
use crate::resources::publishers;

const IAB_TSV: &str = include_str!("../../data/iab_categories.tsv");
const BUSINESS_TSV: &str = include_str!("../../data/business_categories.tsv");
const CONTENT_TSV: &str = include_str!("../../data/content_categories.tsv");

pub static REFERENCES: &[ReferenceList] = &[
    ReferenceList {
        id: "getAdsBusinessCategories",
        path: "/advertiser_business_categories",
        summary: "Business categories of advertisers.",
        rows: business_category_rows,
        ..ReferenceList::DEFAULT
    },
    ReferenceList {
        id: "getAdsIabCategories",
        path: "/iab_categories",
        summary: "Categories of content of the industry's own taxonomy.",
        rows: iab_category_rows,
        page_size: Some((200, 1000)),
        ..ReferenceList::DEFAULT
    },
];

pub static OPERATIONS: &[CustomOperation] = &[
    CustomOperation::get("getAdsPlacements", "/line_items/placements", list_placements)
        .summary("Placements that line items may have.")
        .requires_role(RequiredRole::Anyone)
        .rate_limited(AdsRateClass::Low)
        .params(&[FieldSpec::new("product_type", Kind::word(PRODUCTS)).update(FieldRequirement::Ignored)]),
    CustomOperation::get("getAdsContentCategories", "/content_categories", list_content_categories)
        .summary("Categories of content.")
        .requires_role(RequiredRole::Anyone)
        .rate_limited(AdsRateClass::Low),
];

fn list_placements(ctx: &mut AccountContext<'_, '_>, params: &ParsedParams) -> Result<OperationOutput, Error> {
    ensure_valid_params(params)?;
    let asked = params.text("product_type");
    let vocabulary = ctx.caller.vocabulary;
    let products = PRODUCTS.iter().filter(|product| asked.is_none_or(|asked| asked == product.post));
    let rows: Vec<Value> = products
        .map(|product| {
            let rules = PLACEMENT_RULES.iter().filter(|rule| rule.product == product.post);
            let mut sets: Vec<&[&str]> = Vec::new();
            for set in rules.flat_map(|rule| rule.placements) {
                if !sets.contains(set) {
                    sets.push(set);
                }
            }
            json!({ "product_type": product.name_in(vocabulary), "placements": sets })
        })
        .collect();
    Ok(OperationOutput::from_value(rows.into()))
}

fn list_content_categories(ctx: &mut AccountContext<'_, '_>, params: &ParsedParams) -> Result<OperationOutput, Error> {
    ensure_valid_params(params)?;
    let counts = publishers::count_by_category(ctx)?;
    let rows: Vec<Value> = parse_lines(CONTENT_TSV)
        .map(|(id, name, categories)| {
            let (publishers, videos) = counts.get(id).copied().unwrap_or((0, 0));
            json!({
                "id": id,
                "name": name,
                "iab_categories": categories,
                "publishers_in_last_thirty_days": publishers,
                "videos_monetized_in_last_thirty_days": videos,
            })
        })
        .collect();
    let count = rows.len();
    Ok(OperationOutput::from_value(rows.into()).as_last_page().with_total_count(count))
}

fn parse_lines(text: &'static str) -> impl Iterator<Item = (&'static str, &'static str, Vec<&'static str>)> {
    text.lines().filter_map(|line| {
        let mut cells = line.split('\t');
        let (id, name) = (cells.next()?, cells.next()?);
        let categories = cells.next().unwrap_or_default().split(',').collect();
        Some((id, name, categories))
    })
}

fn business_category_rows() -> Vec<Value> {
    let rows = parse_lines(BUSINESS_TSV);
    rows.map(|(id, name, categories)| json!({ "id": id, "name": name, "iab_categories": categories })).collect()
}

fn iab_category_rows() -> Vec<Value> {
    let row = |(id, name, _): (&'static str, &'static str, Vec<&'static str>)| {
        let parent = id.split_once('-').map(|(parent, _)| parent);
        json!({ "id": id, "parent_id": parent, "name": name })
    };
    parse_lines(IAB_TSV).map(row).collect()
}

pub fn iab_names() -> impl Iterator<Item = (&'static str, &'static str)> {
    parse_lines(IAB_TSV).map(|(id, name, _)| (id, name))
}

/// Completes the business categories of a pre-roll line item: each category stands for its whole set, for at
/// most two sets; `None` if that is not possible.
pub fn expand_business_categories(engagement_types: &[&str]) -> Option<Vec<&'static str>> {
    let touched: Vec<Vec<&'static str>> = parse_lines(BUSINESS_TSV)
        .map(|(_, _, categories)| categories)
        .filter(|categories| categories.iter().any(|one| engagement_types.contains(one)))
        .collect();
    let all: Vec<&'static str> = touched.iter().flatten().copied().collect();
    let known = engagement_types.iter().all(|one| all.contains(one));
    (known && (1..=2).contains(&touched.len())).then_some(all)
}

/// The categories that are given without the rest of their content category.
pub fn incomplete_content_categories<'a>(product: &[&'a str]) -> Vec<&'a str> {
    let whole: Vec<&'static str> = parse_lines(CONTENT_TSV)
        .map(|(_, _, categories)| categories)
        .filter(|categories| categories.iter().all(|one| product.contains(one)))
        .flatten()
        .collect();
    let mut astray = product.to_vec();
    astray.retain(|one| !whole.contains(one));
    astray
}

/// The IAB categories in a content category.
pub fn content_iab_categories(id: &str) -> Option<Vec<&'static str>> {
    let mut all = parse_lines(CONTENT_TSV);
    all.find(|(known, _, _)| *known == id).map(|(_, _, categories)| categories)
}

pub fn is_content_category(id: &str) -> bool {
    parse_lines(CONTENT_TSV).any(|(known, _, _)| known == id)
}

pub fn is_iab_category(id: &str) -> bool {
    parse_lines(IAB_TSV).any(|(known, _, _)| known == id)
}
