//! The fields of products, and what they must be like.

use ads_engine::field_kind::parse_time;
use ads_engine::{AdsRecord, CustomKind, FieldRequirement, FieldSpec, IdFormat, Kind, Resource, ViolationKind};
use base::VocabularyWord;
use serde_json::{Map, Value};

use super::price::{Price, PriceText};
use crate::resources::hash_key;

pub(super) static PRODUCT: Resource = Resource {
    name: "catalog_product",
    id: VocabularyWord::same_in_both("product_key"),
    label: "product",
    id_format: IdFormat::Long,
    fields: &[
        needed(FieldSpec::text(MERCHANT_ID, 1, 100)),
        needed(FieldSpec::text("title", 1, 150)),
        needed(FieldSpec::text("description", 1, 5000)),
        needed(FieldSpec::one_of(
            "availability",
            &["in stock", "available for order", "preorder", "out of stock", "discontinued"],
        )),
        needed(FieldSpec::one_of("condition", &["new", "used", "refurbished"])),
        needed(FieldSpec::new(PRICE, Kind::custom(&PriceText))),
        needed(FieldSpec::url("link")),
        needed(FieldSpec::url("image_link")),
        FieldSpec::text("brand", 1, 100),
        FieldSpec::text("gtin", 1, 70),
        FieldSpec::text("mpn", 1, 100),
        FieldSpec::url("mobile_link"),
        FieldSpec::new(MORE_IMAGES, Kind::URL.list(1, 10)),
        FieldSpec::text("google_product_category", 1, 750),
        FieldSpec::text("product_type", 1, 750),
        FieldSpec::new(INVENTORY, Kind::int(0, 1_000_000_000)),
        FieldSpec::new(SALE_PRICE, Kind::custom(&PriceText)),
        FieldSpec::new("sale_price_effective_date", Kind::custom(&SalePeriod)),
        FieldSpec::text(GROUP_ID, 1, 100),
        FieldSpec::one_of("gender", &["female", "male", "unisex"]),
        FieldSpec::text("color", 1, 100),
        FieldSpec::text("size", 1, 100),
        FieldSpec::one_of("age_group", &["adult", "all ages", "teen", "kids", "toddler", "infant", "newborn"]),
        FieldSpec::text("custom_label_0", 1, 100),
        FieldSpec::text("custom_label_1", 1, 100),
        FieldSpec::text("custom_label_2", 1, 100),
        FieldSpec::text("custom_label_3", 1, 100),
        FieldSpec::text("custom_label_4", 1, 100),
    ],
    verbs: &[],
    ..Resource::DEFAULT
};

/// The id that the merchant uses.
pub(super) const MERCHANT_ID: &str = "id";
pub(super) const PRICE: &str = "price";
pub(super) const SALE_PRICE: &str = "sale_price";
pub(super) const INVENTORY: &str = "inventory";
const MORE_IMAGES: &str = "additional_image_link";
const GROUP_ID: &str = "item_group_id";

/// Also when the product is known already.
const fn needed(field: FieldSpec) -> FieldSpec {
    field.required().update(FieldRequirement::Required)
}

/// A start and an end in ISO 8601, stored as it was sent.
#[derive(Debug)]
struct SalePeriod;

impl CustomKind for SalePeriod {
    fn read_text(&self, text: &str) -> Result<Value, ViolationKind> {
        let times =
            text.split_once('/').and_then(|(from, to)| Some((parse_time(from.trim())?, parse_time(to.trim())?)));
        times.filter(|(from, to)| from < to).map(|_| text.into()).ok_or(ViolationKind::Malformed)
    }

    fn describe_expected(&self, _limit: Option<usize>) -> String {
        "two times in ISO 8601, separated by a slash".to_owned()
    }
}

/// Feeds of other networks join the words of some values with underscores.
pub(super) fn normalize_words(members: &mut Map<String, Value>) {
    for name in ["availability", "age_group"] {
        if let Some(Value::String(text)) = members.get_mut(name) {
            *text = text.replace('_', " ");
        }
    }
}

/// What is wrong with a product whose fields are valid on their own.
pub(super) fn find_problems(product: &AdsRecord) -> Vec<String> {
    let mut problems = Vec::new();
    let mut require = |holds: bool, message: &str| {
        if !holds {
            problems.push(message.to_owned());
        }
    };
    for name in ["link", "mobile_link"] {
        let url = product.text(name);
        require(url.is_empty() || url.starts_with("https://"), &format!("{name} must begin with https://"));
    }
    let is_identified = ["brand", "gtin", "mpn"].iter().any(|name| product.has_value(name));
    require(is_identified, "One of brand, gtin and mpn is required");
    let is_empty = product.text("availability") == "in stock" && product.int(INVENTORY) == Some(0);
    require(!is_empty, "inventory must be at least 1 if availability is in stock");
    if let (Some(price), Some(sale)) = (Price::parse(product.text(PRICE)), Price::parse(product.text(SALE_PRICE))) {
        let is_lower = sale.currency == price.currency && sale.amount < price.amount;
        require(is_lower, "sale_price must be lower than price, in the same currency");
    }
    problems
}

/// The key that the server gives to a group of variants; it stays as long as the merchant's id of the group does.
pub(super) fn group_key(catalog: i64, product: &AdsRecord) -> Option<i64> {
    let group = product.text(GROUP_ID);
    (!group.is_empty()).then(|| hash_key(&[&catalog.to_string(), group]))
}

/// As the API shows a product.
pub(super) fn render_product(product: &AdsRecord, group_key: Option<i64>) -> Value {
    let mut members: Map<String, Value> = product
        .resource
        .fields
        .iter()
        .map(|field| {
            let value = product.get(field.name.post).cloned().unwrap_or_default();
            (field.name.post.to_owned(), value)
        })
        .collect();
    let images = product.texts(MORE_IMAGES).join(",");
    let images = if images.is_empty() { Value::Null } else { images.into() };
    members.insert(MORE_IMAGES.to_owned(), images);
    members.insert("product_key".to_owned(), product.id.to_string().into());
    members.insert("item_group_key".to_owned(), group_key.map(|key| key.to_string()).into());
    members.into()
}
