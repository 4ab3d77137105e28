//! Matches log entries with subscriptions.

use std::collections::{BTreeSet, HashMap, HashSet};

use base::{AppId, Fault};
use network::activity::{
    ActivityEntry, ActivityEventKind, AffectedUser, RequiredFilter, event_kinds_for_log_kind, find_event_kind,
};
use query::{AccessTier, MatchMode, Matcher, PostFeatures, QueryDialect, QueryProduct};
use store::account_activity::{self, AccountSubscription};
use store::activity::{self, ActivitySubscription};
use store::apps::{self, App, AppStatus};
use store::event_log::LogEvent;
use store::{Tx, webhooks};

use super::payload::{PayloadBuilder, load_story};
use super::{ActivityConfig, EventEnvelope, account_events, envelope};

#[derive(Clone, Debug)]
pub enum ActivityScope {
    Webhooks,
    Streams(HashSet<AppId>),
}

/// Global subscriptions read at a time.
const PAGE_SIZE: i64 = 5_000;

/// The events for some log entries, in order.
pub fn match_events(
    tx: &mut Tx<'_>,
    events: &[LogEvent],
    scope: &ActivityScope,
    config: ActivityConfig,
) -> Result<Vec<EventEnvelope>, Fault> {
    let entries: Vec<ActivityEntry<'_>> = events.iter().filter_map(ActivityEntry::parse).collect();
    let concerns: Vec<Vec<AffectedUser>> = entries.iter().map(ActivityEntry::affected_users).collect();
    let users: BTreeSet<i64> = concerns.iter().flatten().map(|one| one.user.get()).collect();
    let users: Vec<i64> = users.into_iter().filter(|id| *id > 0).collect();
    let mut matcher = SubscriptionMatcher {
        scope,
        config,
        apps: HashMap::new(),
        subscriptions: HashMap::new(),
        accounts: HashMap::new(),
    };
    matcher.load_subscriptions(tx, &users)?;
    let mut all = Vec::new();
    for (entry, concerns) in entries.iter().zip(&concerns) {
        matcher.match_user_subscriptions(tx, entry, concerns, &mut all)?;
        matcher.match_global_subscriptions(tx, entry, &mut all)?;
        if matches!(scope, ActivityScope::Webhooks) {
            matcher.match_account_webhooks(tx, entry, concerns, &mut all)?;
        }
    }
    Ok(all)
}

/// Subscriptions loaded for a part of the log.
struct SubscriptionMatcher<'s> {
    scope: &'s ActivityScope,
    config: ActivityConfig,
    apps: HashMap<AppId, Option<App>>,
    /// By affected user.
    subscriptions: HashMap<i64, Vec<ActivitySubscription>>,
    accounts: HashMap<i64, Vec<AccountSubscription>>,
}

