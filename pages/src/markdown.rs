//! Texts of a site's owners, from Markdown to HTML that contains no markup of theirs.

use pulldown_cmark::{Event, HeadingLevel, LinkType, Options, Parser, Tag, TagEnd, html};

/// HTML of a Markdown text: markup in it is dropped, images become their descriptions, and links lead to the web, to an
/// email address or to this site only.
pub fn render_markdown(text: &str) -> String {
    let options = Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH;
    let events = Parser::new_ext(text, options).filter_map(restrict_event);
    let mut out = String::with_capacity(text.len());
    html::push_html(&mut out, events);
    out
}

/// None for what is dropped.
fn restrict_event(event: Event<'_>) -> Option<Event<'_>> {
    match event {
        Event::Html(_)
        | Event::InlineHtml(_)
        | Event::Start(Tag::HtmlBlock | Tag::Image { .. })
        | Event::End(TagEnd::HtmlBlock | TagEnd::Image) => None,
        Event::Start(Tag::Heading { level, .. }) => {
            let level = lower_heading(level);
            Some(Event::Start(Tag::Heading { level, id: None, classes: Vec::new(), attrs: Vec::new() }))
        }
        Event::End(TagEnd::Heading(level)) => Some(Event::End(TagEnd::Heading(lower_heading(level)))),
        Event::Start(Tag::CodeBlock(_)) => Some(Event::Start(Tag::CodeBlock(pulldown_cmark::CodeBlockKind::Indented))),
        Event::Start(Tag::Link { link_type, dest_url, .. }) => {
            let is_email = link_type == LinkType::Email;
            let url = if is_email || is_allowed_url(&dest_url) { dest_url } else { "#".into() };
            Some(Event::Start(Tag::Link { link_type, dest_url: url, title: "".into(), id: "".into() }))
        }
        other => Some(other),
    }
}

/// The page has a heading of the first level.
const fn lower_heading(level: HeadingLevel) -> HeadingLevel {
    match level {
        HeadingLevel::H1 => HeadingLevel::H2,
        HeadingLevel::H2 => HeadingLevel::H3,
        HeadingLevel::H3 => HeadingLevel::H4,
        HeadingLevel::H4 => HeadingLevel::H5,
        HeadingLevel::H5 | HeadingLevel::H6 => HeadingLevel::H6,
    }
}

fn is_allowed_url(url: &str) -> bool {
    let is_email = url.get(..7).is_some_and(|scheme| scheme.eq_ignore_ascii_case("mailto:"));
    let is_local = url.starts_with('/') && !url.starts_with("//") && !url.contains('\\');
    crate::page::is_web_url(url) || is_email || is_local
}

#[cfg(test)]
mod tests {
    use super::render_markdown;

    #[test]
    fn common_markdown_is_rendered() {
        let html = render_markdown("# Rules\n\n1. Be *kind*.\n2. See [terms](/terms) or <mailto:a@b.example>.\n");
        for part in ["<h2>Rules</h2>", "<ol>", "<em>kind</em>", "href=\"/terms\"", "href=\"mailto:a@b.example\""] {
            assert!(html.contains(part), "{part}: {html}");
        }
    }

    /// Each text tries to bring markup or a script into the page.
    #[test]
    fn no_text_yields_markup_or_scripts() {
        let texts = [
            "<script>alert(1)</script>",
            "a <img src=x onerror=alert(1)> b",
            "<div onclick=\"x()\">\n\n*text*\n\n</div>",
            "<!-- <script> -->",
            "<![CDATA[<script>]]>",
            "<style>*{display:none}</style>",
            "<form action=/admin><button>x</button></form>",
            "[x](javascript:alert(1))",
            "[x](JaVaScRiPt:alert(1))",
            "[x](java\nscript:alert(1))",
            "[x](&#106;avascript:alert(1))",
            "[x](data:text/html;base64,PHNjcmlwdD4=)",
            "[x](vbscript:x)",
            "[x](//evil.example)",
            "[x](/\\evil.example)",
            "[x][y]\n\n[y]: javascript:alert(1)",
            "<javascript:alert(1)>",
            "![x](https://evil.example/pixel.gif)",
            "![\"onerror=alert(1)](x)",
            "[x](https://a.example \"\\\" onmouseover=alert(1)\")",
            "[x](https://a.example/\"onmouseover=alert(1))",
            "# x {#id onclick=alert(1)}",
            "```\"><script>alert(1)</script>\ncode\n```",
            "`<script>`",
            "| a |\n|---|\n| <script>x</script> |",
            "&lt;script&gt;",
        ];
        for text in texts {
            let html = render_markdown(text).to_lowercase();
            for forbidden in [
                "<script",
                "<img",
                "<div",
                "<style",
                "<form",
                "<button",
                "<!--",
                "<![",
                "\"javascript:",
                "\"data:",
                "\"vbscript:",
                "\"//",
                "\"/\\",
            ] {
                assert!(!html.contains(forbidden), "{text:?} gave {html:?}");
            }
            for tag in html.split('<').skip(1) {
                let inside = tag.split('>').next().unwrap_or_default();
                assert!(!inside.contains("\"on") && !inside.contains(" on"), "{text:?} gave {html:?}");
            }
        }
    }
}
