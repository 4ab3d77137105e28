//! What members do with their data as a whole: deleting and restoring their account.

use crate::page::{HtmlPage, html_page};
use crate::{FormField, PageFrame};
use askama::Template;
use base::Time;

/// Form fields: `archive_password`.
pub struct AccountArchiveForm {
    pub action: String,
    pub password: FormField,
}

/// Form fields: `password`.
pub struct AccountDeletionForm {
    pub action: String,
    /// Days in which the account can be restored.
    pub days: i64,
    pub password: FormField,
}

#[derive(Template)]
#[template(path = "account_data.html")]
pub struct AccountDataPage {
    pub frame: PageFrame,
    pub archive: AccountArchiveForm,
    pub deletion: AccountDeletionForm,
}

impl AccountDataPage {
    const SECTION: &'static str = "Your data";
}

html_page!(AccountDataPage, |_| "Your data".to_owned(), |page| vec![
    ("archive_password", &page.archive.password),
    ("password", &page.deletion.password)
]);

/// Form fields: `token`, `next`.
#[derive(Template)]
#[template(path = "restore_account.html")]
pub struct RestoreAccountPage {
    pub frame: PageFrame,
    pub action: String,
    pub token: String,
    /// A local path.
    pub next: String,
    /// Without the at sign.
    pub username: String,
    pub erase_at: Time,
}

impl RestoreAccountPage {
    fn time_left(&self) -> String {
        crate::relative_time::time_until(self.erase_at, self.frame.now.at)
    }
}

html_page!(RestoreAccountPage, |_| "Restore your account?".to_owned());
