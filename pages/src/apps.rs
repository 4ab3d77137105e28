//! The developer's apps: list, create, edit.

use crate::field::collect_problems;
use crate::{FormField, FormProblem, HtmlPage, PageFrame, Pager, PermissionLevel};
use askama::Template;
use base::Time;

/// What kind of program an app is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AppKind {
    /// Runs on a server, with a secret.
    #[default]
    Web,
    /// A bot, with a secret.
    Automated,
    /// Runs on people's devices, without a secret.
    Native,
    /// Runs in the browser, without a secret.
    SinglePage,
}

impl AppKind {
    /// Every kind.
    pub const ALL: [Self; 4] = [Self::Web, Self::Automated, Self::Native, Self::SinglePage];

    /// The value in forms: `web`, `automated`, `native`, `single-page`.
    pub const fn form_value(self) -> &'static str {
        match self {
            Self::Web => "web",
            Self::Automated => "automated",
            Self::Native => "native",
            Self::SinglePage => "single-page",
        }
    }

    /// Reads the value of a form.
    pub fn parse(value: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.form_value() == value)
    }

    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Web => "Web app",
            Self::Automated => "Automated app or bot",
            Self::Native => "Native app",
            Self::SinglePage => "Single-page app",
        }
    }

    /// How to choose.
    pub const fn hint(self) -> &'static str {
        match self {
            Self::Web => "Runs on your server, which can keep a secret.",
            Self::Automated => "Posts automatically from your server, which can keep a secret.",
            Self::Native => "Installed on phones or computers. It has no secret and uses PKCE.",
            Self::SinglePage => "Runs in the browser. It has no secret and uses PKCE.",
        }
    }
}

/// A page about one app.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AppTab {
    /// At the app's own path.
    Settings,
    /// At `/keys` below it.
    Keys,
    /// At `/callbacks` below it.
    Callbacks,
    /// At `/stream` below it.
    Stream,
    /// At `/webhooks` below it.
    Webhooks,
    /// At `/usage` below it.
    Usage,
    /// At `/delete` below it.
    Delete,
}

impl AppTab {
    /// In the order of the page.
    pub const ALL: [Self; 7] = [
        Self::Settings,
        Self::Keys,
        Self::Callbacks,
        Self::Stream,
        Self::Webhooks,
        Self::Usage,
        Self::Delete,
    ];

    /// What the link says.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Settings => "Settings",
            Self::Keys => "Keys",
            Self::Callbacks => "Callbacks",
            Self::Stream => "Stream",
            Self::Webhooks => "Webhooks",
            Self::Usage => "Usage",
            Self::Delete => "Delete",
        }
    }

    /// The path of this page of an app.
    pub fn path_for_app(self, app: &AppRef) -> String {
        format!("{}{}", app.path, self.path_suffix())
    }

    /// What follows the app's path.
    pub const fn path_suffix(self) -> &'static str {
        match self {
            Self::Settings => "",
            Self::Keys => "/keys",
            Self::Callbacks => "/callbacks",
            Self::Stream => "/stream",
            Self::Webhooks => "/webhooks",
            Self::Usage => "/usage",
            Self::Delete => "/delete",
        }
    }
}

/// The app that a page is about.
#[derive(Clone, Default)]
pub struct AppRef {
    /// Its id.
    pub id: String,
    /// Its name.
    pub name: String,
    /// The path of its settings; the other tabs are below it.
    pub path: String,
}

/// A line of the list of apps.
pub struct AppListItem {
    /// The app.
    pub app: AppRef,
    /// What its developer says about it.
    pub description: String,
    /// What kind it is.
    pub kind: AppKind,
    /// Its OAuth 1.0a level.
    pub level: PermissionLevel,
    /// When it last called.
    pub last_used: Option<Time>,
    /// Whether it may call at all.
    pub suspended: bool,
}

