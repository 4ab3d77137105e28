//! Who is to be told of a part of the log.

use std::collections::{BTreeSet, HashMap, HashSet};

use base::{AppId, Fault};
use network::activity::{
    ActivityEventKind, RequiredFilter, event_kinds_for_log_kind, find_event_kind,
};
use query::{AccessTier, MatchMode, Matcher, PostFeatures, QueryDialect, QueryProduct};
use store::account_activity::{self, AccountSubscription};
use store::activity::{self, ActivitySubscription};
use store::apps::{self, App, AppStatus};
use store::event_log::LogEvent;
use store::{Tx, webhooks};

use super::concern::{Concern, Entry};
use super::payload::{Teller, story};
use super::{Envelope, Home, account, envelope};

/// Whose part of it.
#[derive(Clone, Debug)]
pub enum Scope {
    /// What goes to webhooks.
    Webhooks,
    /// What goes to the streams of some apps.
    Streams(HashSet<AppId>),
}

/// Subscriptions about nobody that are read at once.
const PAGE: i64 = 5_000;

/// What comes of some entries of the log, in their order.
pub fn matching(
    tx: &mut Tx<'_>,
    events: &[LogEvent],
    scope: &Scope,
    home: Home,
) -> Result<Vec<Envelope>, Fault> {
    let entries: Vec<Entry<'_>> = events.iter().filter_map(Entry::read).collect();
    let concerns: Vec<Vec<Concern>> = entries.iter().map(Entry::concerns).collect();
    let users: BTreeSet<i64> = concerns
        .iter()
        .flatten()
        .map(|one| one.user.get())
        .collect();
    let users: Vec<i64> = users.into_iter().filter(|id| *id > 0).collect();
    let mut desk = Desk {
        scope,
        home,
        apps: HashMap::new(),
        subscriptions: HashMap::new(),
        accounts: HashMap::new(),
    };
    desk.load(tx, &users)?;
    let mut all = Vec::new();
    for (entry, concerns) in entries.iter().zip(&concerns) {
        desk.of_concerns(tx, entry, concerns, &mut all)?;
        desk.of_nobody(tx, entry, &mut all)?;
        if matches!(scope, Scope::Webhooks) {
            desk.of_accounts(tx, entry, concerns, &mut all)?;
        }
    }
    Ok(all)
}

/// What is known of those who asked, for a part of the log.
struct Desk<'s> {
    scope: &'s Scope,
    home: Home,
    apps: HashMap<AppId, Option<App>>,
    /// By the user whom they are about.
    subscriptions: HashMap<i64, Vec<ActivitySubscription>>,
    accounts: HashMap<i64, Vec<AccountSubscription>>,
}

