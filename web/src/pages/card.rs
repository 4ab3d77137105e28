//! Links of cards: on to where they lead, noted as a click where a person opens one.

use ads::clicks::{self, CardClick};
use ads::serving::AdImpression;
use base::refusal::ResourceRef;
use base::{Error, PostId, Refusal};
use http::header::{CACHE_CONTROL, HeaderMap, HeaderName, HeaderValue, REFERRER_POLICY};
use store::ads::card_links::{self, CardLink};

use super::forms::Query;
use super::{Visit, run};
use crate::call::Call;
use crate::endpoint::Pending;
use crate::reply::Reply;

/// Words in the names of programs that look at links by themselves.
const MACHINES: [&str; 8] = [
    "bot",
    "crawl",
    "spider",
    "slurp",
    "preview",
    "facebookexternalhit",
    "embedly",
    "whatsapp",
];

/// `GET /c/{link}`: to where a card leads.
pub(crate) fn follow(call: Call) -> Pending {
    run(async move {
        let link = find(&call).await?;
        Ok(on(&link))
    })
}

/// `GET /c/{link}/{post}`: the same, from a post that carries the card.
pub(crate) fn follow_from(call: Call) -> Pending {
    run(async move {
        let link = find(&call).await?;
        let post: PostId = call.path_id("post")?;
        if is_person(&call) {
            let click = click(&call, post).await?;
            let opened = link.clone();
            call.write(move |tx| Ok(clicks::record_card_click(tx, &opened, &click)?))
                .await?;
        }
        Ok(on(&link))
    })
}

async fn find(call: &Call) -> Result<CardLink, Error> {
    let id = call.path_id::<()>("link")?.get();
    let found = call
        .read(move |tx| Ok(card_links::find_by_id(tx, id)?))
        .await?;
    let missing = || Refusal::NotFound(ResourceRef::new("link", "link", id));
    let found = found.filter(|link| !link.url.is_empty());
    Ok(found.ok_or_else(missing)?)
}

/// Sends a browser to the address that is stored, and to no other.
fn on(link: &CardLink) -> Reply {
    Reply::redirect(&link.url)
        .header(CACHE_CONTROL, HeaderValue::from_static("private, no-store"))
        .header(REFERRER_POLICY, HeaderValue::from_static("no-referrer"))
}

async fn click(call: &Call, post: PostId) -> Result<CardClick, Error> {
    let visit = Visit::of(call).await?;
    let key = call.home.front.config.page_key;
    let viewer = visit.person.as_ref().map_or_else(
        || clicks::anonymous_viewer_id(&key, &visit.facts.address, &visit.facts.user_agent),
        |person| person.user.id.get(),
    );
    // What cannot be read keeps nobody from where the link leads.
    let query = Query::of(call).ok();
    let token = query
        .as_ref()
        .and_then(|query| query.get("impression_token"));
    Ok(CardClick {
        post,
        viewer,
        impression: token.and_then(|token| AdImpression::decode(&key, token)),
    })
}

/// Whether a person opens the link: no program that looks ahead or around, and no page that makes
/// a browser fetch it as something else.
fn is_person(call: &Call) -> bool {
    let head = call.head();
    head.method == http::Method::GET && is_opened(&head.headers)
}

fn is_opened(headers: &HeaderMap) -> bool {
    let text = |name: &'static str| {
        let value = headers.get(HeaderName::from_static(name));
        value.map(|value| value.to_str().unwrap_or("?").to_ascii_lowercase())
    };
    let ahead = ["purpose", "sec-purpose", "x-moz", "x-purpose"]
        .into_iter()
        .filter_map(text)
        .any(|purpose| purpose.contains("prefetch") || purpose.contains("preview"));
    let inside = text("sec-fetch-dest").is_some_and(|dest| dest != "document");
    let agent = text("user-agent").filter(|agent| !agent.is_empty());
    let person = agent.is_some_and(|agent| MACHINES.iter().all(|word| !agent.contains(word)));
    person && !ahead && !inside
}

#[cfg(test)]
mod tests {
    use http::header::{HeaderMap, HeaderName, HeaderValue};

    use super::is_opened;

    #[test]
    fn machines_and_looks_ahead_are_no_clicks() {
        let opened = |pairs: &[(&'static str, &'static str)]| {
            let pairs = pairs.iter().map(|(name, value)| {
                let name = HeaderName::from_static(name);
                (name, HeaderValue::from_static(value))
            });
            is_opened(&pairs.collect::<HeaderMap>())
        };
        let browser = ("user-agent", "Mozilla/5.0 (X11; Linux x86_64)");
        assert!(opened(&[browser]));
        assert!(opened(&[browser, ("sec-fetch-dest", "document")]));
        assert!(!opened(&[]));
        assert!(!opened(&[("user-agent", "SomeBot/1.0")]));
        assert!(!opened(&[browser, ("sec-purpose", "prefetch;prerender")]));
        assert!(!opened(&[browser, ("sec-fetch-dest", "image")]));
    }
}
