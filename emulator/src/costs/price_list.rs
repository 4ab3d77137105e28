//! The public price list, as data.

use std::collections::HashMap;
use std::sync::LazyLock;

use base::Fault;
use serde::Deserialize;

static PRICE_DATA: &str = include_str!("prices.json");

static PRICES: LazyLock<Option<PriceList>> = LazyLock::new(|| PriceList::parse(PRICE_DATA).ok());

#[derive(Debug)]
pub struct PriceList {
    pub source: String,
    /// When the prices were read.
    pub date: String,
    by_operation: HashMap<String, Price>,
    owned_reads: HashMap<String, Price>,
}

#[derive(Clone, Debug)]
pub struct Price {
    /// As in the list: `Posts: Read`.
    pub name: String,
    /// Millionths of a US dollar.
    pub micros: u64,
    pub unit: PriceUnit,
    /// Of a post that contains a link.
    pub with_link_micros: Option<u64>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PriceUnit {
    Request,
    /// Charged once per resource and UTC day; the kind of resource.
    Resource(String),
}

#[derive(Deserialize)]
struct PriceFile {
    source: String,
    date: String,
    prices: Vec<PriceLine>,
    owned_reads: PriceLine,
}

#[derive(Deserialize)]
struct PriceLine {
    name: String,
    micros: u64,
    #[serde(default)]
    resource: Option<String>,
    #[serde(default)]
    with_link_micros: Option<u64>,
    operations: Vec<String>,
}

impl PriceList {
    /// None only if the compiled list were invalid, which a test excludes.
    pub fn published() -> Option<&'static Self> {
        PRICES.as_ref()
    }

    fn parse(text: &str) -> Result<Self, Fault> {
        let file: PriceFile = serde_json::from_str(text).map_err(Fault::context("the price list"))?;
        let mut by_operation = HashMap::new();
        for line in &file.prices {
            let unit = line.resource.clone().map_or(PriceUnit::Request, PriceUnit::Resource);
            let price =
                Price { name: line.name.clone(), micros: line.micros, unit, with_link_micros: line.with_link_micros };
            for operation in &line.operations {
                by_operation.insert(operation.clone(), price.clone());
            }
        }
        let owned = &file.owned_reads;
        let owned_reads = owned.operations.iter().filter_map(|operation| {
            let full: &Price = by_operation.get(operation)?;
            let price = Price { name: owned.name.clone(), micros: owned.micros, ..full.clone() };
            Some((operation.clone(), price))
        });
        let owned_reads = owned_reads.collect();
        Ok(Self { source: file.source, date: file.date, by_operation, owned_reads })
    }

    /// None if it is free or has no published price.
    pub fn find(&self, operation: &str, is_owned: bool) -> Option<&Price> {
        let owned = if is_owned { self.owned_reads.get(operation) } else { None };
        owned.or_else(|| self.by_operation.get(operation))
    }

    pub fn operations(&self) -> impl Iterator<Item = &str> {
        self.by_operation.keys().map(String::as_str)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn published_list_is_valid_and_prices_each_operation_once() {
        let list = PriceList::parse(PRICE_DATA).unwrap();
        assert_eq!(list.find("getPostsById", false).unwrap().micros, 5_000);
        assert_eq!(list.find("getUsersPosts", true).unwrap().micros, 1_000);
        assert_eq!(list.find("getUsersPosts", true).unwrap().unit, PriceUnit::Resource("post".to_owned()));
        assert!(list.find("getUsage", false).is_none());
        let file: PriceFile = serde_json::from_str(PRICE_DATA).unwrap();
        let listed: usize = file.prices.iter().map(|line| line.operations.len()).sum();
        assert_eq!(listed, list.operations().count(), "an operation has two prices");
        assert_eq!(list.owned_reads.len(), file.owned_reads.operations.len());
    }
}
