//! Posts as timelines show them.

use askama::Template;
use base::Time;

use crate::page::{initial_letter, is_web_url};
use crate::{PageFrame, Pager, ZonedTime};

/// A piece of a post's text; a link if it has a URL.
pub struct PostTextPart {
    pub text: String,
    pub url: Option<String>,
}

pub struct PostMedia {
    /// Of a video, its still; empty if there is none.
    pub picture: String,
    pub video: Option<String>,
    pub description: String,
    /// The language and name of each.
    pub subtitles: Vec<(String, String)>,
}

pub struct PollCard {
    pub choices: Vec<PollChoice>,
    pub ends_at: Time,
    /// Whether the viewer may still vote.
    pub is_open: bool,
}

impl PollCard {
    fn has_ended(&self, now: &ZonedTime) -> bool {
        self.ends_at <= now.at
    }
}

pub struct PollChoice {
    /// From 1.
    pub number: i64,
    pub label: String,
    pub votes: i64,
    /// In percent; those of a poll add up to 100 unless nobody has voted.
    pub share: i64,
    pub is_own: bool,
}

pub struct QuotedPost {
    /// Without the at sign.
    pub username: String,
    pub path: String,
    pub text: String,
}

/// A button of a post with its count, pressed if the viewer has done it.
pub struct PostAction {
    pub name: &'static str,
    pub undo_name: &'static str,
    pub verb: &'static str,
    pub undo_verb: &'static str,
    pub icon: &'static str,
    pub count: i64,
    pub is_done: bool,
}

pub struct PostCard {
    /// Of a repost, the original's.
    pub id: String,
    pub name: String,
    /// Without the at sign.
    pub username: String,
    /// Empty if there is none.
    pub avatar: String,
    /// BCP 47; `und` if unknown.
    pub language: String,
    pub text: Vec<PostTextPart>,
    pub media: Vec<PostMedia>,
    pub poll: Option<PollCard>,
    pub quoted: Option<QuotedPost>,
    /// To whom it invites to write a message, without the at sign.
    pub message_to: Option<String>,
    /// Username and path of the post that it replies to.
    pub reply_to: Option<(String, String)>,
    /// Name and path of the community that it was posted to.
    pub community: Option<(String, String)>,
    /// Who reposted it, without the at sign.
    pub reposted_by: Option<String>,
    pub created_at: Time,
    pub replies: i64,
    pub reposts: i64,
    pub quotes: i64,
    pub likes: i64,
    pub is_liked: bool,
    pub is_reposted: bool,
    pub is_bookmarked: bool,
    /// Whether the viewer wrote it.
    pub is_own: bool,
    pub is_editable: bool,
    pub is_edited: bool,
    /// Posts of protected accounts cannot be reposted.
    pub is_protected: bool,
    pub is_sensitive: bool,
    /// Whether the viewer may hide it as a reply, and whether it is hidden.
    pub hide_state: Option<bool>,
}

impl PostCard {
    pub fn path(&self) -> String {
        format!("/{}/status/{}", self.username, self.id)
    }

    pub fn initial_letter(&self) -> String {
        initial_letter(&self.name)
    }

    /// Whether the viewer sees a warning in place of the media.
    pub fn is_covered(&self) -> bool {
        self.is_sensitive && !self.is_own
    }

    /// The beginning of the text in one line, of at most `length` characters and an ellipsis.
    pub fn excerpt(&self, length: usize) -> String {
        crate::page::excerpt(&self.plain_text(), length)
    }

    pub fn plain_text(&self) -> String {
        self.text.iter().map(|part| part.text.as_str()).collect()
    }

