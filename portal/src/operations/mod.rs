//! Declarations of the pages.

mod developer;
mod site;

use web::endpoint::Endpoint;

pub use developer::DEVELOPMENT;

pub static ENDPOINTS: &[&[Endpoint]] = &[developer::PORTAL, developer::MANAGER, site::PAGES];
