//! What holds for every page that a test gets: well-formed, accessible, inert.

use std::collections::HashSet;
use std::sync::LazyLock;

use pages::{STYLE, find_asset};
use ureq::http::HeaderMap;

use super::html_document::{Document, Element};

type CheckResult = Result<(), String>;

/// Classes that the stylesheet knows.
static CLASSES: LazyLock<HashSet<&str>> = LazyLock::new(|| {
    let is_name = |letter: char| letter.is_ascii_alphanumeric() || letter == '-' || letter == '_';
    let names = STYLE.text.split('.').skip(1).map(|rest| rest.split(|letter| !is_name(letter)).next().unwrap());
    names.collect()
});

/// These answer with a form under the content type of pages, as the original does.
const TOKEN_PATHS: &[&str] = &[" /oauth/request_token", " /oauth/access_token"];

struct Page {
    status: u16,
    /// Whether the policy in the headers lets our own scripts run.
    runs_scripts: bool,
    document: Document,
}

/// Panics if a response is a page that breaks a rule.
pub(super) fn check_response(request_line: &str, status: u16, headers: &HeaderMap, body: &[u8]) {
    let header = |name| headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let is_token = TOKEN_PATHS.iter().any(|path| request_line.contains(path));
    let is_readable = !body.is_empty() && header("content-encoding").is_empty();
    if is_token || !is_readable || !header("content-type").starts_with("text/html") {
        return;
    }
    let html = String::from_utf8_lossy(body);
    let runs_scripts = header("content-security-policy").contains("script-src 'self'");
    let checked = Document::read(&html).and_then(|document| Page { status, runs_scripts, document }.check());
    if let Err(fault) = checked {
        panic!("{request_line}: the page with status {status}: {fault}: {html}");
    }
}

fn require(holds: bool, fault: impl FnOnce() -> String) -> CheckResult {
    if holds { Ok(()) } else { Err(fault()) }
}

fn has_prefix(text: &str, prefixes: &[&str]) -> bool {
    prefixes.iter().any(|prefix| text.starts_with(prefix))
}

/// In an attribute that leads somewhere.
fn is_own_address(address: &str) -> bool {
    address.starts_with('#') || address.starts_with('/') && !has_prefix(address, &["//", "/\\"])
}

impl Page {
    fn check(&self) -> CheckResult {
        let rules = [
            Self::check_frame,
            Self::check_headings,
            Self::check_references,
            Self::check_labels,
            Self::check_forms,
            Self::check_passwords,
            Self::check_scripts,
            Self::check_attributes,
            Self::check_links,
            Self::check_error,
        ];
        rules.iter().try_for_each(|rule| rule(self))
    }

    fn only(&self, name: &str) -> Result<&Element, String> {
        let mut all = self.document.elements(name);
        match (all.next(), all.next()) {
            (Some(element), None) => Ok(element),
            (None, _) => Err(format!("no {name}")),
            (Some(_), Some(_)) => Err(format!("more than one {name}")),
        }
    }

    /// One heading, one title, a language and landmarks.
    fn check_frame(&self) -> CheckResult {
        self.only("main")?;
        require(!self.only("h1")?.text.trim().is_empty(), || "an empty h1".to_owned())?;
        let title = &self.only("title")?.text;
        let parts = title.rsplit_once(" · ");
        let has_site = parts.is_some_and(|(page, site)| !page.is_empty() && !site.is_empty());
        // The small error page, which has no stylesheet, knows no site.
        let is_small = self.document.elements("link").next().is_none();
        require(has_site || is_small && !title.is_empty(), || format!("title {title:?}"))?;
        let is_invalid = self.document.elements.iter().any(|element| element.attribute("aria-invalid").is_some());
        require(!is_invalid || title.starts_with("Error: "), || format!("title {title:?} with an invalid field"))?;
        require(self.only("html")?.attribute("lang") == Some("en"), || "no language".to_owned())
    }

    /// They skip no level.
    fn check_headings(&self) -> CheckResult {
        let levels = self.document.elements.iter().filter_map(|element| match element.name.as_bytes() {
            [b'h', level @ b'1'..=b'6'] => Some(level - b'0'),
            _ => None,
        });
        levels.into_iter().try_fold(0, |last, level| {
            require(level <= last + 1, || format!("h{level} after h{last}")).map(|()| level)
        })?;
        Ok(())
    }

    /// Every id is one of a kind, and what names an id finds it.
    fn check_references(&self) -> CheckResult {
        let mut ids = HashSet::new();
        for id in self.document.elements.iter().filter_map(|element| element.attribute("id")) {
            require(ids.insert(id), || format!("id {id} twice"))?;
        }
        for element in &self.document.elements {
            let lists = ["aria-describedby", "aria-labelledby", "for"].map(|name| element.attribute(name));
            let fragment = element.attribute("href").and_then(|href| href.strip_prefix('#'));
            let named = lists.into_iter().flatten().flat_map(|list| list.split(' ')).chain(fragment);
            for id in named.filter(|id| !id.is_empty()) {
                require(ids.contains(id), || format!("{} refers to {id:?}", element.name))?;
            }
        }
        Ok(())
    }

