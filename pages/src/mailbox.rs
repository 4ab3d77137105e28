//! Letters of a development world, which leaves no letter out of the house.

use crate::page::is_web_url;
use crate::{HtmlPage, PageFrame, Pager};
use askama::Template;
use base::Time;

/// A line of the mailbox.
pub struct MailboxItem {
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
pub struct MailboxPage {
    /// The surroundings, of a development world.
    pub frame: PageFrame,
    /// The letters, newest first.
    pub emails: Vec<MailboxItem>,
    /// The neighbouring parts of the list.
    pub pager: Pager,
}

impl HtmlPage for MailboxPage {
    const NAME: &'static str = "mailbox";

    fn title(&self) -> String {
        "Mailbox".to_owned()
    }

    fn page_frame(&self) -> &PageFrame {
        &self.frame
    }

    fn sample_states() -> Vec<(&'static str, Self)> {
        crate::samples::tools::mailbox_states()
    }
}

/// One letter.
#[derive(Template)]
#[template(path = "email.html")]
pub struct EmailPage {
    /// The surroundings, of a development world.
    pub frame: PageFrame,
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
pub enum EmailLine<'a> {
    /// Plain text.
    Text(&'a str),
    /// A line that is an address and nothing else.
    Link(&'a str),
}

impl EmailPage {
    /// The body, line by line.
    pub fn body_lines(&self) -> Vec<EmailLine<'_>> {
        let is_link = |line: &str| is_web_url(line) && !line.contains(char::is_whitespace);
        self.body
            .lines()
            .map(|line| match line.trim() {
                link if is_link(link) => EmailLine::Link(link),
                _ => EmailLine::Text(line),
            })
            .collect()
    }
}

impl HtmlPage for EmailPage {
    const NAME: &'static str = "email";

    fn title(&self) -> String {
        self.subject.clone()
    }

    fn page_frame(&self) -> &PageFrame {
        &self.frame
    }

    fn sample_states() -> Vec<(&'static str, Self)> {
        crate::samples::tools::email_states()
    }
}
