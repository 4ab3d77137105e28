//! Writing a post, alone or as an answer to a conversation card.

use crate::field::collect_problems;
use crate::{FormField, FormProblem, HtmlPage, PageFrame};
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

impl HtmlPage for ConversationCardPage {
    const NAME: &'static str = "conversation";

    fn title(&self) -> String {
        match self.heading.as_str() {
            "" => "Join the conversation".to_owned(),
            heading => heading.to_owned(),
        }
    }

    fn page_frame(&self) -> &PageFrame {
        &self.frame
    }

    fn sample_states() -> Vec<(&'static str, Self)> {
        crate::samples::compose::conversation_card_states()
    }
}

/// Form fields: `text`, and those of `hidden`.
#[derive(Template)]
#[template(path = "compose.html")]
pub struct ComposePage {
    pub frame: PageFrame,
    pub action: String,
    pub text: FormField,
    pub hidden: Vec<(&'static str, String)>,
    pub is_reply: bool,
}

impl HtmlPage for ComposePage {
    const NAME: &'static str = "compose";

    fn title(&self) -> String {
        if self.is_reply {
            "Write a reply".to_owned()
        } else {
            "Write a post".to_owned()
        }
    }

    fn page_frame(&self) -> &PageFrame {
        &self.frame
    }

    fn form_problems(&self) -> Vec<FormProblem> {
        collect_problems(&[("text", &self.text)])
    }

    fn sample_states() -> Vec<(&'static str, Self)> {
        crate::samples::compose::compose_states()
    }
}

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

impl HtmlPage for PostSentPage {
    const NAME: &'static str = "written";

    fn title(&self) -> String {
        "Your post was sent".to_owned()
    }

    fn page_frame(&self) -> &PageFrame {
        &self.frame
    }

    fn sample_states() -> Vec<(&'static str, Self)> {
        crate::samples::compose::post_sent_states()
    }
}
