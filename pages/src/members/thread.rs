//! A post with the posts that it replies to, and its replies.

use askama::Template;
use base::Time;

use super::{ComposeBox, LinkPreview, PostCard, PostFeed, PostTextPart};
use crate::PageFrame;
use crate::page::{HtmlPage, html_page};

#[derive(Template)]
#[template(path = "members/thread.html")]
pub struct ThreadPage {
    pub frame: PageFrame,
    /// Oldest first.
    pub ancestors: Vec<PostCard>,
    pub post: PostCard,
    /// Path of the newest version, if this is an earlier one.
    pub newest_version: Option<String>,
    /// Oldest first.
    pub replies: PostFeed,
    /// Replies that the author of the conversation has hidden.
    pub hidden_replies: Vec<PostCard>,
    /// None for visitors who are not signed in.
    pub reply: Option<ComposeBox>,
    /// None of posts that not everyone may see.
    pub oembed_url: Option<String>,
    pub preview: LinkPreview,
    pub path: String,
}

/// Characters of a post in the title, where a page of a browser's history has room for a few words.
const TITLE_LENGTH: usize = 60;

html_page!(
    ThreadPage,
    |page| match page.post.excerpt(TITLE_LENGTH).as_str() {
        "" => format!("Post by @{}", page.post.username),
        excerpt => format!("@{}: {excerpt}", page.post.username),
    },
    |page| page.reply.iter().map(|reply| ("text", &reply.text)).collect()
);

pub struct PostVersion {
    pub text: Vec<PostTextPart>,
    pub created_at: Time,
    pub is_current: bool,
}

#[derive(Template)]
#[template(path = "members/history.html")]
pub struct EditHistoryPage {
    pub frame: PageFrame,
    /// Without the at sign.
    pub username: String,
    pub post_path: String,
    /// Newest first.
    pub versions: Vec<PostVersion>,
}

html_page!(EditHistoryPage, |page| format!("Versions of a post by @{}", page.username));
