//! What an app has used of its limits.

use std::collections::HashMap;

use base::clock::wall_time;
use base::{Time, UserId, Vocabulary};
use network::portal;
use network::usage::WINDOW_MS;
use pages::{Notice, Pager, Usage, Window};

use super::{Own, heard};
use crate::call::Call;
use crate::endpoint::{Endpoint, Pending};
use crate::limits::{Counted, Counter, Pool};
use crate::operations::ENDPOINTS;
use crate::pages::{Turn, run};
use crate::router::spell;

/// Windows on the page at most.
const MOST: usize = 200;

/// `GET /developer/apps/{id}/usage`.
pub(crate) fn show(call: Call) -> Pending {
    run(async move {
        let own = Own::of(&call).await?;
        let mut frame = own.visit.frame(&call);
        // Limits follow the machine's clock.
        frame.now = wall_time();
        let mut windows = if call.home.limiter.is_off() {
            let text = "Rate limits are off: calls are counted, and nobody is refused.";
            frame.notices.push(Notice::plain(text));
            noted(&call, &own).await?
        } else {
            counted(&call, &own).await?
        };
        windows.sort_by_key(|window| {
            let share = window.used.saturating_mul(1000) / window.limit.max(1);
            (std::cmp::Reverse(share), window.operation.clone())
        });
        windows.truncate(MOST);
        let page = Usage {
            frame,
            app: own.shown(),
            windows,
            pager: Pager::default(),
        };
        Ok(own.visit.page(&call, &page)?)
    })
}

fn spelled(endpoint: &Endpoint) -> String {
    format!(
        "{} {}",
        endpoint.method,
        spell(endpoint.path, Vocabulary::Post)
    )
}

/// The windows that calls are held against.
async fn counted(call: &Call, own: &Own) -> Result<Vec<Window>, Turn> {
    let all: Vec<&Endpoint> = ENDPOINTS.iter().copied().flatten().collect();
    let windows = |pool: Pool, operation: usize| {
        let limits = all.get(operation).map(|endpoint| endpoint.limits);
        limits.map_or(&[][..], |limits| match pool {
            Pool::User(..) => limits.user,
            _ => limits.app,
        })
    };
    let counted = call
        .home
        .limiter
        .of_app(own.app.id.get(), windows, wall_time());
    let names = names(call, &counted).await?;
    let shown = counted.into_iter().filter_map(|one| {
        let counts = match one.pool {
            Pool::User(_, user) => names.get(&user).cloned().unwrap_or_default(),
            _ => "the app".to_owned(),
        };
        Some(Window {
            operation: match one.counter {
                Counter::Operation(number) => spelled(all.get(number)?),
                Counter::Shared(shared) => shared.name.to_owned(),
            },
            counts,
            seconds: i64::from(one.seconds),
            used: u64::from(one.used),
            limit: u64::from(one.limit),
            resets: one.resets,
        })
    });
    Ok(shown.collect())
}

async fn names(call: &Call, counted: &[Counted]) -> Result<HashMap<i64, String>, Turn> {
    let users = counted.iter().filter_map(|one| match one.pool {
        Pool::User(_, user) => Some(UserId::new(user)),
        _ => None,
    });
    let mut users: Vec<UserId> = users.collect();
    users.sort_unstable();
    users.dedup();
    let work = move |tx: &mut store::Tx<'_>| {
        let mut names = HashMap::new();
        for id in &users {
            let user = store::users::find_by_id(tx, *id)?;
            let name = user.map_or_else(|| id.to_string(), |user| format!("@{}", user.username));
            names.insert(id.get(), name);
        }
        Ok(names)
    };
    Ok(call.read(work).await?)
}

/// Where nothing is limited: the calls of the current window as they were written down.
async fn noted(call: &Call, own: &Own) -> Result<Vec<Window>, Turn> {
    let (owner, id) = (own.person.user.id, own.app.id);
    let now = wall_time().ms();
    let from = Time::from_ms(now.saturating_sub(now.rem_euclid(WINDOW_MS)));
    let used = call
        .read(move |tx| portal::load_usage(tx, owner, id, from))
        .await;
    let used = heard(call, &own.visit, used)?;
    let shown = used.calls.into_iter().filter_map(|calls| {
        let mut all = ENDPOINTS.iter().copied().flatten();
        let endpoint = all.find(|endpoint| endpoint.id == calls.operation)?;
        let quarter = |windows: &[crate::endpoint::Window]| {
            let found = windows.iter().find(|window| window.seconds == 900);
            found.or(windows.first()).map(|window| window.calls)
        };
        let limit = quarter(endpoint.limits.app).or(quarter(endpoint.limits.user));
        Some(Window {
            operation: spelled(endpoint),
            counts: "all calls".to_owned(),
            seconds: WINDOW_MS / 1000,
            used: u64::try_from(calls.calls).unwrap_or(0),
            limit: u64::from(limit.unwrap_or(0)),
            resets: from.plus_ms(WINDOW_MS),
        })
    });
    Ok(shown.collect())
}
