//! Routing of Ads Manager paths to pages and forms.

use base::Error;
use base::refusal::{AdsProblem, ProblemLocation};
use pages::manager::{AdsManagerPage, NavLink};
use store::Tx;
use web::endpoint::BodySpec;
use web::request_context::RequestContext;

use super::breakdown::StatsBreakdown;
use super::forms::FormDefinition;
use super::request::{ManagerAccount, ManagerRequest};
use super::{account, audiences, campaigns, cards, form_routes, line_items, media, posts, recommendations};
use crate::site::forms::SubmittedForm;

#[derive(Clone, Default)]
pub(super) struct ManagerPath {
    pub(super) account: String,
    pub(super) section: String,
    pub(super) id: String,
    pub(super) action: String,
}

#[derive(Clone)]
pub(super) struct ManagerRoute {
    pub(super) request: ManagerRequest,
    pub(super) path: ManagerPath,
    pub(super) cursor: Option<String>,
    pub(super) days: Option<u32>,
    pub(super) breakdown_by: Option<String>,
}

#[derive(Clone, Default)]
pub(super) struct SubmittedFields(Vec<(String, String)>);

impl SubmittedFields {
    pub(super) fn from_form(call: &RequestContext, form: &SubmittedForm<'_>) -> Self {
        let BodySpec::Multipart(members) = call.endpoint().body else {
            return Self::default();
        };
        let names = members.iter().map(|member| member.name.post);
        let names = names.filter(|name| !matches!(*name, "csrf" | "next"));
        Self::from_pairs(names.map(|name| (name.to_owned(), form.text(name))))
    }

    /// Trims the values.
    pub(super) fn from_pairs(pairs: impl Iterator<Item = (String, String)>) -> Self {
        let plain = |text: String| text.replace("\r\n", "\n").trim().to_owned();
        Self(pairs.map(|(name, text)| (name, plain(text))).collect())
    }

    /// Empty if the field is missing.
    pub(super) fn text(&self, name: &str) -> &str {
        let found = self.0.iter().find(|(known, _)| *known == name);
        found.map_or("", |(_, typed)| typed)
    }
}

impl ManagerRoute {
    pub(super) fn load_page(&self, tx: &mut Tx<'_>) -> Result<Option<AdsManagerPage>, Error> {
        let Some(ctx) = ManagerAccount::open(tx, &self.request, &self.path.account)? else {
            return Ok(None);
        };
        if let Some(plan) = form_routes::find_form(tx, &ctx, &self.path)?.filter(|plan| !plan.is_button_only()) {
            ctx.check_permission(&plan)?;
            return Ok(Some(ctx.wrap_page(&self.path.section, plan.into_page())));
        }
        let place = &self.path;
        if place.action == "figures" {
            let found = StatsBreakdown::load(tx, &ctx, self)?;
            return Ok(found.map(|found| ctx.wrap_page(&place.section, found.into_page(&ctx, self))));
        }
        if !place.action.is_empty() {
            return Ok(None);
        }
        let page = match (place.section.as_str(), place.id.as_str()) {
            ("" | "campaigns", "") => campaigns::list(tx, &ctx, self)?,
            ("campaigns", id) => campaigns::show(tx, &ctx, id, self)?,
            ("line-items", id) if !id.is_empty() => line_items::show(tx, &ctx, id, self)?,
            ("posts", "") => posts::list(tx, &ctx)?,
            (part @ ("scheduled" | "drafts"), id) if !id.is_empty() => posts::show(tx, &ctx, part, id)?,
            ("cards", "") => cards::list(tx, &ctx)?,
            (part, id) if cards::is_card_section(part) => cards::show(tx, &ctx, part, id)?,
            ("media", "") => media::list(tx, &ctx, self)?,
            ("audiences", "") => audiences::list(tx, &ctx, self)?,
            ("audiences", id) => audiences::show(tx, &ctx, id)?,
            ("recommendations", "") => recommendations::list(tx, &ctx)?,
            ("account", "") => account::account_page(tx, &ctx)?,
            _ => return Ok(None),
        };
        Ok(Some(ctx.wrap_page(&place.section, page)))
    }

    pub(super) fn load_csv(&self, tx: &mut Tx<'_>) -> Result<Option<String>, Error> {
        let Some(ctx) = ManagerAccount::open(tx, &self.request, &self.path.account)? else {
            return Ok(None);
        };
        let found = StatsBreakdown::load(tx, &ctx, self)?;
        Ok(found.map(|found| found.to_csv()))
    }

