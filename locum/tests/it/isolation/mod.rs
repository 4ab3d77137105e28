//! Pages against lookups: whoever opens a page finds nothing on it that the API's lookups do not show them, whatever
//! stands between them and its author.

mod lookups;
mod samples;
mod situations;
mod world;

use std::collections::{BTreeMap, BTreeSet};

use lookups::{Visitor, find_visible};
use samples::{Compared, Coverage, OTHER_AREAS, PAGES, PUBLIC_PAGES, Sample};
use web::endpoint::{Endpoint, ErrorFormat};
use world::{Content, PASSWORD, Subject, World, find_markers};

use crate::harness::TestServer;
use crate::pages::browser::Browser;

/// Differences that are meant: page, situation, content, and why. An empty situation stands for any.
const EXCEPTIONS: &[(&str, &str, &str, &str)] = &[
    (
        "showHome",
        "",
        "mention",
        "a quote shows what it quotes, as in the API, also where the reader has muted the author",
    ),
    (
        "showNotifications",
        "",
        "quote of the viewer",
        "the API's mentions are posts that name somebody; a quote need not",
    ),
    ("showNotifications", "post edited", "mention", "a notification is of the version that it was sent for"),
];

/// Threads that open pages.
const THREADS: usize = 4;
const MAX_PAGES: usize = 30;
const HIDDEN: &str = "hidden by lookups";

fn page_endpoints() -> impl Iterator<Item = &'static Endpoint> {
    let all = [portal::ENDPOINTS, members::ENDPOINTS, moderation::ENDPOINTS].concat();
    let pages = all.into_iter().flatten();
    pages.filter(|endpoint| endpoint.error_format == ErrorFormat::Page && endpoint.method == "GET")
}

#[test]
fn each_page_is_compared_with_lookups_or_shows_no_content() {
    let areas = |path: &str| OTHER_AREAS.iter().any(|(area, _)| path.starts_with(area));
    let is_listed = |endpoint: &&Endpoint| PAGES.iter().any(|(id, _)| *id == endpoint.id) || areas(endpoint.path);
    let missing: Vec<_> =
        page_endpoints().filter(|endpoint| !is_listed(endpoint)).map(|endpoint| endpoint.id).collect();
    assert!(missing.is_empty(), "no entry in `isolation::samples::PAGES`: {missing:?}");
    for (id, coverage) in PAGES {
        if let Coverage::NoContent(reason) = coverage {
            assert!(!reason.is_empty(), "{id}");
        }
    }
}

/// What one visitor may see, and what they were shown.
struct Audit<'w> {
    world: &'w World<'w>,
    visitor: Visitor<'w>,
    visible: BTreeSet<String>,
    /// What everyone may see.
    public: &'w BTreeSet<String>,
    contents: BTreeMap<&'w str, &'w Content>,
}

impl<'w> Audit<'w> {
    fn new(world: &'w World<'w>, visitor: Visitor<'w>, public: &'w BTreeSet<String>) -> Self {
        let contents = world.contents.iter().map(|content| (content.marker.as_str(), content)).collect();
        Self { world, visitor, visible: find_visible(world, visitor), public, contents }
    }

