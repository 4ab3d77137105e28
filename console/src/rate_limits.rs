//! Rate limits of the running server: what is used, and what a tester changes.

use std::collections::{HashMap, HashSet};

use ads_engine::AdsOperation;
use base::clock::wall_time;
use base::{AppId, Error, Refusal, Time, UserId, sorted_distinct};
use network::lookup;
use serde_json::{Value, json};
use store::Tx;
use web::endpoint::{Endpoint, RateWindow};
use web::limits::{LimitCounter, RateLimitMode, RateLimitSubject, WindowUsage, operation_number};
use web::request_context::RequestContext;
use web::router::endpoint_label;

use crate::endpoint_lookup::{find_endpoint, is_listed};

pub(crate) const MODES: &[&str] = &["table", "relaxed", "off", "scale"];
pub(crate) const MAX_FACTOR: i64 = 1_000_000;
/// Windows that are exhausted at once.
const MAX_EXHAUSTED: usize = 1_000;
const QUARTER_HOUR_SECONDS: u32 = 900;

/// What a tester typed; empty texts name nothing.
#[derive(Clone, Debug, Default)]
pub(crate) struct LimitTarget {
    pub(crate) endpoint: Option<String>,
    pub(crate) app: Option<String>,
    pub(crate) user: Option<String>,
}

#[derive(Clone, Debug)]
pub(crate) struct LimitWindow {
    /// Method and path, or the name of a window that operations share.
    pub(crate) operation: String,
    /// For example "demo", "@ada" or an address.
    pub(crate) subject: String,
    pub(crate) app: Option<String>,
    pub(crate) user: Option<String>,
    pub(crate) seconds: u32,
    pub(crate) limit: u32,
    pub(crate) remaining: u32,
    pub(crate) resets: Time,
}

impl LimitWindow {
    pub(crate) fn to_json(&self) -> Value {
        json!({
            "operation": self.operation,
            "subject": self.subject,
            "app": self.app,
            "user": self.user,
            "window_seconds": self.seconds,
            "limit": self.limit,
            "remaining": self.remaining,
            "reset": self.resets.ms().saturating_add(999).div_euclid(1000),
            "resets_at": self.resets.to_string(),
        })
    }
}

/// A target whose names were found.
#[derive(Clone, Copy, Debug, Default)]
struct ResolvedTarget {
    operation: Option<(usize, &'static Endpoint)>,
    app: Option<AppId>,
    user: Option<UserId>,
}

impl ResolvedTarget {
    fn includes_subject(&self, subject: RateLimitSubject) -> bool {
        let fits_app = self.app.is_none_or(|app| subject.belongs_to_app(app.get()));
        let fits_user =
            self.user.is_none_or(|user| matches!(subject, RateLimitSubject::User(_, id) if id == user.get()));
        fits_app && fits_user
    }

