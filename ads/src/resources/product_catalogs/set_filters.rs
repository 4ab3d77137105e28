//! The filters of product sets: all of them must match.

use ads_engine::{AdsRecord, JsonShape};
use base::refusal::AdsProblem;
use serde_json::{Value, json};

use super::price::Price;
use super::product_fields::{INVENTORY, PRICE, SALE_PRICE};

const MAX_FILTERS: usize = 30;
const MAX_VALUE_LENGTH: usize = 750;
const ATTRIBUTES: &[&str] = &[
    PRICE,
    "product_type",
    "google_product_category",
    SALE_PRICE,
    INVENTORY,
    "custom_label_0",
    "custom_label_1",
    "custom_label_2",
    "custom_label_3",
    "custom_label_4",
];

base::named_enum! {
    pub(super) enum FilterOperator {
        GreaterThan = "GREATER_THAN",
        EqualTo = "EQUAL_TO",
        LessThan = "LESS_THAN",
        Match = "MATCH",
        Contains = "CONTAINS",
        NotContains = "NOT_CONTAINS",
    }
}

/// What an attribute is compared with.
#[derive(Clone, Debug)]
enum FilterValue {
    Price(Price),
    Number(i64),
    /// In lower case.
    Text(String),
}

#[derive(Clone, Debug)]
pub(super) struct SetFilter {
    attribute: &'static str,
    operator: FilterOperator,
    value: FilterValue,
}

pub(super) static FILTERS_SHAPE: JsonShape = JsonShape::new(parse_filters).with_schema(|| {
    let filter = json!({
        "type": "object",
        "properties": {
            "attribute": { "type": "string", "enum": ATTRIBUTES },
            "operator": {
                "type": "string",
                "enum": ["GREATER_THAN", "EQUAL_TO", "LESS_THAN", "MATCH", "CONTAINS", "NOT_CONTAINS"],
            },
            "value": { "type": "string" },
        },
        "required": ["attribute", "operator", "value"],
    });
    json!({ "type": "array", "items": filter, "minItems": 1, "maxItems": MAX_FILTERS })
});

/// Keeps what was sent, so that it is answered as it was.
fn parse_filters(value: &Value) -> Result<Value, AdsProblem> {
    let items = value.as_array().filter(|items| (1..=MAX_FILTERS).contains(&items.len()));
    let items = items.ok_or_else(|| invalid_filter(value, &format!("Expected 1 to {MAX_FILTERS} filters")))?;
    items.iter().try_for_each(|item| SetFilter::parse(item).map(drop).map_err(|why| invalid_filter(item, &why)))?;
    let stored = |item: &Value| json!({ "attribute": item["attribute"], "operator": item["operator"], "value": text_of(&item["value"]) });
    Ok(items.iter().map(stored).collect())
}

fn invalid_filter(item: &Value, message: &str) -> AdsProblem {
    let shown: String = item.to_string().chars().take(100).collect();
    AdsProblem::invalid_parameter("filters", shown, format!("{message} for filters"))
}

fn text_of(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

impl SetFilter {
    /// The filters of a set; all are valid.
    pub(super) fn list(stored: &[Value]) -> Vec<Self> {
        stored.iter().filter_map(|item| Self::parse(item).ok()).collect()
    }

    /// The error says what was expected.
    fn parse(item: &Value) -> Result<Self, String> {
        let text = |name: &str| item.get(name).and_then(text_of).unwrap_or_default();
        let (attribute, operator, value) = (text("attribute"), text("operator"), text("value"));
        let attribute = ATTRIBUTES.iter().find(|known| **known == attribute);
        let attribute = *attribute.ok_or_else(|| format!("Expected an attribute of {}", ATTRIBUTES.join(", ")))?;
        let operator = FilterOperator::parse(&operator).ok_or("Expected an operator such as EQUAL_TO")?;
        if value.is_empty() || value.chars().count() > MAX_VALUE_LENGTH {
            return Err(format!("Expected a value of 1 to {MAX_VALUE_LENGTH} characters"));
        }
        let compares =
            matches!(operator, FilterOperator::GreaterThan | FilterOperator::EqualTo | FilterOperator::LessThan);
        let value = match attribute {
            PRICE | SALE_PRICE => FilterValue::Price(Price::parse(&value).ok_or("Expected a price such as 20.00 USD")?),
            INVENTORY => FilterValue::Number(value.trim().parse().map_err(|_| "Expected a number of products")?),
            _ => FilterValue::Text(value.to_lowercase()),
        };
        let compares_text = matches!(value, FilterValue::Text(_));
        let is_ordered = matches!(operator, FilterOperator::GreaterThan | FilterOperator::LessThan);
        if compares_text && is_ordered || !compares_text && !compares {
            return Err(format!("{attribute} cannot be compared by {}", operator.name()));
        }
        Ok(Self { attribute, operator, value })
    }

    /// A product without the attribute contains nothing. Amounts in another currency do not match.
    pub(super) fn matches(&self, product: &AdsRecord) -> bool {
        let order = match &self.value {
            FilterValue::Text(wanted) => {
                let text = product.text(self.attribute).to_lowercase();
                return match self.operator {
                    FilterOperator::Contains => text.contains(wanted.as_str()),
                    FilterOperator::NotContains => !text.contains(wanted.as_str()),
                    _ => text == *wanted,
                };
            }
            FilterValue::Number(wanted) => product.int(self.attribute).map(|number| number.cmp(wanted)),
            FilterValue::Price(wanted) => Price::parse(product.text(self.attribute))
                .filter(|price| price.currency == wanted.currency)
                .map(|price| price.amount.cmp(&wanted.amount)),
        };
        order.is_some_and(|order| match self.operator {
            FilterOperator::GreaterThan => order.is_gt(),
            FilterOperator::LessThan => order.is_lt(),
            _ => order.is_eq(),
        })
    }
}
