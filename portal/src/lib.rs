//! Pages for people: accounts and consent, the developer portal and the Ads Manager. The HTML is in the crate `pages`.

mod developer;
mod manager;
mod operations;
mod site;

pub use operations::{DEVELOPMENT, ENDPOINTS};
