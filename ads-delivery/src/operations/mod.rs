//! All operations of the Ads API, and those that evaluate audiences.

mod app_conversions;
mod auction_insights;
mod audience_estimates;
mod audience_insights;
mod keyword_insights;
mod targeting_options;
mod targeting_suggestions;
mod web_conversions;

use std::sync::LazyLock;

use ads::resources::accounts::ACCOUNT;
use ads::resources::{CUSTOM_OPERATIONS, INDEXES, REFERENCES, RESOURCES};
use ads_engine::operations::derive_operations;
use ads_engine::{AdsOperation, CustomOperation};
use store::records::RecordIndex;

static AUDIENCE_OPERATIONS: &[&[CustomOperation]] = &[
    crate::analytics::OPERATIONS,
    auction_insights::OPERATIONS,
    audience_estimates::OPERATIONS,
    audience_insights::OPERATIONS,
    keyword_insights::OPERATIONS,
    targeting_options::OPERATIONS,
    targeting_suggestions::OPERATIONS,
    app_conversions::OPERATIONS,
    web_conversions::OPERATIONS,
];

pub fn all_operations() -> &'static [AdsOperation] {
    static ALL: LazyLock<Vec<AdsOperation>> = LazyLock::new(|| {
        let custom = CUSTOM_OPERATIONS.iter().chain(AUDIENCE_OPERATIONS).copied().flatten();
        derive_operations(&ACCOUNT, RESOURCES, custom, REFERENCES.iter().copied().flatten())
    });
    &ALL
}

/// The store indexes required by the declarations.
pub fn record_indexes() -> Vec<RecordIndex> {
    let mut all = ads_engine::dispatch::record_indexes(RESOURCES);
    all.extend(INDEXES.iter().cloned());
    all
}

/// Finds an operation by its path below the account, or from the version on if it begins with a slash.
pub fn find_operation(method: &str, path: &str) -> Option<&'static AdsOperation> {
    let path = match path {
        "" => "/12/accounts/{}".to_owned(),
        path if path.starts_with('/') => path.to_owned(),
        path => format!("/12/accounts/{{}}/{path}"),
    };
    let mut all = all_operations().iter();
    all.find(|one| one.method == method && matches_path(one.path, &path))
}

/// Whether a path matches; `{}` in the pattern matches any parameter.
fn matches_path(path: &str, shape: &str) -> bool {
    let (mut parts, mut shapes) = (path.split('/'), shape.split('/'));
    loop {
        match (parts.next(), shapes.next()) {
            (None, None) => return true,
            (Some(part), Some(shape)) => {
                let id = shape == "{}" && part.starts_with('{');
                if part != shape && !id {
                    return false;
                }
            }
            _ => return false,
        }
    }
}
