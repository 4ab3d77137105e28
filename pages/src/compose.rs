//! Writing a post, alone or as an answer to a conversation card, and what is shown after it.

use crate::field::collect_problems;
use crate::{FormField, FormProblem, HtmlPage, PageFrame};
use askama::Template;

/// A picture, and the film that it is a still of.
pub struct CardMedia {
    /// Path of the picture.
    pub picture: Option<String>,
    /// Path of the film.
    pub video: Option<String>,
}

/// One of the answers that a card offers.
pub struct ConversationChoice {
    /// The hashtag.
    pub hashtag: String,
    /// Path of the page on which the post is written.
    pub path: String,
}

/// A conversation card as a post shows it.
#[derive(Template)]
#[template(path = "conversation.html")]
pub struct ConversationCardPage {
    /// The surroundings.
    pub frame: PageFrame,
    /// What it says; may be empty.
    pub heading: String,
    /// What it shows.
    pub still: CardMedia,
    /// What can be answered.
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

/// Write a post. Form: `text`, and what came with the link.
#[derive(Template)]
#[template(path = "compose.html")]
pub struct ComposePage {
    /// The surroundings.
    pub frame: PageFrame,
    /// Where the form posts to.
    pub action: String,
    /// The text.
    pub text: FormField,
    /// What is sent back as it came.
    pub hidden: Vec<(&'static str, String)>,
    /// Whether it answers another post.
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

/// What a card says to whoever has answered.
pub struct ThankYouMessage {
    /// In words.
    pub text: String,
    /// Where it leads.
    pub link: Option<String>,
    /// What is shown only now.
    pub unlocked: CardMedia,
}

/// The post was sent.
#[derive(Template)]
#[template(path = "written.html")]
pub struct PostSentPage {
    /// The surroundings.
    pub frame: PageFrame,
    /// What was written.
    pub text: String,
    /// The post's id.
    pub id: String,
    /// What the card says that it answers.
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
