//! Where in the Ads Manager somebody stands, what is there, and what a form there does.

use base::Stop;
use base::refusal::{At, Problem};
use pages::manager::{AdsManager, Link};
use store::Tx;

use super::ask::{Asking, Desk};
use super::forms::{Plan, Then};
use super::{account, audiences, campaigns, creatives, line_items, plans};
use crate::pages::forms::Form;

/// The parts of a path.
#[derive(Clone, Default)]
pub(super) struct Place {
    pub(super) account: String,
    pub(super) part: String,
    pub(super) id: String,
    pub(super) act: String,
}

/// Where somebody stands.
#[derive(Clone)]
pub(super) struct Stand {
    pub(super) asking: Asking,
    pub(super) place: Place,
    /// Where a list goes on.
    pub(super) cursor: Option<String>,
    /// How many days figures are of.
    pub(super) days: Option<u32>,
}

/// Everything that a form of these pages may send.
const NAMES: &[&str] = &[
    "advertiser_domain",
    "android_app_store_identifier",
    "bid_amount_local_micro",
    "bid_strategy",
    "budget_optimization",
    "categories",
    "daily_budget_amount_local_micro",
    "description",
    "duration_in_days",
    "end_time",
    "entity_status",
    "frequency_cap",
    "funding_instrument_id",
    "goal",
    "ios_app_store_identifier",
    "name",
    "nullcast",
    "objective",
    "operator_type",
    "pay_by",
    "pick",
    "placements",
    "post_ids",
    "primary_web_event_tag",
    "product_type",
    "purchase_order_number",
    "scheduled_at",
    "standard_delivery",
    "start_time",
    "targeting_type",
    "targeting_value",
    "text",
    "total_budget_amount_local_micro",
    "tracking_tag_type",
    "tracking_tag_url",
    "user_id",
];