    fn includes_counter(&self, counter: LimitCounter) -> bool {
        self.operation.is_none_or(|(number, endpoint)| match counter {
            LimitCounter::Operation(counted) => operation_number(counted) == number,
            LimitCounter::Shared(shared) => endpoint.limits.shared == Some(shared),
        })
    }
}

async fn resolve_target(call: &RequestContext, target: LimitTarget) -> Result<ResolvedTarget, Error> {
    let operation = target.endpoint.map(|endpoint| find_endpoint(&call.state, &endpoint)).transpose()?;
    let (app, user) = (target.app, target.user);
    let names = call.read(move |tx| {
        let app = app.as_deref().map(|app| lookup::app(tx, app)).transpose()?;
        let user = user.as_deref().map(|user| lookup::user(tx, user)).transpose()?;
        Ok((app.map(|app| app.id), user.map(|user| user.id)))
    });
    let (app, user) = names.await?;
    Ok(ResolvedTarget { operation, app, user })
}

pub(crate) fn current_mode(call: &RequestContext) -> (&'static str, Option<u32>) {
    match call.state.limiter.mode() {
        RateLimitMode::Off => ("off", None),
        RateLimitMode::Table => ("table", None),
        RateLimitMode::Relaxed => ("relaxed", None),
        RateLimitMode::Scale(factor) => ("scale", Some(factor)),
    }
}

pub(crate) fn change_mode(call: &RequestContext, mode: &str, factor: Option<i64>) -> Result<(), Error> {
    let invalid = |name, value: String, message: String| Err(Refusal::invalid_parameter(name, value, message).into());
    let mode = match (mode, factor) {
        ("scale", Some(factor)) => {
            let usable = u32::try_from(factor).ok().filter(|_| (1..=MAX_FACTOR).contains(&factor));
            let Some(factor) = usable else {
                let message = format!("the factor must be a whole number from 1 to {MAX_FACTOR}");
                return invalid("factor", factor.to_string(), message);
            };
            RateLimitMode::Scale(factor)
        }
        ("scale", None) => {
            let message = format!("scale needs a factor from 1 to {MAX_FACTOR}");
            return invalid("factor", String::new(), message);
        }
        (_, Some(factor)) => {
            return invalid("factor", factor.to_string(), format!("{mode} has no factor; scale has one"));
        }
        ("off", None) => RateLimitMode::Off,
        ("table", None) => RateLimitMode::Table,
        ("relaxed", None) => RateLimitMode::Relaxed,
        _ => {
            let message = format!("[{mode}] is not a mode; available modes: {}", MODES.join(", "));
            return invalid("mode", mode.to_owned(), message);
        }
    };
    call.state.limiter.set_mode(mode);
    Ok(())
}

/// The windows in which calls were counted; the most used come first.
pub(crate) async fn list_windows(call: &RequestContext, target: LimitTarget) -> Result<Vec<LimitWindow>, Error> {
    let target = resolve_target(call, target).await?;
    let windows = |subject, operation| call.state.limit_windows(subject, operation);
    let limiter = &call.state.limiter;
    let mut usage = limiter.open_windows(|subject| target.includes_subject(subject), windows, wall_time());
    usage.retain(|one| target.includes_counter(one.counter));
    let mut windows = describe_windows(call, usage).await?;
    windows.sort_by_cached_key(|window| {
        let left = u64::from(window.remaining).saturating_mul(1000) / u64::from(window.limit.max(1));
        (left, window.operation.clone(), window.subject.clone(), window.seconds)
    });
    Ok(windows)
}

/// Uses up a window of an endpoint: of the user and app that are named, or of everyone that could call it. Without
/// `seconds`, the window that responses show.
pub(crate) async fn exhaust(
    call: &RequestContext,
    target: LimitTarget,
    seconds: Option<i64>,
) -> Result<Vec<LimitWindow>, Error> {
    let target = resolve_target(call, target).await?;
    let Some((operation, endpoint)) = target.operation else {
        return Err(Refusal::missing_parameter("endpoint").into());
    };
    if call.state.limiter.is_disabled() {
        let detail = "Rate limits are off, so that none can be exhausted: turn them on with `locum limits table`.";
        return Err(Refusal::forbidden(detail).into());
    }
    let subjects = call.read(move |tx| list_subjects(tx, &target, endpoint)).await?;
    if subjects.len() > MAX_EXHAUSTED {
        let message = format!("more than {MAX_EXHAUSTED} callers have such a window: name an app or a user");
        return Err(Refusal::invalid_parameter("app", "", message).into());
    }
    let counters = |subject| list_counters(subject, operation, endpoint).into_iter();
    let choose = |subject: RateLimitSubject| {
        counters(subject)
            .find_map(|(counter, windows)| Some(((subject, counter), windows, choose_window(windows, seconds)?)))
    };
    let chosen: Vec<_> = subjects.iter().copied().filter_map(choose).collect();
    if chosen.is_empty() {
        let windows = subjects.into_iter().flat_map(counters).flat_map(|(_, windows)| windows);
        return Err(no_window_refusal(endpoint, windows, seconds).into());
    }
    let now = wall_time();
    let exhaust_window = |(key, windows, window)| call.state.limiter.exhaust(key, windows, window, now);
    describe_windows(call, chosen.into_iter().filter_map(exhaust_window).collect()).await
}

/// The endpoint's own windows, and the one that it shares with others.
fn list_counters(
    subject: RateLimitSubject,
    operation: usize,
    endpoint: &Endpoint,
) -> Vec<(LimitCounter, &'static [RateWindow])> {
    let quota = endpoint.quota(subject);
    let own = (LimitCounter::Operation(operation), quota.windows);
    let shared = quota.shared.map(|shared| (LimitCounter::Shared(shared), std::slice::from_ref(&shared.window)));
    if endpoint.verifies_app {
        // The window of app-only tokens is what such a caller meets first.
        shared.into_iter().chain([own]).collect()
    } else {
        [own].into_iter().chain(shared).collect()
    }
}

/// Without `seconds`, the window that responses show.
fn choose_window(windows: &[RateWindow], seconds: Option<i64>) -> Option<RateWindow> {
    let with_length = |seconds: u32| windows.iter().copied().find(|window| window.seconds == seconds);
    match seconds {
        Some(seconds) => with_length(u32::try_from(seconds).ok()?),
        None => with_length(QUARTER_HOUR_SECONDS).or_else(|| windows.first().copied()),
    }
}

/// `windows` are those of the callers.
fn no_window_refusal(
    endpoint: &Endpoint,
    windows: impl Iterator<Item = &'static RateWindow>,
    seconds: Option<i64>,
) -> Refusal {
    let label = endpoint_label(endpoint);
    let lengths = sorted_distinct(windows.map(|window| window.seconds));
    let lengths: Vec<String> = lengths.iter().map(ToString::to_string).collect();
    match seconds {
        Some(seconds) if !lengths.is_empty() => {
            let message = format!(
                "[{label}] has no window of {seconds} s for these callers; windows in seconds: {}",
                lengths.join(", ")
            );
            Refusal::invalid_parameter("window_seconds", seconds.to_string(), message)
        }
        _ => {
            let message = format!("[{label}] has no limit for these callers");
            Refusal::invalid_parameter("endpoint", label, message)
        }
    }
}

/// The apps, and the users with tokens of each app, whose calls of an endpoint are counted; where only the ads account
/// is limited, the accounts of these users.
fn list_subjects(
    tx: &mut Tx<'_>,
    target: &ResolvedTarget,
    endpoint: &Endpoint,
) -> Result<Vec<RateLimitSubject>, Error> {
    let mut subjects = Vec::new();
    let is_limited_by_account = endpoint.ads.is_some_and(AdsOperation::is_limited_per_account_only);
    for app in identity::apps::list(tx, None)? {
        if target.app.is_some_and(|id| id != app.id) {
            continue;
        }
        let app_only = RateLimitSubject::App(app.id.get());
        if target.user.is_none() && !endpoint.quota(app_only).is_empty() {
            subjects.push(app_only);
        }
        let users = match target.user {
            Some(user) => vec![user],
            None => store::tokens::list_users_of_app(tx, app.id, i64::try_from(MAX_EXHAUSTED).unwrap_or(i64::MAX))?,
        };
        if is_limited_by_account {
            for user in users {
                let accounts = store::ads::list_access_by_user(tx, user)?;
                subjects.extend(accounts.iter().map(|access| RateLimitSubject::Account(access.account_id)));
            }
        } else {
            let users = users.into_iter().map(|user| RateLimitSubject::User(app.id.get(), user.get()));
            subjects.extend(users.filter(|user| !endpoint.quota(*user).is_empty()));
        }
        if subjects.len() > MAX_EXHAUSTED {
            break;
        }
    }
    // Users of one account, and apps of one user.
    let mut seen = HashSet::new();
    subjects.retain(|subject| seen.insert(*subject));
    Ok(subjects)
}

/// Forgets counted calls; returns the number of callers and operations.
pub(crate) async fn reset(call: &RequestContext, target: LimitTarget) -> Result<usize, Error> {
    let target = resolve_target(call, target).await?;
    let is_reset = |subject, counter| target.includes_subject(subject) && target.includes_counter(counter);
    let windows = |subject, operation| call.state.limit_windows(subject, operation);
    call.state.limiter.reset(is_reset, windows).await
}

async fn describe_windows(call: &RequestContext, usage: Vec<WindowUsage>) -> Result<Vec<LimitWindow>, Error> {
    let subjects: Vec<RateLimitSubject> = usage.iter().map(|one| one.subject).collect();
    let names = call.read(move |tx| SubjectNames::load(tx, &subjects)).await?;
    let endpoints = &call.state.endpoints;
    let described = usage.into_iter().filter_map(|one| {
        let operation = match one.counter {
            LimitCounter::Operation(number) => {
                endpoint_label(endpoints.get(operation_number(number)).filter(|endpoint| is_listed(endpoint))?)
            }
            LimitCounter::Shared(shared) => shared.name.to_owned(),
        };
        let (app, user, subject) = names.describe(one.subject);
        Some(LimitWindow {
            operation,
            subject,
            app,
            user,
            seconds: one.seconds,
            limit: one.limit,
            remaining: one.limit.saturating_sub(one.used),
            resets: one.resets,
        })
    });
    Ok(described.collect())
}

struct SubjectNames {
    apps: HashMap<i64, String>,
    users: HashMap<i64, String>,
}

impl SubjectNames {
    fn load(tx: &mut Tx<'_>, subjects: &[RateLimitSubject]) -> Result<Self, Error> {
        let apps = identity::apps::list(tx, None)?.into_iter().map(|app| (app.id.get(), app.name)).collect();
        let users = subjects.iter().filter_map(|subject| match subject {
            RateLimitSubject::User(_, user) => Some(UserId::new(*user)),
            _ => None,
        });
        let users: Vec<UserId> = sorted_distinct(users);
        let users = store::users::find_by_ids(tx, &users)?;
        let users = users.into_iter().map(|user| (user.id.get(), format!("@{}", user.username))).collect();
        Ok(Self { apps, users })
    }

    /// The app, the user, and both in words.
    fn describe(&self, subject: RateLimitSubject) -> (Option<String>, Option<String>, String) {
        let app_name = |id: i64| self.apps.get(&id).cloned().unwrap_or_else(|| id.to_string());
        match subject {
            RateLimitSubject::App(app) => (Some(app_name(app)), None, format!("{}, app-only", app_name(app))),
            RateLimitSubject::User(app, user) => {
                let name = self.users.get(&user).cloned().unwrap_or_else(|| user.to_string());
                (Some(app_name(app)), Some(name.clone()), format!("{}, {name}", app_name(app)))
            }
            RateLimitSubject::Account(account) => {
                (None, None, format!("ads account {}", base::id::format_base36(account)))
            }
            RateLimitSubject::PublicClient(app, address) => {
                (Some(app_name(app)), None, format!("{}, {address}", app_name(app)))
            }
            RateLimitSubject::Address(address) => (None, None, address.to_string()),
        }
    }
}
