//! An app's use of its rate limits.

use std::collections::HashMap;

use base::clock::wall_time;
use base::{Time, UserId, sorted_distinct};
use identity::developer_apps;
use network::usage::WINDOW_MS;
use pages::{AppUsagePage, Notice, Pager, UsageWindow};
use web::limits::{LimitCounter, RateLimitSubject, WindowUsage, operation_number};
use web::request_context::{HttpReply, RequestContext};
use web::router::endpoint_label;

use super::{OwnedApp, outcome_or_page};
use crate::site::PageExit;

const MAX_WINDOWS: usize = 200;

pub(crate) async fn show(call: RequestContext) -> Result<HttpReply, PageExit> {
    let own = OwnedApp::from_call(&call).await?;
    let mut frame = own.visit.page_frame(&call);
    // Rate limits use the wall clock.
    frame.now.at = wall_time();
    let mut windows = if call.state.limiter.is_disabled() {
        let text = "Rate limits are off: requests are counted but never rejected.";
        frame.notices.push(Notice::info(text));
        recorded_windows(&call, &own).await?
    } else {
        limiter_windows(&call, &own).await?
    };
    windows.sort_by_key(|window| {
        let share = window.used.saturating_mul(1000) / window.limit.max(1);
        (std::cmp::Reverse(share), window.operation.clone())
    });
    windows.truncate(MAX_WINDOWS);
    let page = AppUsagePage { frame, app: own.app_ref(), windows, pager: Pager::default() };
    Ok(own.visit.render_page(&call, &page)?)
}

async fn limiter_windows(call: &RequestContext, own: &OwnedApp) -> Result<Vec<UsageWindow>, PageExit> {
    let all = &call.state.endpoints;
    let windows = |subject, operation| call.state.limit_windows(subject, operation);
    let counted = call.state.limiter.app_usage(own.app.id.get(), windows, wall_time());
    let names = load_user_names(call, &counted).await?;
    let shown = counted.into_iter().filter_map(|one| {
        let counts = match one.subject {
            RateLimitSubject::User(_, user) => names.get(&user).cloned().unwrap_or_default(),
            RateLimitSubject::PublicClient(..) => "one of its clients".to_owned(),
            _ => "the app".to_owned(),
        };
        Some(UsageWindow {
            operation: match one.counter {
                LimitCounter::Operation(number) => endpoint_label(all.get(operation_number(number))?),
                LimitCounter::Shared(shared) => shared.name.to_owned(),
            },
            counted_for: counts,
            seconds: i64::from(one.seconds),
            used: u64::from(one.used),
            limit: u64::from(one.limit),
            resets: one.resets,
        })
    });
    Ok(shown.collect())
}

async fn load_user_names(call: &RequestContext, counted: &[WindowUsage]) -> Result<HashMap<i64, String>, PageExit> {
    let users = counted.iter().filter_map(|one| match one.subject {
        RateLimitSubject::User(_, user) => Some(UserId::new(user)),
        _ => None,
    });
    let users: Vec<UserId> = sorted_distinct(users);
    let work = move |tx: &mut store::Tx<'_>| {
        let mut names: HashMap<i64, String> = users.iter().map(|id| (id.get(), id.to_string())).collect();
        for user in store::users::find_by_ids(tx, &users)? {
            names.insert(user.id.get(), format!("@{}", user.username));
        }
        Ok(names)
    };
    Ok(call.read(work).await?)
}

/// With rate limits off: the recorded requests of the current window.
async fn recorded_windows(call: &RequestContext, own: &OwnedApp) -> Result<Vec<UsageWindow>, PageExit> {
    let (owner, id) = (own.visit.person.user.id, own.app.id);
    let now = wall_time().ms();
    let from = Time::from_ms(now.saturating_sub(now.rem_euclid(WINDOW_MS)));
    let used = call.read(move |tx| developer_apps::load_usage(tx, owner, id, from)).await;
    let used = outcome_or_page(call, &own.visit, used)?;
    let shown = used.calls.into_iter().filter_map(|calls| {
        let endpoint = call.state.endpoints.iter().find(|endpoint| endpoint.id == calls.operation)?;
        let quarter = |windows: &[web::endpoint::RateWindow]| {
            let found = windows.iter().find(|window| window.seconds == 900);
            found.or(windows.first()).map(|window| window.calls)
        };
        let limit = quarter(endpoint.limits.app).or(quarter(endpoint.limits.user));
        Some(UsageWindow {
            operation: endpoint_label(endpoint),
            counted_for: "all requests".to_owned(),
            seconds: WINDOW_MS / 1000,
            used: u64::try_from(calls.calls).unwrap_or(0),
            limit: u64::from(limit.unwrap_or(0)),
            resets: from.plus_ms(WINDOW_MS),
        })
    });
    Ok(shown.collect())
}
