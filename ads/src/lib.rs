//! The resources of the Ads API, and the stored records and built-in data behind their rules.

pub mod account_roles;
pub mod audience_members;
pub mod audience_schedule;
pub mod budget;
pub mod gazetteer;
pub mod option_catalog;
pub mod post_preview;
pub mod product_feeds;
pub mod publishing;
pub mod resources;
pub mod segments;
pub mod targeting_values;