impl SubscriptionMatcher<'_> {
    fn load_subscriptions(&mut self, tx: &mut Tx<'_>, users: &[i64]) -> Result<(), Fault> {
        if users.is_empty() {
            return Ok(());
        }
        let mut found = activity::list_by_users(tx, users)?;
        found.retain(|one| self.is_in_scope(one));
        found.sort_unstable_by_key(|one| one.id);
        for one in found {
            let user = one.user_id.map_or(0, base::Id::get);
            self.subscriptions.entry(user).or_default().push(one);
        }
        if matches!(self.scope, ActivityScope::Webhooks) {
            let mut found = account_activity::list_by_users(tx, users)?;
            found.sort_unstable_by_key(|one| one.webhook_id);
            for one in found {
                self.accounts.entry(one.user_id.get()).or_default().push(one);
            }
        }
        Ok(())
    }

    fn is_in_scope(&self, subscription: &ActivitySubscription) -> bool {
        match self.scope {
            ActivityScope::Webhooks => subscription.webhook_id.is_some(),
            ActivityScope::Streams(apps) => apps.contains(&subscription.app_id),
        }
    }

    /// Loads an app; `None` if it is suspended.
    fn load_active_app(&mut self, tx: &mut Tx<'_>, id: AppId) -> Result<Option<App>, Fault> {
        if let Some(known) = self.apps.get(&id) {
            return Ok(known.clone());
        }
        let found = apps::find_by_id(tx, id)?.filter(|app| app.state == AppStatus::Active);
        self.apps.insert(id, found.clone());
        Ok(found)
    }

    /// Matches the subscriptions about the affected users; each subscription matches once.
    fn match_user_subscriptions(
        &mut self,
        tx: &mut Tx<'_>,
        entry: &ActivityEntry<'_>,
        concerns: &[AffectedUser],
        events: &mut Vec<EventEnvelope>,
    ) -> Result<(), Fault> {
        let mut builder = PayloadBuilder::new(entry);
        let mut delivered: HashSet<i64> = HashSet::new();
        for concern in concerns {
            let subscriptions = self.subscriptions.get(&concern.user.get());
            let subscriptions: Vec<ActivitySubscription> = subscriptions
                .into_iter()
                .flatten()
                .filter(|one| subscription_matches(one, concern, entry.event))
                .cloned()
                .collect();
            for one in subscriptions {
                if !delivered.insert(one.id) {
                    continue;
                }
                let Some(app) = self.load_active_app(tx, one.app_id)? else {
                    continue;
                };
                let shared = self.config.renderer_for_app(&app);
                if let Some(payload) = builder.build_payload(tx, &one, concern, shared)? {
                    events.push(build_envelope(
                        &one,
                        entry,
                        concern.kind,
                        builder.shown_post_id(concern.kind),
                        &payload,
                    ));
                }
            }
        }
        Ok(())
    }

    /// Matches subscriptions that are about no user: news stories and revocations.
    fn match_global_subscriptions(
        &mut self,
        tx: &mut Tx<'_>,
        entry: &ActivityEntry<'_>,
        events: &mut Vec<EventEnvelope>,
    ) -> Result<(), Fault> {
        for kind in event_kinds_for_log_kind(&entry.event.kind) {
            let subscriptions = match kind.filter {
                RequiredFilter::User => continue,
                RequiredFilter::Nothing => {
                    let app = AppId::new(entry.event.subject_id);
                    activity::list_unscoped_by_app(tx, kind.name, app)?
                }
                RequiredFilter::Keyword => story_subscriptions(tx, kind, entry)?,
            };
            for one in subscriptions {
                if !self.is_in_scope(&one) || one.created_at > entry.event.at {
                    continue;
                }
                let Some(app) = self.load_active_app(tx, one.app_id)? else {
                    continue;
                };
                let shared = self.config.renderer_for_app(&app);
                let payload = if kind.filter == RequiredFilter::Keyword {
                    load_story(tx, entry)?.map(|story| shared.render_story(&story))
                } else {
                    let (at, app) = (entry.event.at, entry.event.subject_id);
                    Some(shared.render_revocation(at, entry.actor(), app))
                };
                if let Some(payload) = payload {
                    events.push(build_envelope(&one, entry, kind, None, &payload));
                }
            }
        }
        Ok(())
    }

    /// Matches webhooks that receive all activity of an account.
    fn match_account_webhooks(
        &mut self,
        tx: &mut Tx<'_>,
        entry: &ActivityEntry<'_>,
        concerns: &[AffectedUser],
        events: &mut Vec<EventEnvelope>,
    ) -> Result<(), Fault> {
        if entry.event.kind == "oauth.revoke" {
            return self.match_revoked_accounts(tx, entry, events);
        }
        let users: BTreeSet<i64> = concerns.iter().map(|one| one.user.get()).collect();
        for user in users {
            let accounts = self.accounts.get(&user).cloned().unwrap_or_default();
            let at = entry.event.at;
            let mut body: Option<Option<account_events::AccountEventBody>> = None;
            for account in accounts.iter().filter(|one| one.created_at <= at) {
                if self.load_active_app(tx, account.app_id)?.is_none() {
                    continue;
                }
                if body.is_none() {
                    body = Some(account_events::render_account_event(tx, entry, account.user_id, self.config)?);
                }
                let Some(Some(event)) = &body else { break };
                let id = envelope::event_id(entry.event.seq, "account", account.webhook_id, user);
                events.push(EventEnvelope {
                    app: account.app_id,
                    webhook: Some(account.webhook_id),
                    subscription_id: None,
                    seq: entry.event.seq,
                    id,
                    order_key: user,
                    post_id: event.post_id,
                    consenting_user: Some(account.user_id),
                    at,
                    body: event.body.clone(),
                });
            }
        }
        Ok(())
    }

    /// A revocation has deleted the subscriptions; the entry names the webhooks that had them.
    fn match_revoked_accounts(
        &mut self,
        tx: &mut Tx<'_>,
        entry: &ActivityEntry<'_>,
        events: &mut Vec<EventEnvelope>,
    ) -> Result<(), Fault> {
        let body = account_events::render_revocation(entry);
        for id in entry.number_list("webhook_ids") {
            let Some(webhook) = webhooks::find_by_id(tx, id)? else {
                continue;
            };
            if self.load_active_app(tx, webhook.app_id)?.is_none() {
                continue;
            }
            let user = entry.event.actor_id;
            events.push(EventEnvelope {
                app: webhook.app_id,
                webhook: Some(id),
                subscription_id: None,
                seq: entry.event.seq,
                id: envelope::event_id(entry.event.seq, "account", id, user),
                // No earlier event is left to be ordered with.
                order_key: 0,
                post_id: None,
                consenting_user: None,
                at: entry.event.at,
                body: body.clone(),
            });
        }
        Ok(())
    }
}

