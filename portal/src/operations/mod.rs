//! Declarations of the pages.

mod developer;
mod site;

use web::endpoint::Endpoint;

pub use developer::{DEVELOPMENT, portal_page};
pub use site::{form_endpoint, page_endpoint};

pub static ENDPOINTS: &[&[Endpoint]] = &[developer::PORTAL, developer::MANAGER, site::PAGES];
