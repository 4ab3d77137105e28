//! Where in the Ads Manager somebody stands, what is there, and what a form there does.

use base::Error;
use base::refusal::{AdsProblem, ProblemLocation};
use pages::manager::{AdsManager, Link};
use store::Tx;

use super::ask::{Asking, Desk};
use super::breakdown::Breakdown;
use super::forms::Plan;
use super::{account, advice, audiences, campaigns, cards, line_items, media, plans, posts};
use crate::call::Call;
use crate::endpoint::Body;
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
    /// What figures are taken apart by.
    pub(super) by: Option<String>,
}

/// What a form sent.
#[derive(Clone, Default)]
pub(super) struct Sent(Vec<(String, String)>);

impl Sent {
    /// The fields that the endpoint declares.
    pub(super) fn of(call: &Call, form: &Form<'_>) -> Self {
        let Body::Parts(members) = call.endpoint().body else {
            return Self::default();
        };
        let names = members.iter().map(|member| member.name.post);
        let names = names.filter(|name| !matches!(*name, "csrf" | "next"));
        Self::pairs(names.map(|name| (name.to_owned(), form.text(name))))
    }

    /// These, without the space around them.
    pub(super) fn pairs(pairs: impl Iterator<Item = (String, String)>) -> Self {
        let plain = |text: String| text.replace("\r\n", "\n").trim().to_owned();
        Self(pairs.map(|(name, text)| (name, plain(text))).collect())
    }

    /// What was typed; empty where nothing was.
    pub(super) fn text(&self, name: &str) -> &str {
        let found = self.0.iter().find(|(known, _)| *known == name);
        found.map_or("", |(_, typed)| typed)
    }
}

impl Stand {
    /// The page that is there.
    pub(super) fn page(&self, tx: &mut Tx<'_>) -> Result<Option<AdsManager>, Error> {
        let Some(desk) = Desk::open(tx, &self.asking, &self.place.account)? else {
            return Ok(None);
        };
        if let Some(plan) = plans::plan(tx, &desk, &self.place)?.filter(|plan| !plan.is_silent()) {
            desk.permits(&plan)?;
            return Ok(Some(desk.framed(&self.place.part, plan.page())));
        }
        let place = &self.place;
        if place.act == "figures" {
            let found = Breakdown::of(tx, &desk, self)?;
            return Ok(found.map(|found| desk.framed(&place.part, found.page(&desk, self))));
        }
        if !place.act.is_empty() {
            return Ok(None);
        }
        let page = match (place.part.as_str(), place.id.as_str()) {
            ("" | "campaigns", "") => campaigns::list(tx, &desk, self)?,
            ("campaigns", id) => campaigns::one(tx, &desk, id, self)?,
            ("line-items", id) if !id.is_empty() => line_items::one(tx, &desk, id, self)?,
            ("posts", "") => posts::list(tx, &desk)?,
            (part @ ("scheduled" | "drafts"), id) if !id.is_empty() => {
                posts::one(tx, &desk, part, id)?
            }
            ("cards", "") => cards::list(tx, &desk)?,
            (part, id) if cards::is_part(part) => cards::one(tx, &desk, part, id)?,
            ("media", "") => media::list(tx, &desk, self)?,
            ("audiences", "") => audiences::list(tx, &desk, self)?,
            ("audiences", id) => audiences::one(tx, &desk, id)?,
            ("recommendations", "") => advice::list(tx, &desk)?,
            ("account", "") => account::show(tx, &desk)?,
            _ => return Ok(None),
        };
        Ok(Some(desk.framed(&place.part, page)))
    }

    /// The file that is there.
    pub(super) fn file(&self, tx: &mut Tx<'_>) -> Result<Option<String>, Error> {
        let Some(desk) = Desk::open(tx, &self.asking, &self.place.account)? else {
            return Ok(None);
        };
        let found = Breakdown::of(tx, &desk, self)?;
        Ok(found.map(|found| found.file()))
    }

    /// Does what a form there says; where to go then, and what was done.
    pub(super) fn send(
        &self,
        tx: &mut Tx<'_>,
        sent: &Sent,
    ) -> Result<Option<(String, &'static str)>, Error> {
        let Some(desk) = Desk::open(tx, &self.asking, &self.place.account)? else {
            return Ok(None);
        };
        let Some(plan) = plans::plan(tx, &desk, &self.place)? else {
            return Ok(None);
        };
        desk.permits(&plan)?;
        let answer = plan.send(tx, &desk, sent)?;
        Ok(Some((plan.then.path(&answer), plan.done)))
    }

    /// Whether a form of this place is one that the role may send. Nothing is done yet.
    pub(super) fn takes(&self, tx: &mut Tx<'_>) -> Result<Option<()>, Error> {
        let Some(desk) = Desk::open(tx, &self.asking, &self.place.account)? else {
            return Ok(None);
        };
        let Some(plan) = plans::plan(tx, &desk, &self.place)? else {
            return Ok(None);
        };
        desk.permits(&plan).map(Some)
    }

    /// The form that was refused, with what was typed, and why as far as no field is to blame.
    pub(super) fn again(
        &self,
        tx: &mut Tx<'_>,
        sent: &Sent,
        problems: &[AdsProblem],
    ) -> Result<Option<(AdsManager, Option<String>)>, Error> {
        let Some(desk) = Desk::open(tx, &self.asking, &self.place.account)? else {
            return Ok(None);
        };
        let forbidden = problems.iter().find(|one| one.code == "ACTION_NOT_ALLOWED");
        if let Some(problem) = forbidden.filter(|one| one.location == ProblemLocation::Request) {
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
    fn permits(&self, plan: &Plan) -> Result<(), Error> {
        let may = match plan.who {
            Some(who) => who.allows_role(self.role),
            None => self.may(plan.method, plan.path),
        };
        if may {
            return Ok(());
        }
        let message = "The role on this account does not allow this action";
        Err(AdsProblem::new("ACTION_NOT_ALLOWED", message).into())
    }

    /// A page with the account around it.
    fn framed(&self, part: &str, page: AdsManager) -> AdsManager {
        let id = self.account.formatted_id();
        let mine = self.accounts.iter().find(|one| one.id == id).cloned();
        let here = match part {
            "" | "line-items" | "promoted-posts" | "promoted-accounts" | "targeting"
            | "tracking-tags" | "scheduled-promoted" | "media-creatives" | "calls-to-action"
            | "categories" => "campaigns",
            "scheduled" | "drafts" => "posts",
            "account-media" => "media",
            "people" => "account",
            part if cards::is_part(part) => "cards",
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