    /// Every field has a label.
    fn check_labels(&self) -> CheckResult {
        let labels: HashSet<_> = self.document.elements("label").filter_map(|label| label.attribute("for")).collect();
        let fields = ["input", "textarea", "select"].into_iter().flat_map(|name| self.document.elements(name));
        for field in fields.filter(|field| field.attribute("type") != Some("hidden")) {
            let is_labelled = field.attribute("id").is_some_and(|id| labels.contains(id));
            let name = field.attribute("name");
            require(is_labelled || field.attribute("aria-label").is_some(), || format!("{name:?} has no label"))?;
        }
        Ok(())
    }

    /// What changes something posts with its token, which must not end up in an address.
    fn check_forms(&self) -> CheckResult {
        for form in self.document.elements("form") {
            let action = form.attribute("action").unwrap_or_default();
            require(!action.is_empty(), || "a form that leads nowhere".to_owned())?;
            let fields: Vec<_> = self.document.within(form).collect();
            let tokens = fields.iter().filter(|field| field.attribute("name") == Some("csrf"));
            let tokens: Vec<_> = tokens.map(|field| (field.attribute("type"), field.attribute("value"))).collect();
            let has_right_tokens = match (form.attribute("method"), tokens.as_slice()) {
                (Some("post"), [(Some("hidden"), Some(token))]) => !token.is_empty(),
                (Some("get"), []) => true,
                _ => false,
            };
            require(has_right_tokens, || format!("form to {action} with the tokens {tokens:?}"))?;
            // Not every row of a list has one.
            let has_button =
                form.attribute("class") == Some("feed-form") || fields.iter().any(|field| field.name == "button");
            require(has_button, || format!("form to {action} without a button"))?;
        }
        Ok(())
    }

    /// They are never written back.
    fn check_passwords(&self) -> CheckResult {
        let mut passwords = self.document.elements("input").filter(|field| field.attribute("type") == Some("password"));
        require(passwords.all(|field| field.attribute("value").is_none()), || "a password".to_owned())
    }

    /// There is at most one, a file of our own, and the policy lets it run.
    fn check_scripts(&self) -> CheckResult {
        let mut scripts = self.document.elements("script");
        let script = scripts.next();
        require(scripts.next().is_none(), || "more than one script".to_owned())?;
        require(script.is_some() == self.runs_scripts, || format!("scripts run: {}", self.runs_scripts))?;
        let Some(script) = script else {
            return Ok(());
        };
        let asset = script.attribute("src").and_then(find_asset);
        let is_own = asset.is_some_and(|asset| asset.content_type.starts_with("text/javascript"));
        require(is_own && script.text.trim().is_empty(), || format!("script {:?}", script.attributes))
    }

    /// Nothing runs or is styled inline, and images are our own.
    fn check_attributes(&self) -> CheckResult {
        for element in &self.document.elements {
            let src = element.attribute("src").unwrap_or_default();
            let is_allowed = match element.name.as_str() {
                "style" | "iframe" | "object" | "embed" | "base" => false,
                "img" => {
                    has_prefix(src, &["/media/", "/messages/files/", "/admin/reports/"])
                        && element.attribute("alt").is_some()
                }
                "track" => has_prefix(src, &["/media/", "/messages/files/", "/admin/reports/"]),
                _ => true,
            };
            require(is_allowed, || format!("{} {:?}", element.name, element.attributes))?;
            for (name, value) in &element.attributes {
                let is_inline = name.starts_with("on") || name == "style" || name == "srcdoc";
                let leads = name == "href" || name == "src";
                let is_script = leads && has_prefix(&value.to_ascii_lowercase(), &["javascript:", "data:"]);
                require(!is_inline && !is_script, || format!("{} {name}={value:?}", element.name))?;
            }
            let mut classes = element.attribute("class").unwrap_or_default().split_whitespace();
            let unknown = classes.find(|class| !CLASSES.contains(class));
            require(unknown.is_none(), || format!("class {unknown:?} is not in the stylesheet"))?;
        }
        Ok(())
    }

    /// Those to elsewhere tell nothing about us.
    fn check_links(&self) -> CheckResult {
        for link in self.document.elements("a") {
            let href = link.attribute("href").ok_or_else(|| format!("a link without an address: {}", link.text))?;
            let rel = link.attribute("rel").unwrap_or_default();
            let tells_nothing = rel.contains("noreferrer") && rel.contains("noopener");
            require(is_own_address(href) || tells_nothing, || format!("link to {href:?} with the relation {rel:?}"))?;
        }
        Ok(())
    }

    /// A response with an error status says what is wrong with the form on it, or has no form and leads only to our
    /// own pages.
    fn check_error(&self) -> CheckResult {
        if self.status < 400 || self.only("title")?.text.starts_with("Error: ") {
            return Ok(());
        }
        require(self.document.elements("form").next().is_none(), || "an error page with a form".to_owned())?;
        let foreign =
            self.document.elements("a").filter_map(|link| link.attribute("href")).find(|href| !is_own_address(href));
        require(foreign.is_none(), || format!("an error page with a link to {foreign:?}"))
    }
}
