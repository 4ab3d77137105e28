//! Writing a post, a reply or a quote, and editing a post.

use askama::Template;

use super::ComposeBox;
use crate::page::{HtmlPage, html_page};
use crate::relative_time::exact_time;
use crate::{FormField, PageFrame};

/// Id, author's username and text of another post.
pub type TargetPost = (String, String, String);

pub enum WriteTarget {
    New,
    Reply(TargetPost),
    Quote(TargetPost),
    Edit(TargetPost),
}

impl WriteTarget {
    /// The other post, with the name of its form field.
    pub fn target_field(&self) -> Option<(&'static str, &TargetPost)> {
        match self {
            Self::New => None,
            Self::Reply(post) => Some(("in_reply_to", post)),
            Self::Quote(post) => Some(("quote", post)),
            Self::Edit(post) => Some(("edit_of", post)),
        }
    }

    fn is_new_content(&self) -> bool {
        !matches!(self, Self::Edit(_))
    }
}

pub struct AttachedMedia {
    pub id: String,
    /// May be empty.
    pub description: String,
}

/// Where a post goes instead of to the author's followers.
pub struct CommunityTarget {
    pub id: String,
    pub name: String,
    /// Whether only members see its posts.
    pub is_closed: bool,
    /// Whether the author's followers are shown the post too.
    pub is_shared: bool,
}

/// Values and labels of the field `reply_settings`.
pub const REPLY_SETTINGS: [(&str, &str); 4] = [
    ("", "Everyone"),
    ("following", "Accounts you follow or mention"),
    ("mentionedUsers", "Accounts you mention"),
    ("verified", "Verified accounts and those you mention"),
];

/// Values, in minutes, and labels of the field `poll_minutes`.
pub const POLL_DURATIONS: [(&str, &str); 4] =
    [("60", "1 hour"), ("1440", "1 day"), ("4320", "3 days"), ("10080", "7 days")];

/// How large files may be.
pub const FILE_SIZES: &str = "Pictures may have up to 5 MB, animated pictures 15 MB and videos 512 MB.";

const MAX_CHOICES: usize = 4;

/// Form fields: `text`, `form`, `next`, one of `in_reply_to`, `quote` and `edit_of`; `media_ids`, the file `media` and
/// its `description`; `choice1` to `choice4`, `poll_minutes`; `reply_settings`; `draft`, `publish_at`; `community`,
/// `share`; `act`, which is `attach`, `remove` and an id, `show`, `post`, `draft` or `schedule`.
#[derive(Template)]
#[template(path = "members/write.html")]
pub struct WritePostPage {
    pub frame: PageFrame,
    pub compose: ComposeBox,
    pub next: String,
    pub target: WriteTarget,
    /// None for a post to everyone.
    pub community: Option<CommunityTarget>,
    pub attached: Vec<AttachedMedia>,
    /// The description of a file; the error is that of the file.
    pub file: FormField,
    pub poll_choices: Vec<String>,
    /// How long the poll is open; the error is that of the poll.
    pub poll: FormField,
    pub reply_settings: String,
    /// The id of the draft or scheduled post that is edited, or empty.
    pub draft_id: String,
    /// `YYYY-MM-DDTHH:MM` in the viewer's time zone; empty if it is not scheduled.
    pub publish_at: FormField,
}

impl WritePostPage {
    fn media_ids(&self) -> String {
        self.attached.iter().map(|media| media.id.as_str()).collect::<Vec<_>>().join(",")
    }

    /// Number and text of each choice.
    fn choices(&self) -> Vec<(usize, &str)> {
        let texts = self.poll_choices.iter().map(String::as_str).chain(std::iter::repeat(""));
        (1..).zip(texts).take(MAX_CHOICES).collect()
    }

    fn schedule_help(&self) -> String {
        let now = &self.frame.now;
        let repeated = if now.zone.name() == "UTC" {
            ""
        } else {
            " When clocks are set back, the first of two equal times counts."
        };
        format!("From one minute to a year ahead. It is {} now.{repeated}", exact_time(&now.at, now))
    }

    fn schedule_label(&self) -> String {
        format!("Date and time in {}", self.frame.now.zone.name())
    }

    fn has_poll(&self) -> bool {
        self.poll.error.is_some() || !self.poll_choices.is_empty()
    }
}

html_page!(
    WritePostPage,
    |page| match page.target {
        _ if !page.draft_id.is_empty() && page.publish_at.value.is_empty() => "Edit a draft",
        _ if !page.draft_id.is_empty() => "Edit a scheduled post",
        WriteTarget::New => "Write a post",
        WriteTarget::Reply(_) => "Write a reply",
        WriteTarget::Quote(_) => "Quote a post",
        WriteTarget::Edit(_) => "Edit a post",
    }
    .to_owned(),
    |page| {
        let files_and_poll = [("media", &page.file), ("choice1", &page.poll)];
        let more = files_and_poll.into_iter().filter(|_| page.target.is_new_content());
        [("text", &page.compose.text)].into_iter().chain(more).chain([("publish_at", &page.publish_at)]).collect()
    }
);
