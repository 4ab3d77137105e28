//! Emails of a development server, which are shown instead of sent.

use crate::page::is_web_url;
use crate::page::{HtmlPage, html_page};
use crate::{PageFrame, Pager};
use askama::Template;
use base::Time;

pub struct MailboxItem {
    pub path: String,
    pub to: String,
    pub subject: String,
    pub sent: Time,
}

#[derive(Template)]
#[template(path = "mailbox.html")]
pub struct MailboxPage {
    pub frame: PageFrame,
    /// Newest first.
    pub emails: Vec<MailboxItem>,
    pub pager: Pager,
}

impl MailboxPage {
    const SECTION: &'static str = "Mailbox";
}

html_page!(MailboxPage, |_| "Mailbox".to_owned());

#[derive(Template)]
#[template(path = "email.html")]
pub struct EmailPage {
    pub frame: PageFrame,
    pub from: String,
    pub to: String,
    pub subject: String,
    pub sent: Time,
    pub body: String,
}

#[derive(Debug, PartialEq, Eq)]
pub enum EmailLine<'a> {
    Text(&'a str),
    /// A line that is only a URL.
    Link(&'a str),
}

impl EmailPage {
    const SECTION: &'static str = "Mailbox";

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

html_page!(EmailPage, |page| page.subject.clone());
