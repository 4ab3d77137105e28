//! Writing a post, alone or as an answer to a conversation card, and what is shown after it.

use crate::field::problems;
use crate::{Field, Frame, Page, Problem};
use askama::Template;

/// A picture, and the film that it is a still of.
pub struct Still {
    /// Path of the picture.
    pub picture: Option<String>,
    /// Path of the film.
    pub film: Option<String>,
}

/// One of the answers that a card offers.
pub struct Choice {
    /// The hashtag.
    pub hashtag: String,
    /// Path of the page on which the post is written.
    pub path: String,
}

/// A conversation card as a post shows it.
#[derive(Template)]
#[template(path = "conversation.html")]
pub struct ConversationCard {
    /// The surroundings.
    pub frame: Frame,
    /// What it says; may be empty.
    pub heading: String,
    /// What it shows.
    pub still: Still,
    /// What can be answered.
    pub choices: Vec<Choice>,
}

impl Page for ConversationCard {
    const NAME: &'static str = "conversation";

    fn title(&self) -> String {
        match self.heading.as_str() {
            "" => "Join the conversation".to_owned(),
            heading => heading.to_owned(),
        }
    }

    fn frame(&self) -> &Frame {
        &self.frame
    }

    fn samples() -> Vec<(&'static str, Self)> {
        crate::samples::compose::cards()
    }
}

/// Write a post. Form: `text`, and what came with the link.
#[derive(Template)]
#[template(path = "compose.html")]
pub struct Compose {
    /// The surroundings.
    pub frame: Frame,
    /// Where the form posts to.
    pub action: String,
    /// The text.
    pub text: Field,
    /// What is sent back as it came.
    pub with: Vec<(&'static str, String)>,
    /// Whether it answers another post.
    pub is_reply: bool,
}

impl Page for Compose {
    const NAME: &'static str = "compose";

    fn title(&self) -> String {
        if self.is_reply {
            "Write a reply".to_owned()
        } else {
            "Write a post".to_owned()
        }
    }

    fn frame(&self) -> &Frame {
        &self.frame
    }

    fn problems(&self) -> Vec<Problem> {
        problems(&[("text", &self.text)])
    }

    fn samples() -> Vec<(&'static str, Self)> {
        crate::samples::compose::compose()
    }
}

/// What a card says to whoever has answered.
pub struct Thanks {
    /// In words.
    pub text: String,
    /// Where it leads.
    pub link: Option<String>,
    /// What is shown only now.
    pub unlocked: Still,
}

/// The post was sent.
#[derive(Template)]
#[template(path = "written.html")]
pub struct Written {
    /// The surroundings.
    pub frame: Frame,
    /// What was written.
    pub text: String,
    /// The post's id.
    pub id: String,
    /// What the card says that it answers.
    pub thanks: Option<Thanks>,
}

impl Page for Written {
    const NAME: &'static str = "written";

    fn title(&self) -> String {
        "Your post was sent".to_owned()
    }

    fn frame(&self) -> &Frame {
        &self.frame
    }

    fn samples() -> Vec<(&'static str, Self)> {
        crate::samples::compose::written()
    }
}
