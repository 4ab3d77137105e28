//! Direct messages: conversations, one of them, and beginning one.

use askama::Template;
use base::Time;

use super::{AttachedMedia, ComposeBox, PostMedia, PostTextPart};
use crate::page::{HtmlPage, Pager, excerpt, html_page, render_count};
use crate::{FormField, PageFrame};

/// Characters of the newest message in a list of conversations.
const EXCERPT_LENGTH: usize = 80;

/// Characters.
pub const MAX_MESSAGE_TEXT: usize = 10_000;

pub struct ConversationItem {
    pub path: String,
    /// The names of the others.
    pub title: String,
    /// Of the other person, without the at sign; none for a group.
    pub username: Option<String>,
    /// Empty if there is none.
    pub avatar: String,
    /// The newest message, or what happened last.
    pub text: String,
    pub is_own: bool,
    pub at: Time,
    /// Messages that were not read; at most 100.
    pub unread: usize,
}

impl ConversationItem {
    fn unread_count(&self) -> Option<String> {
        (self.unread > 0).then(|| render_count(self.unread))
    }

    fn initial_letter(&self) -> String {
        crate::page::initial_letter(&self.title)
    }

    fn excerpt(&self) -> String {
        excerpt(&self.text, EXCERPT_LENGTH)
    }
}

#[derive(Template)]
#[template(path = "members/conversations.html")]
pub struct ConversationListPage {
    pub frame: PageFrame,
    /// Newest first.
    pub conversations: Vec<ConversationItem>,
    pub pager: Pager,
}

html_page!(ConversationListPage, |_| "Messages".to_owned());

/// The picture or video of a message.
pub struct MessageMedia {
    /// None if the file is not stored.
    pub shown: Option<PostMedia>,
    /// The path of the whole file.
    pub path: String,
    pub kind: MessageMediaKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MessageMediaKind {
    Photo,
    Gif,
    Video,
}

impl MessageMediaKind {
    /// Stands for a message without a text.
    pub const fn label(self) -> &'static str {
        match self {
            Self::Photo => "Photo",
            Self::Gif => "GIF",
            Self::Video => "Video",
        }
    }

    /// In a sentence.
    const fn noun(self) -> &'static str {
        match self {
            Self::Photo => "picture",
            Self::Gif => "GIF",
            Self::Video => "video",
        }
    }
}

/// The part of a form that takes a file. Form fields: the file `media`, its `description`; `media_id`, which is a file
/// that an earlier form has stored.
#[derive(Default)]
pub struct MessageAttachment {
    /// The description of the file; the error is that of the file.
    pub file: FormField,
    pub stored: Option<AttachedMedia>,
}

pub struct MessageItem {
    pub id: String,
    /// The sender's.
    pub name: String,
    /// Without the at sign.
    pub username: String,
    pub text: Vec<PostTextPart>,
    pub media: Option<MessageMedia>,
    pub is_own: bool,
    pub at: Time,
    /// Whether the text is about who joined or left.
    pub is_membership: bool,
}

/// Form fields: `text`, `form`, and those of [`MessageAttachment`].
#[derive(Template)]
#[template(path = "members/conversation.html")]
pub struct MessageThreadPage {
    pub frame: PageFrame,
    pub title: String,
    /// Names and usernames of the others, in the order of joining.
    pub others: Vec<(String, String)>,
    /// Oldest first.
    pub messages: Vec<MessageItem>,
    /// The page of the messages before these.
    pub older: Option<String>,
    pub is_newest: bool,
    /// Where new messages are announced; none on a page of older ones.
    pub events: Option<String>,
    pub path: String,
    pub compose: ComposeBox,
    pub attachment: MessageAttachment,
    /// Why nothing can be sent.
    pub closed_because: Option<String>,
}

html_page!(MessageThreadPage, |page| format!("{} · Messages", page.title), |page| vec![
    ("text", &page.compose.text),
    ("media", &page.attachment.file)
]);

/// Form fields: `to`, `text`, `form`, and those of [`MessageAttachment`].
#[derive(Template)]
#[template(path = "members/new_message.html")]
pub struct NewMessagePage {
    pub frame: PageFrame,
    /// Usernames, separated by commas or spaces.
    pub to: FormField,
    pub compose: ComposeBox,
    pub attachment: MessageAttachment,
}

html_page!(NewMessagePage, |_| "New message".to_owned(), |page| vec![
    ("to", &page.to),
    ("text", &page.compose.text),
    ("media", &page.attachment.file)
]);
