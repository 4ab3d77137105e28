//! The developer's apps: list, create, edit.

use crate::field::collect_problems;
use crate::page::{HtmlPage, html_page};
use crate::{FormField, FormProblem, PageFrame, Pager, PermissionLevel};
use askama::Template;
use base::Time;

base::named_enum! {
    /// The names are those in forms.
    #[derive(Default)]
    pub enum AppKind {
        #[default]
        Web = "web",
        Automated = "automated",
        Native = "native",
        SinglePage = "single-page",
    }
}

impl AppKind {
    pub const fn label(self) -> &'static str {
        match self {
            Self::Web => "Web app",
            Self::Automated => "Automated app or bot",
            Self::Native => "Native app",
            Self::SinglePage => "Single-page app",
        }
    }

    pub const fn hint(self) -> &'static str {
        match self {
            Self::Web => "Runs on your server, which can keep a secret.",
            Self::Automated => "Posts automatically from your server, which can keep a secret.",
            Self::Native => "Installed on phones or computers. It has no secret and uses PKCE.",
            Self::SinglePage => "Runs in the browser. It has no secret and uses PKCE.",
        }
    }
}

base::named_enum! {
    /// In display order.
    pub enum AppTab {
        Settings = "Settings",
        Keys = "Keys",
        Callbacks = "Callbacks",
        Stream = "Stream",
        Webhooks = "Webhooks",
        Usage = "Usage",
        Delete = "Delete",
    }
}

impl AppTab {
    pub fn path_for_app(self, app: &AppRef) -> String {
        format!("{}{}", app.path, self.path_suffix())
    }

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

#[derive(Clone, Default)]
pub struct AppRef {
    pub id: String,
    pub name: String,
    /// Path of the app's settings; the other tabs are below it.
    pub path: String,
}

pub struct AppListItem {
    pub app: AppRef,
    pub description: String,
    pub kind: AppKind,
    pub level: PermissionLevel,
    pub last_used: Option<Time>,
    pub suspended: bool,
}

#[derive(Template)]
#[template(path = "apps.html")]
pub struct AppListPage {
    pub frame: PageFrame,
    pub apps: Vec<AppListItem>,
    pub pager: Pager,
}

html_page!(AppListPage, |_| "Your apps".to_owned());

/// Form fields: `name`, `description`, `website`, `kind` ([`AppKind::name`]), `permission`
/// ([`PermissionLevel::name`]), `callbacks` (one per line), and `sign_in` and `email`, which are `on` or
/// absent.
#[derive(Clone, Default)]
pub struct AppForm {
    pub action: String,
    pub name: FormField,
    pub description: FormField,
    pub website: FormField,
    pub kind: AppKind,
    pub kind_error: Option<String>,
    pub permission: PermissionLevel,
    pub permission_error: Option<String>,
    /// At most ten, one per line.
    pub callbacks: FormField,
    /// Whether people who approved the app before are signed in without being asked.
    pub sign_in: bool,
    pub email: bool,
}

impl AppForm {
    fn field_problems(&self) -> Vec<FormProblem> {
        let choice = |error: &Option<String>| FormField { value: String::new(), error: error.clone() };
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

#[derive(Template)]
#[template(path = "new_app.html")]
pub struct NewAppPage {
    pub frame: PageFrame,
    pub form_id: String,
    pub form: AppForm,
}

impl HtmlPage for NewAppPage {
    fn title(&self) -> String {
        "Create app".to_owned()
    }

    fn page_frame(&self) -> &PageFrame {
        &self.frame
    }

    fn form_problems(&self) -> Vec<FormProblem> {
        self.form.field_problems()
    }
}

#[derive(Template)]
#[template(path = "app_settings.html")]
pub struct AppSettingsPage {
    pub frame: PageFrame,
    pub app: AppRef,
    pub access: AppAccessSummary,
    pub form: AppForm,
}

#[derive(Clone, Default)]
pub struct AppAccessSummary {
    pub tier: String,
    /// Name of each entitlement, and whether the app has it.
    pub entitlements: Vec<(String, bool)>,
}

impl AppSettingsPage {
    const TAB: AppTab = AppTab::Settings;
}

impl HtmlPage for AppSettingsPage {
    fn title(&self) -> String {
        format!("Settings: {}", self.app.name)
    }

    fn page_frame(&self) -> &PageFrame {
        &self.frame
    }

    fn form_problems(&self) -> Vec<FormProblem> {
        self.form.field_problems()
    }
}
