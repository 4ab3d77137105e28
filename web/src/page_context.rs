//! What all pages share.

use std::sync::Arc;

use base::{Error, Fault, Time};
use futures_util::future::BoxFuture;
use identity::account_archives::ArchiveDownloads;
use identity::passwords::PasswordPool;
use identity::sessions::VisitorFormTokens;
use identity::sign_in::SignInService;
use network::emails::EmailSite;
use pages::{PageFrame, RULES_PATH, ZonedTime};
use store::Store;
use tokio::sync::OnceCell;

pub use pages::SITE_LINKS;

use crate::ServerConfig;
use crate::access_log::RequestId;

/// Where people go after signing in, unless another path was requested.
pub const DEFAULT_PATH: &str = pages::members::HOME_PATH;

/// Path and title of each text of the site's owners, and the settings that it shows.
const SITE_TEXTS: [(&str, &str, &[&str]); 4] = [
    ("/about", "About", &["about", "contact"]),
    (RULES_PATH, "Rules", &["rules"]),
    ("/terms", "Terms", &["terms"]),
    ("/privacy", "Privacy", &["privacy"]),
];

pub struct PageContext {
    pub config: ServerConfig,
    pub sign_in_gate: SignInService,
    pub site: EmailSite,
    pub archive_downloads: ArchiveDownloads,
    visitor_forms: OnceCell<VisitorFormTokens>,
}

impl PageContext {
    pub(crate) fn new(store: &Arc<Store>, config: &ServerConfig) -> Result<Self, Fault> {
        let gate = SignInService::new(Arc::clone(store), PasswordPool::sized_to_machine());
        Ok(Self {
            config: config.clone(),
            sign_in_gate: SignInService { ttl_ms: config.session_ttl_ms, ..gate },
            site: EmailSite::new(&config.site_name, &config.base_url)?,
            archive_downloads: ArchiveDownloads::default(),
            visitor_forms: OnceCell::new(),
        })
    }

    pub fn is_tls(&self) -> bool {
        self.config.base_url.starts_with("https://")
    }

    pub fn page_frame(&self, now: Time) -> PageFrame {
        PageFrame {
            dev: self.config.dev,
            sends_mail: self.config.sends_mail,
            site: self.site.name().to_string(),
            host: self.host().to_owned(),
            site_texts: self.site_texts(),
            now: ZonedTime { at: now, ..ZonedTime::default() },
            links: SITE_LINKS,
            ..PageFrame::default()
        }
    }

    /// Path and title of each that has content.
    fn site_texts(&self) -> Vec<(&'static str, &'static str)> {
        let written = self.site.written_pages();
        let texts = SITE_TEXTS.into_iter().filter(|(_, _, names)| names.iter().any(|name| written.contains(name)));
        texts.map(|(path, title, _)| (path, title)).collect()
    }

    /// Where a development server explains why it refused the credentials of a request.
    pub(crate) fn explanation_url(&self, id: &RequestId) -> String {
        format!("{}{}/{}", self.config.base_url, SITE_LINKS.signature, id.as_str())
    }

    pub fn host(&self) -> &str {
        let url = self.config.base_url.as_str();
        url.split_once("://").map_or(url, |(_, host)| host)
    }

    pub async fn visitor_forms(&self) -> Result<&VisitorFormTokens, Error> {
        match self.visitor_forms.get() {
            Some(tokens) => Ok(tokens),
            None => self.open_visitor_forms().await,
        }
    }

    fn open_visitor_forms(&self) -> BoxFuture<'_, Result<&VisitorFormTokens, Error>> {
        let open = || VisitorFormTokens::open(&self.sign_in_gate.store);
        Box::pin(self.visitor_forms.get_or_try_init(open))
    }
}
