//! What needs no server. The tests of the server check every page that they get, in `locum/tests/it/harness`.

mod contrast;
mod paging;

use pages::{CallbackDiff, ErrorPage, HtmlPage as _, PageErrorKind, PageFrame, STYLE};

#[test]
fn details_of_callbacks_are_for_development_worlds() {
    let [registered, submitted] = ["https://app.example/callback", "https://app.example/Callback"].map(str::to_owned);
    let page = |dev| ErrorPage {
        frame: PageFrame { dev, ..PageFrame::default() },
        kind: PageErrorKind::RedirectUnregistered,
        app: None,
        comparisons: vec![CallbackDiff {
            registered: registered.clone(),
            submitted: submitted.clone(),
            oauth1: false,
            oauth2: false,
        }],
        reference: None,
    };
    let [development, production] = [true, false].map(|dev| page(dev).render_html().unwrap());
    assert!(development.contains("They differ at character"));
    assert!(!production.contains("They differ at character") && !production.contains("/callback"));
}

#[test]
fn the_stylesheet_loads_nothing_and_has_a_name_of_its_own() {
    let style = STYLE.text;
    assert!(!style.contains("url(") && !style.contains("@import"));
    assert!(style.contains("prefers-color-scheme: dark"));
    assert!(style.contains("prefers-reduced-motion"));
    let digest = STYLE.path().strip_prefix("/assets/").and_then(|path| path.strip_suffix(".css")).unwrap();
    assert_eq!(digest.len(), 16);
    assert!(digest.bytes().any(|digit| digit != b'0'));
    assert!(digest.bytes().all(|digit| digit.is_ascii_hexdigit()));
    assert!(pages::MARK.path().strip_suffix(".svg").is_some());
}
