//! What all pages share.

use std::sync::Arc;

use base::{Error, Fault, Time};
use network::emails::EmailSite;
use network::passwords::PasswordPool;
use network::sessions::VisitorFormTokens;
use network::sign_in::SignInService;
use pages::{PageFrame, SiteLinks};
use store::Store;
use tokio::sync::OnceCell;

use crate::ServerConfig;

/// Where people go when nothing else is said.
pub(crate) const DEFAULT_PATH: &str = "/settings/account";

/// Where the links of all pages lead.
pub(crate) const SITE_LINKS: SiteLinks = SiteLinks {
    home: "/",
    sign_in: "/login",
    sign_up: "/join",
    sign_out: "/logout",
    forgot_password: "/forgotten-password",
    account: DEFAULT_PATH,
    sessions: "/settings/sessions",
    connected_apps: "/settings/apps",
    notifications: "/notifications",
    apps: "/developer/apps",
    new_app: "/developer/apps/new",
    ads: "/ads",
    search: "/developer/search",
    signature: "/developer/explain",
    mailbox: "/mailbox",
};

/// What all pages share.
pub(crate) struct PageContext {
    /// How the server is set up.
    pub(crate) config: ServerConfig,
    /// Where people sign in.
    pub(crate) sign_in_gate: SignInService,
    /// What letters say about this platform.
    pub(crate) site: EmailSite,
    visitor_forms: OnceCell<VisitorFormTokens>,
}

impl PageContext {
    pub(crate) fn new(store: &Arc<Store>, config: &ServerConfig) -> Result<Self, Fault> {
        let gate = SignInService::new(Arc::clone(store), PasswordPool::sized_to_machine());
        Ok(Self {
            config: config.clone(),
            sign_in_gate: SignInService {
                ttl_ms: config.session_ttl_ms,
                ..gate
            },
            site: EmailSite::new(&config.site_name, &config.base_url)?,
            visitor_forms: OnceCell::new(),
        })
    }

    /// Whether browsers come over TLS.
    pub(crate) fn is_tls(&self) -> bool {
        self.config.base_url.starts_with("https://")
    }

    /// The surroundings of a page that nobody is signed in on.
    pub(crate) fn page_frame(&self, now: Time) -> PageFrame {
        PageFrame {
            dev: self.config.dev,
            sends_mail: self.config.sends_mail,
            site: self.site.name().to_owned(),
            host: self.host().to_owned(),
            now,
            links: SITE_LINKS,
            ..PageFrame::default()
        }
    }

    /// The host that people see in the address bar.
    pub(crate) fn host(&self) -> &str {
        let url = self.config.base_url.as_str();
        url.split_once("://").map_or(url, |(_, host)| host)
    }

    /// The forms of people who are not signed in.
    pub(crate) async fn visitor_forms(&self) -> Result<&VisitorFormTokens, Error> {
        let open = || VisitorFormTokens::open(&self.sign_in_gate.store);
        self.visitor_forms.get_or_try_init(open).await
    }
}
