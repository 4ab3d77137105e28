//! What surrounds every page: who is signed in, where links lead, what just happened.

use base::Time;

/// The surroundings of a page.
#[derive(Clone, Default)]
pub struct Frame {
    /// The token that every form sends back as `csrf`.
    pub csrf: String,
    /// Who is signed in.
    pub account: Option<Account>,
    /// Whether this is a development world: shows the ribbon and the details of errors.
    pub dev: bool,
    /// Whether letters leave by mail all the same.
    pub mails: bool,
    /// What the platform is called.
    pub site: String,
    /// The host that the person sees in the address bar, for the footer.
    pub host: String,
    /// What just happened.
    pub notices: Vec<Notice>,
    /// Why the form as a whole was refused, where no single field is to blame.
    pub failure: Option<String>,
    /// The moment at which the page is made, for "3 minutes ago".
    pub now: Time,
    /// Where the links of header and footer lead.
    pub links: Links,
}

/// The signed-in account.
#[derive(Clone, Debug)]
pub struct Account {
    /// Without the at sign.
    pub username: String,
    /// The display name.
    pub name: String,
}

impl Account {
    /// A stand-in for a picture.
    pub fn initial(&self) -> String {
        crate::page::initial(&self.name)
    }
}

/// A message at the top of a page.
#[derive(Clone, Debug)]
pub struct Notice {
    /// How it looks and is read out.
    pub tone: Tone,
    /// One or two sentences.
    pub text: String,
}

impl Notice {
    /// Something worked.
    pub fn good(text: impl Into<String>) -> Self {
        Self {
            tone: Tone::Good,
            text: text.into(),
        }
    }

    /// Something worth knowing.
    pub fn plain(text: impl Into<String>) -> Self {
        Self {
            tone: Tone::Plain,
            text: text.into(),
        }
    }
}

/// What kind of message it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tone {
    /// It worked.
    Good,
    /// It is worth knowing.
    Plain,
}

impl Tone {
    /// The class in the stylesheet.
    pub const fn class(self) -> &'static str {
        match self {
            Self::Good => "good",
            Self::Plain => "plain",
        }
    }
}

/// Paths of the pages that header, footer and neighbouring pages link to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Links {
    /// The wordmark.
    pub home: &'static str,
    /// Sign in.
    pub sign_in: &'static str,
    /// Create an account.
    pub sign_up: &'static str,
    /// Ask whether to sign out.
    pub sign_out: &'static str,
    /// Forgotten password.
    pub forgotten: &'static str,
    /// Password and email.
    pub account: &'static str,
    /// Where the account is signed in.
    pub sessions: &'static str,
    /// Apps that may use the account.
    pub connected: &'static str,
    /// What the account was told.
    pub notifications: &'static str,
    /// The developer's apps.
    pub apps: &'static str,
    /// Create an app.
    pub new_app: &'static str,
    /// The Ads Manager.
    pub ads: &'static str,
    /// Search console.
    pub search: &'static str,
    /// Signature explainer.
    pub signature: &'static str,
    /// Letters of a development world.
    pub mailbox: &'static str,
}

impl Default for Links {
    fn default() -> Self {
        Self {
            home: "/",
            sign_in: "/sign-in",
            sign_up: "/sign-up",
            sign_out: "/sign-out",
            forgotten: "/forgotten-password",
            account: "/settings/account",
            sessions: "/settings/sessions",
            connected: "/settings/apps",
            notifications: "/notifications",
            apps: "/developer/apps",
            new_app: "/developer/apps/new",
            ads: "/ads",
            search: "/developer/search",
            signature: "/developer/signature",
            mailbox: "/developer/mailbox",
        }
    }
}
