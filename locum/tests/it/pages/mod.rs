//! What people see and do in a browser: signing in, their settings, and answering apps.

mod access;
pub(crate) mod browser;
mod headers;
mod landing;
mod oauth1;
mod oauth2;
mod sign_in;