impl Desk<'_> {
    fn load(&mut self, tx: &mut Tx<'_>, users: &[i64]) -> Result<(), Fault> {
        if users.is_empty() {
            return Ok(());
        }
        let mut found = activity::list_by_users(tx, users)?;
        found.retain(|one| self.wants(one));
        found.sort_unstable_by_key(|one| one.id);
        for one in found {
            let user = one.user_id.map_or(0, base::Id::get);
            self.subscriptions.entry(user).or_default().push(one);
        }
        if matches!(self.scope, Scope::Webhooks) {
            let mut found = account_activity::list_by_users(tx, users)?;
            found.sort_unstable_by_key(|one| one.webhook_id);
            for one in found {
                self.accounts
                    .entry(one.user_id.get())
                    .or_default()
                    .push(one);
            }
        }
        Ok(())
    }

    fn wants(&self, one: &ActivitySubscription) -> bool {
        match self.scope {
            Scope::Webhooks => one.webhook_id.is_some(),
            Scope::Streams(apps) => apps.contains(&one.app_id),
        }
    }

    /// The app, unless it may not be used.
    fn app(&mut self, tx: &mut Tx<'_>, id: AppId) -> Result<Option<App>, Fault> {
        if let Some(known) = self.apps.get(&id) {
            return Ok(known.clone());
        }
        let found = apps::find_by_id(tx, id)?.filter(|app| app.state == AppStatus::Active);
        self.apps.insert(id, found.clone());
        Ok(found)
    }

    /// Tells those who asked about the users of an entry; each subscription once.
    fn of_concerns(
        &mut self,
        tx: &mut Tx<'_>,
        entry: &Entry<'_>,
        concerns: &[Concern],
        all: &mut Vec<Envelope>,
    ) -> Result<(), Fault> {
        let mut teller = Teller::new(entry);
        let mut told: HashSet<i64> = HashSet::new();
        for concern in concerns {
            let asked = self.subscriptions.get(&concern.user.get());
            let asked: Vec<ActivitySubscription> = asked
                .into_iter()
                .flatten()
                .filter(|one| answers(one, concern, entry.event))
                .cloned()
                .collect();
            for one in asked {
                if !told.insert(one.id) {
                    continue;
                }
                let Some(app) = self.app(tx, one.app_id)? else {
                    continue;
                };
                let shared = self.home.shared(&app);
                if let Some(what) = teller.tell(tx, &one, concern, shared)? {
                    all.push(sealed(
                        &one,
                        entry,
                        concern.kind,
                        teller.shown(concern.kind),
                        &what,
                    ));
                }
            }
        }
        Ok(())
    }

    /// Tells those whose subscriptions are about nobody: of stories, and of what users take back.
    fn of_nobody(
        &mut self,
        tx: &mut Tx<'_>,
        entry: &Entry<'_>,
        all: &mut Vec<Envelope>,
    ) -> Result<(), Fault> {
        for kind in event_kinds_for_log_kind(&entry.event.kind) {
            let asked = match kind.filter {
                RequiredFilter::User => continue,
                RequiredFilter::Nothing => {
                    let app = AppId::new(entry.event.subject_id);
                    activity::list_unscoped_by_app(tx, kind.name, app)?
                }
                RequiredFilter::Keyword => of_story(tx, kind, entry)?,
            };
            for one in asked {
                if !self.wants(&one) || one.created_at > entry.event.at {
                    continue;
                }
                let Some(app) = self.app(tx, one.app_id)? else {
                    continue;
                };
                let shared = self.home.shared(&app);
                let what = if kind.filter == RequiredFilter::Keyword {
                    story(tx, entry)?.map(|told| shared.story(&told))
                } else {
                    let (at, app) = (entry.event.at, entry.event.subject_id);
                    Some(shared.revoke(at, entry.actor(), app))
                };
                if let Some(what) = what {
                    all.push(sealed(&one, entry, kind, None, &what));
                }
            }
        }
        Ok(())
    }

    /// Tells the webhooks that receive all that happens to an account.
    fn of_accounts(
        &mut self,
        tx: &mut Tx<'_>,
        entry: &Entry<'_>,
        concerns: &[Concern],
        all: &mut Vec<Envelope>,
    ) -> Result<(), Fault> {
        if entry.event.kind == "oauth.revoke" {
            return self.of_revoked(tx, entry, all);
        }
        let users: BTreeSet<i64> = concerns.iter().map(|one| one.user.get()).collect();
        for user in users {
            let accounts = self.accounts.get(&user).cloned().unwrap_or_default();
            let at = entry.event.at;
            let mut body: Option<Option<account::Story>> = None;
            for account in accounts.iter().filter(|one| one.created_at <= at) {
                if self.app(tx, account.app_id)?.is_none() {
                    continue;
                }
                if body.is_none() {
                    body = Some(account::story(tx, entry, account.user_id, self.home)?);
                }
                let Some(Some(story)) = &body else { break };
                let id = envelope::id(entry.event.seq, "account", account.webhook_id, user);
                all.push(Envelope {
                    app: account.app_id,
                    webhook: Some(account.webhook_id),
                    id,
                    order: user,
                    post: story.post,
                    private: Some(account.user_id),
                    at,
                    body: story.body.clone(),
                });
            }
        }
        Ok(())
    }

    /// The subscriptions are gone by now; the entry names the webhooks that had them.
    fn of_revoked(
        &mut self,
        tx: &mut Tx<'_>,
        entry: &Entry<'_>,
        all: &mut Vec<Envelope>,
    ) -> Result<(), Fault> {
        let body = account::revoked(entry);
        for id in entry.numbers("webhook_ids") {
            let Some(webhook) = webhooks::find_by_id(tx, id)? else {
                continue;
            };
            if self.app(tx, webhook.app_id)?.is_none() {
                continue;
            }
            let user = entry.event.actor_id;
            all.push(Envelope {
                app: webhook.app_id,
                webhook: Some(id),
                id: envelope::id(entry.event.seq, "account", id, user),
                // Nothing is left that it must not overtake.
                order: 0,
                post: None,
                private: None,
                at: entry.event.at,
                body: body.clone(),
            });
        }
        Ok(())
    }
}

