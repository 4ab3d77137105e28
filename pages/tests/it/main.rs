//! Every page in every state: well-formed, accessible, inert.
#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "helpers of tests fail the test")]

mod contrast;
mod document;
mod page_names;
mod paging;
mod samples;

use document::{Document, Element};
use page_names::declared_page_names;
use pages::STYLE;
use samples::all_samples;
use std::collections::{BTreeSet, HashSet};

fn documents() -> Vec<(String, Document)> {
    all_samples()
        .unwrap()
        .into_iter()
        .map(|sample| {
            let document = Document::read(&sample.html).unwrap_or_else(|fault| panic!("{}: {fault}", sample.name));
            (sample.name, document)
        })
        .collect()
}

fn each(element: &str, check: impl Fn(&str, &Document, &Element)) {
    let mut seen = 0;
    for (name, document) in documents() {
        for found in document.elements(element) {
            seen += 1;
            check(&name, &document, found);
        }
    }
    assert!(seen > 0, "no {element} anywhere");
}

#[test]
fn every_state_has_its_own_name() {
    let all = all_samples().unwrap();
    let names: HashSet<_> = all.iter().map(|sample| &sample.name).collect();
    assert_eq!(names.len(), all.len());
    assert!(all.len() > 80);
}

#[test]
fn every_page_has_a_sample() {
    let all = all_samples().unwrap();
    let names: BTreeSet<_> =
        all.iter().filter_map(|sample| sample.name.split_once('.')).map(|(page, _)| page).collect();
    let declared = declared_page_names();
    assert_eq!(declared.iter().map(String::as_str).collect::<Vec<_>>(), Vec::from_iter(names));
}

#[test]
fn every_page_has_one_heading_a_title_a_language_and_landmarks() {
    for (name, document) in documents() {
        assert_eq!(document.elements("h1").count(), 1, "{name}: h1");
        assert_eq!(document.elements("main").count(), 1, "{name}: main");
        let title = document.elements("title").next().unwrap().text.clone();
        assert!(title.ends_with(" · Locum") && title.len() > 9, "{name}: {title}");
        let html = document.elements("html").next().unwrap();
        assert_eq!(html.attribute("lang"), Some("en"), "{name}");
        let h1 = document.elements("h1").next().unwrap();
        assert!(!h1.text.trim().is_empty(), "{name}: empty h1");
    }
}

#[test]
fn headings_skip_no_level() {
    for (name, document) in documents() {
        let mut last = 0;
        for element in &document.elements {
            let level = match element.name.as_str() {
                "h1" => 1,
                "h2" => 2,
                "h3" => 3,
                _ => continue,
            };
            assert!(level <= last + 1, "{name}: h{level} after h{last}");
            last = level;
        }
    }
}

#[test]
fn every_field_has_a_label_and_every_id_is_one_of_a_kind() {
    for (name, document) in documents() {
        let mut ids = HashSet::new();
        for id in document.elements.iter().filter_map(|element| element.attribute("id")) {
            assert!(ids.insert(id), "{name}: id {id} twice");
        }
        let labelled: HashSet<_> = document.elements("label").filter_map(|label| label.attribute("for")).collect();
        for field in document.elements("input").chain(document.elements("textarea")) {
            if field.attribute("type") != Some("hidden") && field.attribute("aria-label").is_none() {
                let id = field.attribute("id").expect("a field has an id");
                assert!(labelled.contains(id), "{name}: {id} has no label");
            }
        }
        for element in &document.elements {
            for reference in ["aria-describedby", "aria-labelledby"] {
                for id in element.attribute(reference).unwrap_or_default().split(' ') {
                    assert!(id.is_empty() || ids.contains(id), "{name}: {reference} {id}");
                }
            }
            let fragment = element.attribute("href").and_then(|href| href.strip_prefix('#'));
            assert!(fragment.is_none_or(|id| ids.contains(id)), "{name}: {fragment:?}");
        }
    }
}

#[test]
fn what_is_wrong_in_a_form_is_told_in_the_title() {
    for (name, document) in documents() {
        let is_invalid = document.elements.iter().any(|element| element.attribute("aria-invalid").is_some());
        let title = document.elements("title").next().unwrap();
        assert!(!is_invalid || title.text.starts_with("Error: "), "{name}: {}", title.text);
    }
}

#[test]
fn every_form_that_changes_something_posts_with_its_token() {
    each("form", |name, document, form| {
        assert!(form.attribute("action").is_some_and(|action| !action.is_empty()), "{name}");
        let tokens = document
            .within(form)
            .filter(|field| field.attribute("name") == Some("csrf"))
            .filter(|field| field.attribute("type") == Some("hidden"))
            .filter(|field| field.attribute("value").is_some_and(|token| !token.is_empty()));
        // The token must not end up in an address.
        let expected = match form.attribute("method") {
            Some("post") => 1,
            Some("get") => 0,
            other => panic!("{name}: {other:?}"),
        };
        assert_eq!(tokens.count(), expected, "{name}: csrf");
        let buttons = document.within(form).filter(|found| found.name == "button");
        assert!(buttons.count() > 0, "{name}: no button");
    });
}

