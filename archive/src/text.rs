//! Converts stored text to displayed text.

use crate::{ArchivedMedia, ArchivedUrl};

/// Replaces `&amp;`, `&lt;` and `&gt;`, once.
pub(crate) fn unescape_entities(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('&') {
        let (before, entity) = rest.split_at(at);
        plain.push_str(before);
        let known = [("&amp;", '&'), ("&lt;", '<'), ("&gt;", '>')];
        let found = known.iter().find_map(|(name, sign)| Some((entity.strip_prefix(name)?, sign)));
        rest = if let Some((after, sign)) = found {
            plain.push(*sign);
            after
        } else {
            plain.push('&');
            entity.strip_prefix('&').unwrap_or_default()
        };
    }
    plain.push_str(rest);
    plain
}

pub(crate) struct TextDraft {
    pub(crate) text: String,
    pub(crate) urls: Vec<ArchivedUrl>,
}

impl TextDraft {
    /// Removes the links at the end that represent attachments.
    pub(crate) fn drop_media_links(&mut self, shorts: &[&str]) {
        while let Some(length) = shorts.iter().find_map(|short| self.length_before_link(short)) {
            self.text.truncate(length);
        }
    }

    /// Removes a post's link at the end of the text, and returns that post.
    ///
    /// `known` is the quoted post if the source contains it, `own` the post itself.
    pub(crate) fn take_quote(&mut self, known: Option<i64>, own: i64) -> Option<i64> {
        let end = self.text.trim_end();
        // What the author wrote is a link, and not the short link of a quoted post.
        let is_short = |url: &ArchivedUrl| !url.short.is_empty() && url.short != url.expanded;
        let last = self.urls.iter().position(|url| is_short(url) && end.ends_with(&url.short));
        let Some(url) = last.and_then(|at| self.urls.get_mut(at)) else {
            return known;
        };
        let Some(post) = post_id_from_url(&url.expanded).filter(|post| *post != own) else {
            return known;
        };
        if known.is_some_and(|known| known != post) {
            return known;
        }
        url.in_text = false;
        let length = end.len() - url.short.len();
        self.text.truncate(length);
        let length = self.text.trim_end().len();
        self.text.truncate(length);
        Some(post)
    }

    pub(crate) fn expand_links(&mut self) {
        let links = self.urls.iter().filter(|url| !url.short.is_empty() && !url.expanded.is_empty());
        let links: Vec<(&str, &str)> = links.map(|url| (&*url.short, &*url.expanded)).collect();
        if !links.is_empty() {
            self.text = replace_links(&self.text, &links);
        }
    }

    fn length_before_link(&self, short: &str) -> Option<usize> {
        let end = self.text.trim_end();
        let length = end.strip_suffix(short).filter(|_| !short.is_empty())?;
        Some(length.trim_end().len())
    }
}

pub(crate) fn post_id_from_url(url: &str) -> Option<i64> {
    let path = url.strip_prefix("https://").or_else(|| url.strip_prefix("http://"))?;
    let (host, path) = path.split_once('/')?;
    let host = host.strip_prefix("www.").or_else(|| host.strip_prefix("mobile.")).unwrap_or(host);
    if !matches!(host, "twitter.com" | "x.com") {
        return None;
    }
    let (_, rest) = path.split_once("/status/").or_else(|| path.split_once("/statuses/"))?;
    let id = rest.split_once(['?', '#']).map_or(rest, |(id, _)| id);
    id.parse().ok().filter(|id| *id > 0)
}

/// Splits `RT @handle: text`.
pub(crate) fn split_repost(text: &str) -> Option<(&str, &str)> {
    let (handle, rest) = text.strip_prefix("RT @")?.split_once(':')?;
    let word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let is_handle = (1..=20).contains(&handle.len()) && handle.chars().all(word);
    is_handle.then(|| (handle, rest.trim_start()))
}

/// The content of an HTML anchor; other text is returned unchanged.
pub(crate) fn anchor_text(html: &str) -> &str {
    let inner = html.strip_suffix("</a>").and_then(|open| open.rsplit_once('>'));
    inner.map_or(html, |(_, words)| words)
}

/// Replaces the first of each pair with the second; the longest match wins.
pub(crate) fn replace_links(text: &str, links: &[(&str, &str)]) -> String {
    let mut out = String::with_capacity(text.len() + 64);
    let mut rest = text;
    while let Some(at) = rest.find("http") {
        let (before, link) = rest.split_at(at);
        out.push_str(before);
        let fitting = links.iter().filter(|(short, _)| link.starts_with(short));
        let (taken, replacement) = fitting
            .max_by_key(|(short, _)| short.len())
            .map_or((4, "http"), |(short, expanded)| (short.len(), *expanded));
        out.push_str(replacement);
        rest = link.get(taken..).unwrap_or_default();
    }
    out.push_str(rest);
    out
}

/// The last part of a URL as a file name; `None` if it could lead out of its folder.
pub(crate) fn base_name(url: &str) -> Option<&str> {
    let path = url.split_once(['?', '#']).map_or(url, |(path, _)| path);
    let name = path.rsplit_once('/').map_or(path, |(_, name)| name);
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
    let is_safe = !name.is_empty() && name.chars().all(plain) && !name.starts_with('.');
    is_safe.then_some(name)
}

/// The file names of an attachment in the media folders; fails for unsafe names.
pub(crate) fn media_file_names(post: i64, media: &ArchivedMedia) -> Result<Vec<String>, &'static str> {
    let videos = media.variants.iter().filter(|variant| variant.content_type != "application/x-mpegURL");
    let mut videos: Vec<_> = videos.collect();
    videos.sort_by_key(|variant| -variant.bitrate.unwrap_or(0));
    let urls = videos.iter().map(|variant| &variant.url).chain([&media.url]);
    let urls = urls.filter(|url| !url.is_empty());
    let names = urls.map(|url| base_name(url).map(|name| format!("{post}-{name}")));
    names.collect::<Option<Vec<_>>>().ok_or("a media name leads out of its folder")
}