/// Whether a subscription asks for such an event; it is told of nothing that happened before it.
fn answers(one: &ActivitySubscription, concern: &Concern, event: &LogEvent) -> bool {
    let kind = find_event_kind(&one.event_type).map(|(kind, _)| kind.name);
    let way = one.direction.is_none_or(|way| way == concern.direction);
    kind == Some(concern.kind.name) && way && one.created_at <= event.at
}

fn sealed(
    one: &ActivitySubscription,
    entry: &Entry<'_>,
    kind: &'static ActivityEventKind,
    post: Option<base::PostId>,
    what: &view::Told,
) -> Envelope {
    let order = one.user_id.map_or(0, base::Id::get);
    let id = envelope::id(entry.event.seq, kind.name, one.id, order);
    Envelope {
        app: one.app_id,
        webhook: one.webhook_id,
        id,
        order,
        post,
        private: one.user_id.filter(|_| one.requires_consent),
        at: entry.event.at,
        body: envelope::body(one, id, what),
    }
}

/// The subscriptions whose keywords a new story meets.
fn of_story(
    tx: &mut Tx<'_>,
    kind: &'static ActivityEventKind,
    entry: &Entry<'_>,
) -> Result<Vec<ActivitySubscription>, Fault> {
    let mut met = Vec::new();
    let Some(told) = story(tx, entry)? else {
        return Ok(met);
    };
    let text = told.keywords.iter().map(String::as_str);
    let parts = [told.name.as_str(), &told.hook, &told.summary];
    let text: Vec<&str> = parts.into_iter().chain(text).collect();
    let text = text.join(" \n ");
    let topics: Vec<&str> = told.topics.iter().map(String::as_str).collect();
    let tickers: Vec<&str> = told.tickers.iter().map(String::as_str).collect();
    let post = query::QueryablePost {
        text: &text,
        hashtags: &topics,
        cashtags: &tickers,
        ..query::QueryablePost::default()
    };
    let facts = PostFeatures::new(&post, MatchMode::Stream);
    let mut after = 0;
    loop {
        let page = activity::list_unscoped(tx, kind.name, after, PAGE)?;
        let Some(last) = page.last() else {
            return Ok(met);
        };
        after = last.id;
        let mut matcher = Matcher::new();
        for one in &page {
            if let Some(query) = parsed(&one.keyword) {
                matcher.add_rule(one.id.unsigned_abs(), &query);
            }
        }
        let found: HashSet<u64> = matcher.matching_rules(&facts).into_iter().collect();
        let page = page.into_iter();
        met.extend(page.filter(|one| found.contains(&one.id.unsigned_abs())));
    }
}

/// A keyword, which was read when it was stored.
pub(super) fn parsed(keyword: &str) -> Option<query::ParsedQuery> {
    query::parse(
        keyword,
        QueryDialect::new(QueryProduct::Stream, AccessTier::Enterprise),
    )
    .ok()
}