#[test]
fn a_password_is_never_written_back() {
    each("input", |name, _, field| {
        if field.attribute("type") == Some("password") {
            assert_eq!(field.attribute("value"), None, "{name}");
        }
    });
}

#[test]
fn nothing_runs_and_nothing_is_styled_inline() {
    let forbidden = ["script", "style", "iframe", "object", "embed", "base", "img"];
    for (name, document) in documents() {
        for element in &document.elements {
            // The only scripts, served from our own origin.
            let src = element.attribute("src");
            let ours = element.text.trim().is_empty()
                && (name.starts_with("live.") && src == Some(pages::STREAM_SCRIPT.path())
                    || (name.starts_with("sign-in.") || name.starts_with("passkey-setup."))
                        && src == Some(pages::PASSKEY_SCRIPT.path())
                    || name.starts_with("home.") && src == Some(pages::HOME_SCRIPT.path())
                    || name.starts_with("message_thread.") && src == Some(pages::CONVERSATION_SCRIPT.path())
                    || name.starts_with("console_") && src == Some(pages::CONSOLE_SCRIPT.path()));
            if element.name == "script" && ours {
                continue;
            }
            // Images are served from our own origin and have an alternative text.
            let folders = ["/media/", "/messages/files/"];
            let own = src.is_some_and(|src| folders.iter().any(|folder| src.starts_with(folder)));
            if element.name == "img" && own && element.attribute("alt").is_some() {
                continue;
            }
            assert!(!forbidden.contains(&element.name.as_str()), "{name}: {}", element.name);
            for (attribute, value) in &element.attributes {
                assert!(!attribute.starts_with("on"), "{name}: {attribute}");
                assert!(attribute != "style" && attribute != "srcdoc", "{name}: {attribute}");
                if attribute == "href" || attribute == "src" {
                    let lower = value.to_ascii_lowercase();
                    assert!(!lower.starts_with("javascript:"), "{name}: {value}");
                    assert!(!lower.starts_with("data:"), "{name}: {value}");
                }
            }
        }
    }
}

#[test]
fn links_to_elsewhere_tell_nothing_about_us() {
    each("a", |name, _, link| {
        let href = link.attribute("href").expect("a link leads somewhere");
        if href.contains("://") && !href.starts_with('/') {
            let rel = link.attribute("rel").unwrap_or_default();
            assert!(rel.contains("noreferrer") && rel.contains("noopener"), "{name}: {href}");
        }
    });
}

#[test]
fn error_pages_lead_only_to_our_own_pages() {
    let ours = pages::SiteLinks::default();
    let ours = [
        ours.home,
        ours.account,
        ours.sessions,
        ours.connected_apps,
        ours.notifications,
        ours.apps,
        ours.ads,
        ours.search,
        ours.signature,
        ours.mailbox,
        ours.sign_in,
        ours.sign_out,
        ours.console,
        "/home",
        "/bookmarks",
        "/search",
        "/messages",
        "/lists",
        "/communities",
        "/compose",
        "/about",
        "/rules",
        "#main",
    ];
    for (name, document) in documents() {
        if name.starts_with("error.") {
            for link in document.elements("a") {
                let href = link.attribute("href").unwrap();
                // The path of one's own profile has the username.
                assert!(ours.contains(&href) || link.text.trim() == "Profile", "{name}: {href}");
            }
            assert_eq!(document.elements("form").count(), 0, "{name}");
        }
    }
}

#[test]
fn hostile_words_come_out_as_words() {
    let hostile = "\"><script>alert(1)</script>";
    for (name, document) in documents() {
        if name.ends_with(".hostile") {
            assert!(document.text().contains(hostile), "{name}: nothing hostile was shown");
        }
    }
}

#[test]
fn details_of_callbacks_are_for_development_worlds() {
    let page = |dev| {
        let (_, mut page) =
            samples::authorize::error_states().into_iter().find(|(state, _)| *state == "redirect-dev").unwrap();
        page.frame.dev = dev;
        pages::HtmlPage::render_html(&page).unwrap()
    };
    assert!(page(true).contains("They differ at character"));
    assert!(!page(false).contains("They differ at character"));
    assert!(!page(false).contains("/callback"));
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

#[test]
fn every_class_in_a_page_is_known_to_the_stylesheet() {
    for (name, document) in documents() {
        for element in &document.elements {
            for class in element.attribute("class").unwrap_or_default().split_whitespace() {
                assert!(STYLE.text.contains(&format!(".{class}")), "{name}: .{class}");
            }
        }
    }
}
