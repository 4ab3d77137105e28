//! What people see and do in a browser: signing in, their settings, and answering apps.

mod access;
pub(crate) mod browser;
mod email_consent;
mod forms;
mod guessing;
mod headers;
mod hostile;
mod landing;
mod oauth1;
mod oauth2;
mod posts;
mod scan;
mod secrets;
mod sign_in;
