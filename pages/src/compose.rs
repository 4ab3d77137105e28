//! Writing a post, alone or as an answer to a conversation card.

use crate::page::{HtmlPage, html_page};
use crate::{FormField, PageFrame};
use askama::Template;

/// Paths of an image and of the video that it is a frame of.
pub struct CardMedia {
    pub picture: Option<String>,
    pub video: Option<String>,
}

pub struct ConversationChoice {
    pub hashtag: String,
    pub path: String,
}

#[derive(Template)]
#[template(path = "conversation.html")]
pub struct ConversationCardPage {
    pub frame: PageFrame,
    /// May be empty.
    pub heading: String,
    pub still: CardMedia,
    pub choices: Vec<ConversationChoice>,
}

html_page!(ConversationCardPage, |page| match page.heading.as_str() {
    "" => "Join the conversation".to_owned(),
    heading => heading.to_owned(),
});

/// Form fields: `text`, and those of `hidden`.
#[derive(Template)]
#[template(path = "compose.html")]
pub struct ComposePage {
    pub frame: PageFrame,
    pub action: String,
    pub text: FormField,
    /// How long the text may be.
    pub help: String,
    pub hidden: Vec<(&'static str, String)>,
    pub is_reply: bool,
}

html_page!(
    ComposePage,
    |page| if page.is_reply { "Write a reply".to_owned() } else { "Write a post".to_owned() },
    |page| vec![("text", &page.text)]
);

pub struct ThankYouMessage {
    pub text: String,
    pub link: Option<String>,
    /// Media that is shown only after answering.
    pub unlocked: CardMedia,
}

#[derive(Template)]
#[template(path = "written.html")]
pub struct PostSentPage {
    pub frame: PageFrame,
    pub text: String,
    pub id: String,
    pub thanks: Option<ThankYouMessage>,
}

html_page!(PostSentPage, |_| "Your post was sent".to_owned());
