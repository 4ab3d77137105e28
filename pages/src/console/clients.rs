//! How client libraries connect to the server, and which have done so.

use crate::PageFrame;
use crate::page::{HtmlPage, html_page};
use askama::Template;
use base::Time;

pub struct ClientGuide {
    /// For links and labels.
    pub id: &'static str,
    pub language: &'static str,
    pub library: &'static str,
    /// The command that installs it; empty if the language contains it.
    pub install: &'static str,
    /// Name of the file.
    pub file: &'static str,
    pub program: String,
    pub run: &'static str,
    /// What else to know; may be empty.
    pub note: &'static str,
    pub seen: Option<SeenClientItem>,
}

pub struct SeenClientItem {
    /// What the server took it for.
    pub family: &'static str,
    pub first: Time,
    pub last: Time,
    pub requests: u64,
    pub successes: u64,
    /// Kinds of credentials, for example "OAuth 1.0a".
    pub credentials: String,
}

#[derive(Template)]
#[template(path = "console/clients.html")]
pub struct ClientsPage {
    pub frame: PageFrame,
    /// Name and value, such as `LOCUM_BASE_URL`.
    pub addresses: Vec<(String, String)>,
    /// Name and value of the credentials, masked unless `is_revealed`.
    pub credentials: Vec<(String, String)>,
    pub is_revealed: bool,
    /// Whether the server notes which clients send requests.
    pub is_recording: bool,
    pub path: &'static str,
    /// Path of the certificate authority, if hosts are emulated.
    pub certificate: Option<&'static str>,
    pub emulated_hosts: Vec<String>,
    pub guides: Vec<ClientGuide>,
    /// Clients without a guide.
    pub others: Vec<SeenClientItem>,
}

impl ClientsPage {
    const SECTION: &'static str = "Connect";
}

html_page!(ClientsPage, |_| "Connect your client".to_owned());
