//! What cannot go on. None of these pages leads to where the request wanted to go.

use base::Fault;
use pages::{Compared, ErrorPage, Wrong};

use super::Visit;
use crate::call::Call;
use crate::reply::Reply;

/// The page that says so.
pub(crate) fn page(
    call: &Call,
    visit: &Visit,
    wrong: Wrong,
    app: Option<String>,
) -> Result<Reply, Fault> {
    compared(call, visit, wrong, app, Vec::new())
}

/// The same, with how an address compares with those that an app has registered.
pub(super) fn compared(
    call: &Call,
    visit: &Visit,
    wrong: Wrong,
    app: Option<String>,
    compared: Vec<Compared>,
) -> Result<Reply, Fault> {
    let status = status(&wrong);
    let page = ErrorPage {
        frame: visit.frame(call),
        wrong,
        app,
        compared,
        reference: None,
    };
    Ok(visit.page(call, &page)?.status(status))
}

const fn status(wrong: &Wrong) -> u16 {
    match wrong {
        Wrong::FormExpired | Wrong::Forbidden => 403,
        Wrong::TooMany(_) => 429,
        Wrong::NotFound => 404,
        Wrong::Broken => 500,
        _ => 400,
    }
}