/// The developer's apps.
#[derive(Template)]
#[template(path = "apps.html")]
pub struct AppListPage {
    /// The surroundings; somebody is signed in.
    pub frame: PageFrame,
    /// The apps.
    pub apps: Vec<AppListItem>,
    /// The neighbouring parts of the list.
    pub pager: Pager,
}

impl HtmlPage for AppListPage {
    const NAME: &'static str = "apps";

    fn title(&self) -> String {
        "Your apps".to_owned()
    }

    fn page_frame(&self) -> &PageFrame {
        &self.frame
    }

    fn sample_states() -> Vec<(&'static str, Self)> {
        crate::samples::apps::app_list_states()
    }
}

/// What a developer decides about an app. Form: `name`, `description`, `website`, `kind`
/// ([`AppKind::value`]), `permission` ([`Level::value`]), `callbacks` (one a line), and `sign_in` and
/// `email`, which are `on` or absent.
#[derive(Clone, Default)]
pub struct AppForm {
    /// Where the form posts to.
    pub action: String,
    /// Its name.
    pub name: FormField,
    /// What people are told about it.
    pub description: FormField,
    /// Its website.
    pub website: FormField,
    /// What kind it is.
    pub kind: AppKind,
    /// Why the kind was refused.
    pub kind_error: Option<String>,
    /// Its OAuth 1.0a level.
    pub permission: PermissionLevel,
    /// Why the level was refused.
    pub permission_error: Option<String>,
    /// At most ten, one a line.
    pub callbacks: FormField,
    /// "Sign in with" is on: who approved before is sent back without being asked.
    pub sign_in: bool,
    /// It may ask for the email address.
    pub email: bool,
}

impl AppForm {
    fn field_problems(&self) -> Vec<FormProblem> {
        let choice = |error: &Option<String>| FormField {
            value: String::new(),
            error: error.clone(),
        };
        collect_problems(&[
            ("name", &self.name),
            ("description", &self.description),
            ("website", &self.website),
            ("kind", &choice(&self.kind_error)),
            ("permission", &choice(&self.permission_error)),
            ("callbacks", &self.callbacks),
        ])
    }
}

/// Create app.
#[derive(Template)]
#[template(path = "new_app.html")]
pub struct NewAppPage {
    /// The surroundings; somebody is signed in.
    pub frame: PageFrame,
    /// What was typed.
    pub form: AppForm,
}

impl HtmlPage for NewAppPage {
    const NAME: &'static str = "new-app";

    fn title(&self) -> String {
        "Create app".to_owned()
    }

    fn page_frame(&self) -> &PageFrame {
        &self.frame
    }

    fn form_problems(&self) -> Vec<FormProblem> {
        self.form.field_problems()
    }

    fn sample_states() -> Vec<(&'static str, Self)> {
        crate::samples::apps::new_app_states()
    }
}

/// Edit an app.
#[derive(Template)]
#[template(path = "app_settings.html")]
pub struct AppSettingsPage {
    /// The surroundings; somebody is signed in.
    pub frame: PageFrame,
    /// The app, as stored.
    pub app: AppRef,
    /// What an operator has opened to it.
    pub access: AppAccessSummary,
    /// What was typed.
    pub form: AppForm,
}

/// What an operator decides about an app.
#[derive(Clone, Default)]
pub struct AppAccessSummary {
    /// Its tier.
    pub tier: String,
    /// Each part of the interface that is opened to apps one by one, and whether to this one.
    pub entitlements: Vec<(String, bool)>,
}

impl AppSettingsPage {
    const TAB: AppTab = AppTab::Settings;
}

impl HtmlPage for AppSettingsPage {
    const NAME: &'static str = "app-settings";

    fn title(&self) -> String {
        format!("Settings: {}", self.app.name)
    }

    fn page_frame(&self) -> &PageFrame {
        &self.frame
    }

    fn form_problems(&self) -> Vec<FormProblem> {
        self.form.field_problems()
    }

    fn sample_states() -> Vec<(&'static str, Self)> {
        crate::samples::apps::app_settings_states()
    }
}
