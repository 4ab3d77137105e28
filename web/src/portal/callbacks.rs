//! Whether an address would be accepted as a callback.

use network::portal;
use pages::{CallbackTester, Compared, Field, Tab, Verdict};

use super::Own;
use crate::call::Call;
use crate::endpoint::Pending;
use crate::pages::forms::taken;
use crate::pages::{Turn, run};
use crate::reply::Reply;

/// `GET /developer/apps/{id}/callbacks`.
pub(crate) fn ask(call: Call) -> Pending {
    run(async move {
        let own = Own::of(&call).await?;
        page(&call, &own, Field::default(), None)
    })
}

/// `POST /developer/apps/{id}/callbacks`. Nothing changes.
pub(crate) fn test(call: Call) -> Pending {
    run(async move {
        let own = Own::of(&call).await?;
        let sent = taken(&call, &own.visit).await?;
        let url = sent.text("url");
        if url.is_empty() {
            let url = Field::refused(url, "Paste an address.");
            return Ok(page(&call, &own, url, None)?.status(400));
        }
        let tested = portal::test_callback(&own.app, &url, call.home.rules.ports);
        let given = || url.clone();
        let compared = tested.comparisons.into_iter().map(|one| Compared {
            registered: one.registered,
            given: given(),
            oauth1: one.oauth1,
            oauth2: one.oauth2,
        });
        let verdict = Verdict {
            oauth1: tested.oauth1,
            oauth2: tested.oauth2,
            unfit: tested.unfit,
            compared: compared.collect(),
        };
        page(&call, &own, Field::of(&url), Some(verdict))
    })
}

fn page(call: &Call, own: &Own, url: Field, verdict: Option<Verdict>) -> Result<Reply, Turn> {
    let app = own.shown();
    let urls = own.app.callback_urls.lines();
    let page = CallbackTester {
        frame: own.visit.frame(call),
        action: Tab::Callbacks.of(&app),
        app,
        url,
        registered: urls.filter(|url| !url.is_empty()).count(),
        verdict,
    };
    Ok(own.visit.page(call, &page)?)
}
