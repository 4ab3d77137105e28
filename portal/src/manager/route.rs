//! Routing of Ads Manager paths to pages and forms.

use ads_engine::{is_role_not_allowed, role_not_allowed};
use base::Error;
use base::refusal::AdsProblem;
use pages::manager::{AdsManagerPage, NavLink};
use store::Tx;

use super::forms::{FormDefinition, FormOutcome, SubmittedFields};
use super::reports::Report;
use super::request::{ManagerAccount, ManagerRequest};
use super::sections::Section;
use super::{
    CSV_FILE, account, audiences, campaigns, cards, conversions, drafts, form_routes, line_items, media, posts,
    recommendations, stats,
};

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
        if !place.action.is_empty() {
            return Ok(None);
        }
        ctx.check_tab(&place.section)?;
        let mut is_simulated = false;
        if matches!(place.section.as_str(), "" | "campaigns" | "line-items") {
            is_simulated = stats::are_simulated(tx, &ctx, stats::selected_range(&ctx).span())?;
        }
        let page = match (place.section.as_str(), place.id.as_str(), Section::find(&place.section)) {
            ("" | "campaigns", "", _) => campaigns::list(tx, &ctx)?,
            ("campaigns", "drafts", _) => drafts::list(tx, &ctx)?,
            ("campaigns", id, _) => campaigns::show(tx, &ctx, id)?,
            ("line-items", id, _) if !id.is_empty() => line_items::show(tx, &ctx, id)?,
            ("posts", "", _) => posts::list(tx, &ctx)?,
            ("scheduled" | "drafts", id, Some(section)) if !id.is_empty() => posts::show(tx, &ctx, section, id)?,
            ("cards", "", _) => cards::list(tx, &ctx)?,
            (_, id, Some(section)) if section.is_cards() => cards::show(tx, &ctx, section, id)?,
            ("media", "", Some(section)) => media::list(tx, &ctx, section)?,
            ("audiences", "", _) => audiences::list(tx, &ctx)?,
            ("audiences", id, _) => audiences::show(tx, &ctx, id)?,
            ("conversions", "", _) => conversions::list(tx, &ctx)?,
            ("conversions", id, _) => conversions::show(tx, &ctx, id)?,
            ("reports", "", _) => {
                let report = Report::load(tx, &ctx)?;
                is_simulated = report.is_simulated;
                report.into_page(&ctx)
            }
            ("recommendations", "", _) => recommendations::list(tx, &ctx)?,
            ("account", "", _) => account::account_page(tx, &ctx)?,
            _ => return Ok(None),
        };
        let mut page = ctx.wrap_page(&place.section, page);
        page.frame.notices.extend(stats::simulation_notice(is_simulated));
        Ok(Some(page))
    }

    pub(super) fn load_csv(&self, tx: &mut Tx<'_>) -> Result<Option<String>, Error> {
        let Some(ctx) = ManagerAccount::open(tx, &self.request, &self.path.account)? else {
            return Ok(None);
        };
        if self.path.section != "reports" {
            return Ok(None);
        }
        Ok(Some(Report::load(tx, &ctx)?.to_csv()?))
    }

    /// Where the statistics of a campaign or line item are, which had pages of their own in earlier versions.
    pub(super) fn report_path(&self) -> Option<String> {
        let ManagerPath { account, section, id, action } = &self.path;
        let file = match action.as_str() {
            "figures" => "",
            CSV_FILE => "/figures.csv",
            _ => return None,
        };
        let by = self.request.query.get("by").unwrap_or("day");
        let [account, id, by] = [account, id, by].map(|part| base::percent::encode(part));
        let is_reported = matches!(section.as_str(), "campaigns" | "line-items");
        let query = format!("level={section}&only={id}&by={by}&days={}", self.request.days);
        is_reported.then(|| format!("/ads/{account}/reports{file}?{query}"))
    }

    fn open_form(&self, tx: &mut Tx<'_>) -> Result<Option<(ManagerAccount, FormDefinition)>, Error> {
        let Some(ctx) = ManagerAccount::open(tx, &self.request, &self.path.account)? else {
            return Ok(None);
        };
        let form = form_routes::find_form(tx, &ctx, &self.path)?;
        Ok(form.map(|form| (ctx, form)))
    }

    pub(super) fn submit_form(&self, tx: &mut Tx<'_>, sent: &SubmittedFields) -> Result<Option<FormOutcome>, Error> {
        let Some((ctx, plan)) = self.open_form(tx)? else {
            return Ok(None);
        };
        ctx.check_permission(&plan)?;
        let answer = plan.submit_form(tx, &ctx, sent)?;
        Ok(Some(plan.into_outcome(&answer, sent)))
    }

    /// What a form has done that is sent again. What it was about may be gone since.
    pub(super) fn repeated_outcome(&self, tx: &mut Tx<'_>) -> Result<Option<FormOutcome>, Error> {
        match self.open_form(tx) {
            Ok(Some((_, plan))) => Ok(Some(plan.into_repeated_outcome())),
            Ok(None) | Err(Error::Refused(_)) => Ok(Some(self.outcome_of_gone_form())),
            Err(failed) => Err(failed),
        }
    }

    fn outcome_of_gone_form(&self) -> FormOutcome {
        let ManagerPath { account, section, id, action } = &self.path;
        let is_promotion = Section::find(section).is_some_and(|section| section.is_promotion);
        let done_code = match (id.as_str(), action.as_str()) {
            (_, "delete") if is_promotion => "stopped",
            (_, "delete") => "deleted",
            (_, "remove") => "left",
            ("publish", _) => "published",
            _ => "changed",
        };
        let path = match tab_of(section) {
            "campaigns" => format!("/ads/{account}"),
            tab => format!("/ads/{account}/{tab}"),
        };
        FormOutcome { path, done_code, undo: None }
    }

    /// The page of the form's section, or of a record in it.
    fn load_page_at(&self, tx: &mut Tx<'_>, id: &str) -> Result<Option<AdsManagerPage>, Error> {
        let place = ManagerPath { id: id.to_owned(), action: String::new(), ..self.path.clone() };
        Self { path: place, ..self.clone() }.load_page(tx)
    }

    /// Whether the role may send the form at this path; does not act on it.
    pub(super) fn check_form(&self, tx: &mut Tx<'_>) -> Result<Option<()>, Error> {
        let found = self.open_form(tx)?;
        found.map(|(ctx, plan)| ctx.check_permission(&plan)).transpose()
    }

    /// The form with what was typed, and the errors that belong to no field.
    pub(super) fn refused_form(
        &self,
        tx: &mut Tx<'_>,
        sent: &SubmittedFields,
        problems: &[AdsProblem],
    ) -> Result<Option<(AdsManagerPage, Option<String>)>, Error> {
        if let Some(problem) = problems.iter().find(|one| is_role_not_allowed(one)) {
            return Err(problem.clone().into());
        }
        let Some((ctx, mut plan)) = self.open_form(tx)? else {
            return Ok(None);
        };
        let failure = plan.apply_problems(sent, problems);
        if plan.is_button_only() {
            let page = self.load_page_at(tx, &self.path.id)?;
            // What has no page of its own is in a list.
            let page = if page.is_none() { self.load_page_at(tx, "")? } else { page };
            return Ok(page.map(|page| (page, failure)));
        }
        let page = ctx.wrap_page(&self.path.section, plan.into_page());
        Ok(Some((page, failure)))
    }
}