/// What a form sent.
#[derive(Clone)]
pub(super) struct Sent(Vec<(&'static str, String)>);

impl Sent {
    pub(super) fn of(form: &Form<'_>) -> Self {
        let all = NAMES.iter().map(|name| {
            let typed = form.text(name).replace("\r\n", "\n");
            (*name, typed.trim().to_owned())
        });
        Self(all.collect())
    }

    /// What was typed; empty where nothing was.
    pub(super) fn text(&self, name: &str) -> &str {
        let found = self.0.iter().find(|(known, _)| *known == name);
        found.map_or("", |(_, typed)| typed)
    }
}

impl Stand {
    /// The page that is there.
    pub(super) fn page(&self, tx: &mut Tx<'_>) -> Result<Option<AdsManager>, Stop> {
        let Some(desk) = Desk::open(tx, &self.asking, &self.place.account)? else {
            return Ok(None);
        };
        if let Some(plan) = plans::plan(tx, &desk, &self.place)?.filter(|plan| !plan.is_silent()) {
            desk.permits(&plan)?;
            return Ok(Some(desk.framed(&self.place.part, plan.page())));
        }
        let place = &self.place;
        if !place.act.is_empty() {
            return Ok(None);
        }
        let page = match (place.part.as_str(), place.id.as_str()) {
            ("" | "campaigns", "") => campaigns::list(tx, &desk, self)?,
            ("campaigns", id) => campaigns::one(tx, &desk, id, self)?,
            ("line-items", id) if !id.is_empty() => line_items::one(tx, &desk, id, self)?,
            ("creatives", "") => creatives::list(tx, &desk, self)?,
            ("audiences", "") => audiences::list(tx, &desk, self)?,
            ("audiences", id) => audiences::one(tx, &desk, id)?,
            ("account", "") => account::show(tx, &desk)?,
            _ => return Ok(None),
        };
        Ok(Some(desk.framed(&place.part, page)))
    }

    /// Does what a form there says; where to go then, and what was done.
    pub(super) fn send(
        &self,
        tx: &mut Tx<'_>,
        sent: &Sent,
    ) -> Result<Option<(String, &'static str)>, Stop> {
        let Some(desk) = Desk::open(tx, &self.asking, &self.place.account)? else {
            return Ok(None);
        };
        let Some(plan) = plans::plan(tx, &desk, &self.place)? else {
            return Ok(None);
        };
        desk.permits(&plan)?;
        let pairs = plan.pairs(sent)?;
        let ids: Vec<&str> = plan.ids.iter().map(String::as_str).collect();
        let answer = desk.ask(tx, plan.method, plan.path, &ids, &pairs)?;
        let path = match &plan.then {
            Then::Path(path) => path.clone(),
            Then::Made(path) => {
                let id = answer
                    .pointer("/data/id")
                    .and_then(serde_json::Value::as_str);
                format!("{path}/{}", id.unwrap_or_default())
            }
        };
        Ok(Some((path, plan.done)))
    }

    /// The form that was refused, with what was typed, and why as far as no field is to blame.
    pub(super) fn again(
        &self,
        tx: &mut Tx<'_>,
        sent: &Sent,
        problems: &[Problem],
    ) -> Result<Option<(AdsManager, Option<String>)>, Stop> {
        let Some(desk) = Desk::open(tx, &self.asking, &self.place.account)? else {
            return Ok(None);
        };
        let forbidden = problems.iter().find(|one| one.code == "ACTION_NOT_ALLOWED");
        if let Some(problem) = forbidden.filter(|one| one.at == At::Request) {
            return Err(problem.clone().into());
        }
        let Some(mut plan) = plans::plan(tx, &desk, &self.place)? else {
            return Ok(None);
        };
        let failure = plan.refuse(sent, problems);
        if plan.is_silent() {
            let place = Place {
                act: String::new(),
                ..self.place.clone()
            };
            let here = Self {
                place,
                ..self.clone()
            };
            return Ok(here.page(tx)?.map(|page| (page, failure)));
        }
        let page = desk.framed(&self.place.part, plan.page());
        Ok(Some((page, failure)))
    }
}

impl Desk {
    /// Refuses what the role may not do.
    fn permits(&self, plan: &Plan) -> Result<(), Stop> {
        if self.may(plan.method, plan.path) {
            return Ok(());
        }
        let message = "The role on this account does not allow this action";
        Err(Problem::new("ACTION_NOT_ALLOWED", message).into())
    }

    /// A page with the account around it.
    fn framed(&self, part: &str, page: AdsManager) -> AdsManager {
        let id = self.account.written_id();
        let mine = self.accounts.iter().find(|one| one.id == id).cloned();
        let here = match part {
            "" | "line-items" | "promoted-posts" | "promoted-accounts" | "targeting"
            | "tracking-tags" => "campaigns",
            "scheduled" | "drafts" => "creatives",
            other => other,
        };
        let tabs = [
            ("campaigns", "Campaigns", "campaigns"),
            ("creatives", "Creatives", "cards"),
            ("audiences", "Audiences", "custom_audiences"),
            ("account", "Account", "features"),
        ];
        let tabs = tabs
            .into_iter()
            .filter(|(_, _, path)| self.may("GET", path));
        let tabs = tabs.map(|(part, name, _)| {
            let rest = if part == "campaigns" {
                String::new()
            } else {
                format!("/{part}")
            };
            Link {
                current: part == here,
                ..Link::to(name, self.path(&rest))
            }
        });
        AdsManager {
            account: mine,
            accounts: self.accounts.clone(),
            tabs: tabs.collect(),
            ..page
        }
    }

    /// A link, where the role may do what it leads to.
    pub(super) fn offer(&self, method: &str, path: &str, text: &str, rest: &str) -> Option<Link> {
        let may = self.may(method, path);
        may.then(|| Link::to(text, self.path(rest)))
    }
}

/// The links that are there.
pub(super) fn offered<const N: usize>(all: [Option<Link>; N]) -> Vec<Link> {
    all.into_iter().flatten().collect()
}
