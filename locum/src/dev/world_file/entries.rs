//! The form of a world file's entries.

use serde::Deserialize;
use toml::Spanned;

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum WorldEntry {
    User(UserEntry),
    Follow(FollowEntry),
    App(AppEntry),
    Post(PostEntry),
    AdsAccount(AdsAccountEntry),
    Ads(AdsEntry),
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct UserEntry {
    pub(super) username: String,
    pub(super) name: Option<String>,
    #[serde(default)]
    pub(super) description: String,
    #[serde(default)]
    pub(super) location: String,
    #[serde(default)]
    pub(super) url: String,
    #[serde(default)]
    pub(super) protected: bool,
    pub(super) email: Option<String>,
    pub(super) joined: Option<String>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct FollowEntry {
    pub(super) from: String,
    pub(super) to: String,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct AppEntry {
    pub(super) name: String,
    pub(super) owner: String,
    #[serde(default)]
    pub(super) kind: Option<String>,
    #[serde(default)]
    pub(super) permission: Option<String>,
    #[serde(default)]
    pub(super) access_level: Option<String>,
    #[serde(default)]
    pub(super) callback_urls: Vec<String>,
    /// Users who get tokens of this app.
    #[serde(default)]
    pub(super) tokens: Vec<String>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PostEntry {
    pub(super) author: String,
    pub(super) text: String,
    pub(super) at: Option<String>,
    /// A name by which later entries refer to the post.
    pub(super) tag: Option<String>,
    pub(super) reply_to: Option<String>,
    pub(super) quote: Option<String>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct AdsAccountEntry {
    /// A name by which later entries refer to the account.
    pub(super) tag: String,
    pub(super) owner: String,
    pub(super) name: Option<String>,
    pub(super) timezone: Option<String>,
    pub(super) funded_amount_local_micro: Option<i64>,
}

/// What a `POST` below the account creates.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct AdsEntry {
    /// The account's tag.
    pub(super) account: String,
    /// For example `campaigns`.
    pub(super) create: String,
    pub(super) tag: Option<String>,
    #[serde(default)]
    pub(super) params: serde_json::Map<String, serde_json::Value>,
}

/// Entries of TOML files are in this order, whatever the order of their sections.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct TomlWorld {
    #[serde(default)]
    user: Vec<Spanned<UserEntry>>,
    #[serde(default)]
    follow: Vec<Spanned<FollowEntry>>,
    #[serde(default)]
    app: Vec<Spanned<AppEntry>>,
    #[serde(default)]
    post: Vec<Spanned<PostEntry>>,
    #[serde(default)]
    ads_account: Vec<Spanned<AdsAccountEntry>>,
    #[serde(default)]
    ads: Vec<Spanned<AdsEntry>>,
}

type LineError = (usize, String);

pub(super) fn parse_lines(text: &str) -> Result<Vec<(usize, WorldEntry)>, LineError> {
    let lines = text.lines().enumerate().map(|(index, line)| (index + 1, line.trim()));
    let filled = lines.filter(|(_, line)| !line.is_empty());
    filled
        .map(|(number, line)| {
            let entry = serde_json::from_str(line).map_err(|error| (number, without_position(&error.to_string())))?;
            Ok((number, entry))
        })
        .collect()
}

/// The line within the line is always 1.
fn without_position(message: &str) -> String {
    message.replace(" at line 1 column ", " at column ")
}

pub(super) fn parse_toml(text: &str) -> Result<Vec<(usize, WorldEntry)>, LineError> {
    let line_of = |position: usize| text.get(..position).unwrap_or_default().matches('\n').count() + 1;
    let world: TomlWorld = toml::from_str(text).map_err(|error| {
        let line = error.span().map_or(1, |span| line_of(span.start));
        (line, error.message().to_owned())
    })?;
    let all = [
        located(world.user, WorldEntry::User),
        located(world.follow, WorldEntry::Follow),
        located(world.app, WorldEntry::App),
        located(world.post, WorldEntry::Post),
        located(world.ads_account, WorldEntry::AdsAccount),
        located(world.ads, WorldEntry::Ads),
    ];
    Ok(all.into_iter().flatten().map(|(position, entry)| (line_of(position), entry)).collect())
}

/// With their positions in the file.
fn located<T>(entries: Vec<Spanned<T>>, wrap: fn(T) -> WorldEntry) -> Vec<(usize, WorldEntry)> {
    entries.into_iter().map(|entry| (entry.span().start, wrap(entry.into_inner()))).collect()
}

#[cfg(test)]
mod tests {
    use super::{parse_lines, parse_toml};

    #[test]
    fn wrong_lines_are_named() {
        let (line, message) =
            parse_lines("{\"user\":{\"username\":\"a\"}}\n\n{\"post\":{\"autor\":\"a\"}}").unwrap_err();
        assert!(line == 3 && message.contains("unknown field `autor`"), "{line} {message}");
        let (line, message) = parse_toml("[[user]]\nusername = \"a\"\n[[post]]\ntext = 1\n").unwrap_err();
        assert!(line == 4 && message.contains("expected a string"), "{line} {message}");
        let entries = parse_toml("[[post]]\nauthor = \"a\"\ntext = \"x\"\n[[user]]\nusername = \"a\"\n").unwrap();
        let lines: Vec<usize> = entries.iter().map(|(line, _)| *line).collect();
        assert_eq!(lines, [4, 1]);
    }
}