    pub fn actions(&self) -> Vec<PostAction> {
        let action = |name, undo_name, (verb, undo_verb), icon, count, is_done| PostAction {
            name,
            undo_name,
            verb,
            undo_verb,
            icon,
            count,
            is_done,
        };
        let mut actions = Vec::with_capacity(3);
        if !self.is_protected || self.is_own {
            let verbs = ("repost", "unrepost");
            actions.push(action("Repost", "Undo repost", verbs, "repost", self.reposts, self.is_reposted));
        }
        actions.push(action("Like", "Unlike", ("like", "unlike"), "like", self.likes, self.is_liked));
        let verbs = ("bookmark", "unbookmark");
        actions.push(action("Bookmark", "Remove bookmark", verbs, "mark", 0, self.is_bookmarked));
        actions
    }

    pub(crate) fn content<'card>(&'card self, now: &'card ZonedTime) -> PostContent<'card> {
        PostContent { post: self, now }
    }

    pub(crate) fn buttons(&self, signed_in: bool) -> PostButtons<'_> {
        PostButtons { post: self, signed_in }
    }

    /// Pairs of number and noun, such as 2 and `replies`, without what nobody has done.
    pub fn counts(&self) -> Vec<(i64, &'static str)> {
        let nouns = [
            (self.replies, "reply", "replies"),
            (self.reposts, "repost", "reposts"),
            (self.quotes, "quote", "quotes"),
            (self.likes, "like", "likes"),
        ];
        let counts = nouns.into_iter().filter(|(count, ..)| *count > 0);
        counts.map(|(count, one, many)| (count, if count == 1 { one } else { many })).collect()
    }
}

/// Who posted it when, then text, media, poll and quoted post.
#[derive(Template)]
#[template(path = "members/post_content.html")]
pub(crate) struct PostContent<'card> {
    post: &'card PostCard,
    now: &'card ZonedTime,
}

/// Subtitles of a video in a language.
pub(crate) struct SubtitleTrack<'media> {
    pub(crate) path: String,
    pub(crate) language: String,
    pub(crate) label: &'media str,
}

const MAX_SUBTITLE_TRACKS: usize = 50;

/// The buttons of a signed-in viewer, or the counts.
#[derive(Template)]
#[template(path = "members/post_buttons.html")]
pub(crate) struct PostButtons<'card> {
    post: &'card PostCard,
    signed_in: bool,
}

impl PostMedia {
    /// `None` unless it is a path of ours, or http or https.
    pub fn video_url(&self) -> Option<&str> {
        self.video.as_deref().filter(|url| url.starts_with('/') || is_web_url(url))
    }

    /// Only of a video of ours: browsers load no subtitles from other sites.
    pub(crate) fn subtitle_tracks(&self) -> impl Iterator<Item = SubtitleTrack<'_>> {
        let video = self.video.as_deref().filter(|url| is_site_path(url)).into_iter();
        let tracks = video.flat_map(|video| self.subtitles.iter().map(move |subtitles| (video, subtitles)));
        tracks.take(MAX_SUBTITLE_TRACKS).map(|(video, (language, name))| SubtitleTrack {
            path: format!("{video}?subtitles={language}"),
            language: language.to_ascii_lowercase(),
            label: if name.is_empty() { language } else { name },
        })
    }
}

impl PostTextPart {
    /// `None` unless the URL is a path of ours, or http or https.
    pub fn link(&self) -> Option<&str> {
        self.url.as_deref().filter(|url| is_site_path(url) || is_web_url(url))
    }

    pub fn is_internal(&self) -> bool {
        self.url.as_deref().is_some_and(is_site_path)
    }
}

fn is_site_path(url: &str) -> bool {
    url.starts_with('/') && !url.starts_with("//")
}

/// A page of posts.
#[derive(Default)]
pub struct PostFeed {
    pub posts: Vec<PostCard>,
    pub pager: Pager,
}

impl PostFeed {
    /// Whether there are no posts on this page and no others.
    pub(crate) fn is_empty(&self) -> bool {
        self.posts.is_empty() && self.pager.is_only_page()
    }
}

#[derive(Template)]
#[template(path = "members/post_feed.html")]
pub(crate) struct PostFeedHtml<'page> {
    pub(crate) feed: &'page PostFeed,
    pub(crate) frame: &'page PageFrame,
}
