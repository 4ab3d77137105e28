//! What all pages share.

use std::sync::Arc;

use base::{Error, Fault, Time};
use network::emails::EmailSite;
use network::passwords::PasswordPool;
use network::sessions::VisitorFormTokens;
use network::sign_in::SignInService;
use pages::{Frame, Links};
use store::Store;
use tokio::sync::OnceCell;

use crate::Config;

/// Where people go when nothing else is said.
pub(crate) const HOME: &str = "/settings/account";

/// Where the links of all pages lead.
pub(crate) const LINKS: Links = Links {
    home: "/",
    sign_in: "/login",
    sign_up: "/join",
    sign_out: "/logout",
    forgotten: "/forgotten-password",
    account: HOME,
    sessions: "/settings/sessions",
    connected: "/settings/apps",
    notifications: "/notifications",
    apps: "/developer/apps",
    new_app: "/developer/apps/new",
    ads: "/ads",
    search: "/developer/search",
    signature: "/developer/explain",
    mailbox: "/mailbox",
};

/// What all pages share.
pub(crate) struct Front {
    /// How the server is set up.
    pub(crate) config: Config,
    /// Where people sign in.
    pub(crate) gate: SignInService,
    /// What letters say about this platform.
    pub(crate) site: EmailSite,
    visitors: OnceCell<VisitorFormTokens>,
}

impl Front {
    pub(crate) fn new(store: &Arc<Store>, config: &Config) -> Result<Self, Fault> {
        let gate = SignInService::new(Arc::clone(store), PasswordPool::sized_to_machine());
        Ok(Self {
            config: config.clone(),
            gate: SignInService {
                ttl_ms: config.session_ttl_ms,
                ..gate
            },
            site: EmailSite::new(&config.site_name, &config.base_url)?,
            visitors: OnceCell::new(),
        })
    }

    /// Whether browsers come over TLS.
    pub(crate) fn is_tls(&self) -> bool {
        self.config.base_url.starts_with("https://")
    }

    /// The surroundings of a page that nobody is signed in on.
    pub(crate) fn frame(&self, now: Time) -> Frame {
        Frame {
            dev: self.config.dev,
            mails: self.config.sends_mail,
            site: self.site.name().to_owned(),
            host: self.host().to_owned(),
            now,
            links: LINKS,
            ..Frame::default()
        }
    }

    /// The host that people see in the address bar.
    pub(crate) fn host(&self) -> &str {
        let url = self.config.base_url.as_str();
        url.split_once("://").map_or(url, |(_, host)| host)
    }

    /// The forms of people who are not signed in.
    pub(crate) async fn visitors(&self) -> Result<&VisitorFormTokens, Error> {
        let open = || VisitorFormTokens::open(&self.gate.store);
        self.visitors.get_or_try_init(open).await
    }
}
