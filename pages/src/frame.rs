//! What surrounds every page: who is signed in, where links lead, what just happened.

use base::Time;

/// The surroundings of a page.
#[derive(Clone, Default)]
pub struct PageFrame {
    /// The token that every form sends back as `csrf`.
    pub csrf: String,
    /// Who is signed in.
    pub account: Option<SignedInAccount>,
    /// Whether this is a development world: shows the ribbon and the details of errors.
    pub dev: bool,
    /// Whether letters leave by mail all the same.
    pub sends_mail: bool,
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
    pub links: SiteLinks,
}

/// The signed-in account.
#[derive(Clone, Debug)]
pub struct SignedInAccount {
    /// Without the at sign.
    pub username: String,
    /// The display name.
    pub name: String,
}

impl SignedInAccount {
    /// A stand-in for a picture.
    pub fn initial_letter(&self) -> String {
        crate::page::initial_letter(&self.name)
    }
}

/// A message at the top of a page.
#[derive(Clone, Debug)]
pub struct Notice {
    /// How it looks and is read out.
    pub level: NoticeLevel,
    /// One or two sentences.
    pub text: String,
}

impl Notice {
    /// Something worked.
    pub fn success(text: impl Into<String>) -> Self {
        Self {
            level: NoticeLevel::Success,
            text: text.into(),
        }
    }

    /// Something worth knowing.
    pub fn info(text: impl Into<String>) -> Self {
        Self {
            level: NoticeLevel::Info,
            text: text.into(),
        }
    }
}

/// What kind of message it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoticeLevel {
    /// It worked.
    Success,
    /// It is worth knowing.
    Info,
}

impl NoticeLevel {
    /// The class in the stylesheet.
    pub const fn css_class(self) -> &'static str {
        match self {
            Self::Success => "good",
            Self::Info => "plain",
        }
    }
}

/// Paths of the pages that header, footer and neighbouring pages link to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SiteLinks {
    /// The wordmark.
    pub home: &'static str,
    /// Sign in.
    pub sign_in: &'static str,
    /// Create account.
    pub sign_up: &'static str,
    /// Ask whether to sign out.
    pub sign_out: &'static str,
    /// Forgotten password.
    pub forgot_password: &'static str,
    /// Password and email.
    pub account: &'static str,
    /// Where the account is signed in.
    pub sessions: &'static str,
    /// Apps that may use the account.
    pub connected_apps: &'static str,
    /// What the account was told.
    pub notifications: &'static str,
    /// The developer's apps.
    pub apps: &'static str,
    /// Create app.
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

impl Default for SiteLinks {
    fn default() -> Self {
        Self {
            home: "/",
            sign_in: "/sign-in",
            sign_up: "/sign-up",
            sign_out: "/sign-out",
            forgot_password: "/forgotten-password",
            account: "/settings/account",
            sessions: "/settings/sessions",
            connected_apps: "/settings/apps",
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
