//! What people see and do in a browser: signing in, their settings, and answering apps.

mod access;
mod browser;
mod headers;
mod oauth1;
mod oauth2;
mod sign_in;