    /// Returns the path to redirect to and the form's `done_code`.
    pub(super) fn submit_form(
        &self,
        tx: &mut Tx<'_>,
        sent: &SubmittedFields,
    ) -> Result<Option<(String, &'static str)>, Error> {
        let Some(ctx) = ManagerAccount::open(tx, &self.request, &self.path.account)? else {
            return Ok(None);
        };
        let Some(plan) = form_routes::find_form(tx, &ctx, &self.path)? else {
            return Ok(None);
        };
        ctx.check_permission(&plan)?;
        let answer = plan.submit_form(tx, &ctx, sent)?;
        Ok(Some((plan.redirect.resolve_path(&answer), plan.done_code)))
    }

    /// Whether the role may send the form at this path; does not act on it.
    pub(super) fn check_form(&self, tx: &mut Tx<'_>) -> Result<Option<()>, Error> {
        let Some(ctx) = ManagerAccount::open(tx, &self.request, &self.path.account)? else {
            return Ok(None);
        };
        let Some(plan) = form_routes::find_form(tx, &ctx, &self.path)? else {
            return Ok(None);
        };
        ctx.check_permission(&plan).map(Some)
    }

    /// The form with what was typed, and the errors that belong to no field.
    pub(super) fn refused_form(
        &self,
        tx: &mut Tx<'_>,
        sent: &SubmittedFields,
        problems: &[AdsProblem],
    ) -> Result<Option<(AdsManagerPage, Option<String>)>, Error> {
        let Some(ctx) = ManagerAccount::open(tx, &self.request, &self.path.account)? else {
            return Ok(None);
        };
        let forbidden = problems.iter().find(|one| one.code == "ACTION_NOT_ALLOWED");
        if let Some(problem) = forbidden.filter(|one| one.location == ProblemLocation::Request) {
            return Err(problem.clone().into());
        }
        let Some(mut plan) = form_routes::find_form(tx, &ctx, &self.path)? else {
            return Ok(None);
        };
        let failure = plan.apply_problems(sent, problems);
        if plan.is_button_only() {
            let place = ManagerPath { action: String::new(), ..self.path.clone() };
            let here = Self { path: place, ..self.clone() };
            return Ok(here.load_page(tx)?.map(|page| (page, failure)));
        }
        let page = ctx.wrap_page(&self.path.section, plan.into_page());
        Ok(Some((page, failure)))
    }
}

impl ManagerAccount {
    fn check_permission(&self, plan: &FormDefinition) -> Result<(), Error> {
        let may = match plan.required_access {
            Some(who) => who.allows_role(self.role),
            None => self.may_call(plan.method, plan.path),
        };
        if may {
            return Ok(());
        }
        let message = "The role on this account does not allow this action";
        Err(AdsProblem::new("ACTION_NOT_ALLOWED", message).into())
    }

    fn wrap_page(&self, part: &str, page: AdsManagerPage) -> AdsManagerPage {
        let id = self.record.formatted_id();
        let mine = self.accounts.iter().find(|one| one.id == id).cloned();
        let here = match part {
            "" | "line-items" | "promoted-posts" | "promoted-accounts" | "targeting" | "tracking-tags"
            | "scheduled-promoted" | "media-creatives" | "calls-to-action" | "categories" => "campaigns",
            "scheduled" | "drafts" => "posts",
            "account-media" => "media",
            "people" => "account",
            part if cards::is_card_section(part) => "cards",
            other => other,
        };
        let tabs = [
            ("campaigns", "Campaigns", "campaigns"),
            ("posts", "Posts", "scheduled_<posts>"),
            ("cards", "Cards", "cards"),
            ("media", "Media", "media_library"),
            ("audiences", "Audiences", "custom_audiences"),
            ("recommendations", "Recommendations", "recommendations"),
            ("account", "Account", "features"),
        ];
        let tabs = tabs.into_iter().filter(|(_, _, path)| self.may_call("GET", path));
        let tabs = tabs.map(|(part, name, _)| {
            let rest = if part == "campaigns" { String::new() } else { format!("/{part}") };
            NavLink { current: part == here, ..NavLink::new(name, self.page_path(&rest)) }
        });
        AdsManagerPage { account: mine, accounts: self.accounts.clone(), tabs: tabs.collect(), ..page }
    }

    /// `None` if the role may not call the operation that the link leads to.
    pub(super) fn permitted_link(&self, method: &str, path: &str, text: &str, rest: &str) -> Option<NavLink> {
        let may = self.may_call(method, path);
        may.then(|| NavLink::new(text, self.page_path(rest)))
    }
}

pub(super) fn collect_links<const N: usize>(all: [Option<NavLink>; N]) -> Vec<NavLink> {
    all.into_iter().flatten().collect()
}
