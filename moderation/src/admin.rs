//! The administration of the site.

pub(crate) mod accounts;
pub(crate) mod actions;
mod acts;
pub(crate) mod audit_log;
pub(crate) mod people;
pub(crate) mod queue;
pub(crate) mod site;
pub(crate) mod terms;

pub(crate) const QUEUE_PATH: &str = "/admin";
pub(crate) const REPORTS_PATH: &str = "/admin/reports";
pub(crate) const REPORT_FILE_PATH: &str = "/admin/reports/{report}/files/{file}";
pub(crate) const ACCOUNTS_PATH: &str = pages::ACCOUNTS_PATH;
pub(crate) const ACTIONS_PATH: &str = "/admin/actions";
pub(crate) const APPEALS_PATH: &str = "/admin/appeals";
pub(crate) const PEOPLE_PATH: &str = "/admin/people";
pub(crate) const APPLICATIONS_PATH: &str = "/admin/applications";
pub(crate) const ROLES_PATH: &str = "/admin/roles";
pub(crate) const INVITATIONS_PATH: &str = "/admin/invitations";
pub(crate) const SITE_PATH: &str = "/admin/site";
pub(crate) const TERMS_PATH: &str = "/admin/terms";
pub(crate) const AUDIT_PATH: &str = "/admin/audit";