/// Part of the path, label, and the operation that reads what the tab shows.
const TABS: [(&str, &str, &str); 9] = [
    ("campaigns", "Campaigns", "campaigns"),
    ("reports", "Reports", stats::STATS_PATH),
    ("posts", "Posts", "scheduled_<posts>"),
    ("cards", "Cards", "cards"),
    ("media", "Media", "media_library"),
    ("audiences", "Audiences", "custom_audiences"),
    ("conversions", "Conversions", "web_event_tags"),
    ("recommendations", "Recommendations", "recommendations"),
    ("account", "Account", "features"),
];

/// By the part of a path.
fn tab_of(part: &str) -> &str {
    match part {
        "" => "campaigns",
        "people" => "account",
        "do-not-reach" => "audiences",
        part => Section::find(part).map_or(part, |section| section.tab),
    }
}

impl ManagerAccount {
    /// Refused for a page whose tab the role does not have. That of campaigns says so itself.
    fn check_tab(&self, part: &str) -> Result<(), Error> {
        let tab = TABS.iter().find(|(name, ..)| *name == part && part != "campaigns");
        if tab.is_none_or(|(_, _, path)| self.may_call("GET", path)) { Ok(()) } else { Err(role_not_allowed()) }
    }

    fn check_permission(&self, plan: &FormDefinition) -> Result<(), Error> {
        let may = match plan.required_access {
            Some(who) => who.allows_role(self.role),
            None => self.may_call(plan.method, &plan.path),
        };
        if may { Ok(()) } else { Err(role_not_allowed()) }
    }

    fn wrap_page(&self, part: &str, page: AdsManagerPage) -> AdsManagerPage {
        let id = self.record.formatted_id();
        let mine = self.accounts.iter().find(|one| one.id == id).cloned();
        let here = tab_of(part);
        let tabs = TABS.iter().filter(|(_, _, path)| self.may_call("GET", path));
        let tabs = tabs.map(|(part, name, _)| {
            let rest = if *part == "campaigns" { String::new() } else { format!("/{part}") };
            NavLink { current: *part == here, ..NavLink::new(*name, self.page_path(&rest)) }
        });
        AdsManagerPage { account: mine, accounts: self.accounts.clone(), tabs: tabs.collect(), ..page }
    }
}