/// Whether a subscription matches an event. Events before the subscription never match.
fn subscription_matches(subscription: &ActivitySubscription, concern: &AffectedUser, event: &LogEvent) -> bool {
    let kind = find_event_kind(&subscription.event_type).map(|(kind, _)| kind.name);
    let direction_matches = subscription.direction.is_none_or(|direction| direction == concern.direction);
    kind == Some(concern.kind.name) && direction_matches && subscription.created_at <= event.at
}

fn build_envelope(
    subscription: &ActivitySubscription,
    entry: &ActivityEntry<'_>,
    kind: &'static ActivityEventKind,
    post: Option<base::PostId>,
    payload: &view::EventPayload,
) -> EventEnvelope {
    let order = subscription.user_id.map_or(0, base::Id::get);
    let id = envelope::event_id(entry.event.seq, kind.name, subscription.id, order);
    EventEnvelope {
        app: subscription.app_id,
        webhook: subscription.webhook_id,
        subscription_id: Some(subscription.id),
        seq: entry.event.seq,
        id,
        order_key: order,
        post_id: post,
        consenting_user: subscription.user_id.filter(|_| subscription.requires_consent),
        at: entry.event.at,
        body: envelope::event_body(subscription, id, payload),
    }
}

/// The subscriptions with keywords that match a new story.
fn story_subscriptions(
    tx: &mut Tx<'_>,
    kind: &'static ActivityEventKind,
    entry: &ActivityEntry<'_>,
) -> Result<Vec<ActivitySubscription>, Fault> {
    let mut met = Vec::new();
    let Some(story) = load_story(tx, entry)? else {
        return Ok(met);
    };
    let text = story.keywords.iter().map(String::as_str);
    let parts = [story.name.as_str(), &story.hook, &story.summary];
    let text: Vec<&str> = parts.into_iter().chain(text).collect();
    let text = text.join(" \n ");
    let topics: Vec<&str> = story.topics.iter().map(String::as_str).collect();
    let tickers: Vec<&str> = story.tickers.iter().map(String::as_str).collect();
    let post =
        query::QueryablePost { text: &text, hashtags: &topics, cashtags: &tickers, ..query::QueryablePost::default() };
    let facts = PostFeatures::new(&post, MatchMode::Stream);
    let mut after = 0;
    loop {
        let page = activity::list_unscoped(tx, kind.name, after, PAGE_SIZE)?;
        let Some(last) = page.last() else {
            return Ok(met);
        };
        after = last.id;
        let mut matcher = Matcher::new();
        for one in &page {
            if let Some(query) = parse_keyword(&one.keyword) {
                matcher.add_rule(one.id.unsigned_abs(), &query);
            }
        }
        let found: HashSet<u64> = matcher.matching_rules(&facts).into_iter().collect();
        let page = page.into_iter();
        met.extend(page.filter(|one| found.contains(&one.id.unsigned_abs())));
    }
}

/// Parses a keyword, which was validated when it was stored.
pub(super) fn parse_keyword(keyword: &str) -> Option<query::ParsedQuery> {
    query::parse(keyword, QueryDialect::new(QueryProduct::Stream, AccessTier::Enterprise)).ok()
}
