//! Letters of a development world, which leaves no letter out of the house.

use crate::page::is_web;
use crate::{Frame, Page, Pager};
use askama::Template;
use base::Time;

/// A line of the mailbox.
pub struct Letter {
    /// The path of its page.
    pub path: String,
    /// Who it is for.
    pub to: String,
    /// The subject.
    pub subject: String,
    /// When it was sent.
    pub sent: Time,
}

/// The mailbox.
#[derive(Template)]
#[template(path = "mailbox.html")]
pub struct Mailbox {
    /// The surroundings, of a development world.
    pub frame: Frame,
    /// The letters, newest first.
    pub letters: Vec<Letter>,
    /// The neighbouring parts of the list.
    pub pager: Pager,
}

impl Page for Mailbox {
    const NAME: &'static str = "mailbox";

    fn title(&self) -> String {
        "Mailbox".to_owned()
    }

    fn frame(&self) -> &Frame {
        &self.frame
    }

    fn samples() -> Vec<(&'static str, Self)> {
        crate::samples::tools::mailbox()
    }
}

/// One letter.
#[derive(Template)]
#[template(path = "letter.html")]
pub struct LetterPage {
    /// The surroundings, of a development world.
    pub frame: Frame,
    /// The sender.
    pub from: String,
    /// Who it is for.
    pub to: String,
    /// The subject.
    pub subject: String,
    /// When it was sent.
    pub sent: Time,
    /// Plain text.
    pub body: String,
}

/// A line of a letter.
#[derive(Debug, PartialEq, Eq)]
pub enum LetterLine<'a> {
    /// Plain text.
    Text(&'a str),
    /// A line that is an address and nothing else.
    Link(&'a str),
}

impl LetterPage {
    /// The body, line by line.
    pub fn lines(&self) -> Vec<LetterLine<'_>> {
        let is_link = |line: &str| is_web(line) && !line.contains(char::is_whitespace);
        self.body
            .lines()
            .map(|line| match line.trim() {
                link if is_link(link) => LetterLine::Link(link),
                _ => LetterLine::Text(line),
            })
            .collect()
    }
}

impl Page for LetterPage {
    const NAME: &'static str = "letter";

    fn title(&self) -> String {
        self.subject.clone()
    }

    fn frame(&self) -> &Frame {
        &self.frame
    }

    fn samples() -> Vec<(&'static str, Self)> {
        crate::samples::tools::letter()
    }
}