    fn open_browser(&self) -> Browser<'w> {
        let mut browser = Browser::new(self.world.server);
        if let Visitor::Member(user) = self.visitor {
            assert_eq!(browser.sign_in(&user.username, PASSWORD, "/home").status, 303);
        }
        browser
    }

    fn samples(&self) -> Vec<(&'static str, Sample)> {
        let mut all = Vec::new();
        for (id, coverage) in PAGES {
            match coverage {
                Coverage::NoContent(_) => {}
                Coverage::Page(list) => {
                    all.extend(list(self.world, self.visitor).into_iter().map(|sample| (*id, sample)));
                }
                Coverage::PerAuthor(list) => {
                    let authors = self.world.authors.iter();
                    for author in authors.filter(|author| self.is_viewer() || !author.situation.is_relation) {
                        all.extend(list(self.world, author).into_iter().map(|sample| (*id, sample)));
                    }
                }
            }
        }
        all
    }

    /// One line for each difference, and how many contents each page showed.
    fn check_pages(&self) -> (Vec<String>, Vec<usize>) {
        let (samples, browser) = (self.samples(), self.open_browser());
        let check_part = |first: usize| {
            let mut browser = browser.clone();
            let part = samples.iter().skip(first).step_by(THREADS);
            part.map(|(id, sample)| self.check_page(&mut browser, id, sample)).collect::<Vec<_>>()
        };
        let results = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..THREADS).map(|first| scope.spawn(move || check_part(first))).collect();
            threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect::<Vec<_>>()
        });
        let shown = results.iter().map(|(_, shown)| *shown).collect();
        (results.into_iter().flat_map(|(lines, _)| lines).collect(), shown)
    }

    fn check_page(&self, browser: &mut Browser<'_>, id: &str, sample: &Sample) -> (Vec<String>, usize) {
        let PageContents { shown, asks_to_sign_in } = self.read_page(browser, &sample.path);
        let mut differences = Vec::new();
        let mut note = |problem: &str, content: &Content| {
            let situation = self.world.authors[content.author].situation;
            let line = format!(
                "{problem:<24} {id:<18} {:<16} {:<32} {:<20} {}",
                self.visitor.name(),
                situation.name,
                content.what,
                sample.path
            );
            if problem == HIDDEN || !is_exception(id, situation.name, content.what) {
                differences.push(line);
            }
        };
        let is_public = PUBLIC_PAGES.iter().any(|(page, _)| *page == id);
        let visible = if is_public { self.public } else { &self.visible };
        for marker in &shown {
            let content = self.contents[marker.as_str()];
            let is_silenced = self.world.authors[content.author].situation.is_silenced;
            if !visible.contains(marker) {
                note(HIDDEN, content);
            } else if sample.hides_silenced && is_silenced && self.is_viewer() {
                note("muted or blocked", content);
            }
        }
        if let Some((compared, path)) = &sample.twin {
            let twin = self.read_twin(*compared, path);
            let is_compared = |content: &&Content| is_kind(*compared, &content.subject);
            for content in shown.iter().map(|marker| self.contents[marker.as_str()]).filter(is_compared) {
                if !twin.everything.contains(&content.marker) {
                    note("not in the API's page", content);
                }
            }
            for content in twin.listed.iter().filter_map(|marker| self.contents.get(marker.as_str()).copied()) {
                if !asks_to_sign_in && is_compared(&content) && !shown.contains(&content.marker) {
                    note("missing on the page", content);
                }
            }
        }
        (differences, shown.len())
    }

    fn is_viewer(&self) -> bool {
        self.visitor.name() == self.world.viewer.username
    }

    /// The markers on a page and those that follow it.
    fn read_page(&self, browser: &mut Browser<'_>, path: &str) -> PageContents {
        let mut found = PageContents::default();
        let mut next = Some(path.to_owned());
        for _ in 0..MAX_PAGES {
            let Some(path) = next.take() else { break };
            let response = browser.get(&path);
            assert!(response.status < 500, "{path}: {}", response.text());
            found.asks_to_sign_in |= response.header("location").starts_with("/login");
            let text = response.text();
            found.shown.extend(find_markers(&text).into_iter().map(str::to_owned));
            if path == "/sitemap.xml" {
                let named =
                    self.world.authors.iter().filter(|author| text.contains(&format!("/{}<", author.user.username)));
                found.shown.extend(named.map(|author| author.name_marker.clone()));
            }
            next = text
                .split("rel=\"next\" href=\"")
                .nth(1)
                .and_then(|rest| rest.split('"').next())
                .map(|next| next.replace("&#38;", "&"));
        }
        found
    }

    fn read_twin(&self, compared: Compared, path: &str) -> TwinContents {
        let mut twin = TwinContents::default();
        for page in self.visitor.read_collection(self.world.server, path) {
            twin.everything.extend(find_markers(&page.to_string()).into_iter().map(str::to_owned));
            let key = if compared == Compared::People { "name" } else { "text" };
            let listed = page["data"].as_array().into_iter().flatten().filter_map(|item| item[key].as_str());
            twin.listed.extend(listed.flat_map(find_markers).map(str::to_owned));
        }
        twin
    }
}

#[derive(Default)]
struct PageContents {
    shown: BTreeSet<String>,
    asks_to_sign_in: bool,
}

#[derive(Default)]
struct TwinContents {
    /// With what the listed objects expand to.
    everything: BTreeSet<String>,
    listed: BTreeSet<String>,
}

fn is_kind(compared: Compared, subject: &Subject) -> bool {
    match subject {
        Subject::Post(_) => compared == Compared::Posts,
        Subject::User(_) => compared == Compared::People,
        Subject::Message(_) => compared == Compared::Messages,
        Subject::List(_) => false,
    }
}

/// Only of what lookups show.
fn is_exception(page: &str, situation: &str, what: &str) -> bool {
    EXCEPTIONS.iter().any(|(pages, situations, contents, _)| {
        *pages == page && (situations.is_empty() || *situations == situation) && *contents == what
    })
}

/// What lookups must not show to the viewer, whatever is on pages.
fn check_lookups(world: &World<'_>, visible: &BTreeSet<String>) {
    for content in world.contents.iter().filter(|content| matches!(content.subject, Subject::Post(_))) {
        let situation = world.authors[content.author].situation;
        let is_hidden = (situation.hides)(content.what);
        assert_eq!(!visible.contains(&content.marker), is_hidden, "{}: {}", situation.name, content.what);
    }
}

#[test]
fn no_page_shows_what_lookups_hide_from_the_same_person() {
    let server = TestServer::start(&["--world", "empty"]);
    let world = World::build(&server);
    let public = find_visible(&world, Visitor::Anonymous);
    let viewer = Audit::new(&world, Visitor::Member(&world.viewer), &public);
    check_lookups(&world, &viewer.visible);
    let others = [Visitor::Member(&world.outsider), Visitor::Anonymous];
    let others = others.map(|visitor| Audit::new(&world, visitor, &public));
    let (mut differences, mut shown) = (Vec::new(), Vec::new());
    for audit in [viewer].iter().chain(&others) {
        let (lines, counts) = audit.check_pages();
        differences.extend(lines);
        shown.extend(counts);
    }
    assert!(differences.is_empty(), "{} differences:\n{}", differences.len(), differences.join("\n"));
    let contents: usize = shown.iter().sum();
    assert!(contents > 2_000, "pages showed only {contents} contents");
    println!("figure: {}", serde_json::json!({ "pages": shown.len(), "contents": contents, "leaks": 0 }));
}
