//! Users, their relationships and posts, and what one of them does.

use super::SelectOption;
use crate::page::{HtmlPage, html_page};
use crate::{FormField, PageFrame, Pager};
use askama::Template;
use base::Time;

#[derive(Clone)]
pub struct PersonItem {
    pub id: String,
    pub username: String,
    pub name: String,
    pub path: String,
    /// For example "protected" or "suspended".
    pub marks: Vec<&'static str>,
    pub followers: i64,
    pub posts: i64,
}

impl PersonItem {
    pub(crate) fn is_active(&self) -> bool {
        !["suspended", "placeholder"].iter().any(|state| self.marks.contains(state))
    }
}

/// The search form sends `q`; the form of a new user `username`, `name` and `description`.
#[derive(Template)]
#[template(path = "console/people.html")]
pub struct PeoplePage {
    pub frame: PageFrame,
    pub path: &'static str,
    /// Where a form signs in: it sends `user` and `next`.
    pub sign_in: &'static str,
    pub query: FormField,
    pub people: Vec<PersonItem>,
    pub pager: Pager,
    pub username: FormField,
    pub name: FormField,
    pub description: FormField,
}

impl PeoplePage {
    const SECTION: &'static str = "People";
}

html_page!(PeoplePage, |_| "People".to_owned(), |page| vec![
    ("username", &page.username),
    ("name", &page.name),
    ("description", &page.description)
]);

#[derive(Default)]
pub struct ProfileFields {
    pub username: FormField,
    pub name: FormField,
    pub description: FormField,
    pub location: FormField,
    pub url: FormField,
    pub verified_type: Vec<SelectOption>,
    pub subscription_type: Vec<SelectOption>,
    pub protected: bool,
    pub parody: bool,
    pub receives_dm: bool,
}

#[derive(Default)]
pub struct PostFields {
    pub text: FormField,
    pub reply_to: FormField,
    pub quote: FormField,
    /// One a line.
    pub poll_options: FormField,
    pub poll_minutes: FormField,
}

/// Users with whom a user has one kind of relation.
pub struct PersonRelation {
    pub title: &'static str,
    /// What ends it, as `act` and as a label; empty if only the other user can.
    pub undo: (&'static str, &'static str),
    /// A second choice, for follow requests.
    pub accept: Option<(&'static str, &'static str)>,
    pub people: Vec<PersonItem>,
    /// Whether there are more than are shown.
    pub is_truncated: bool,
}

pub struct PersonPost {
    pub id: String,
    /// Path of its page.
    pub link: String,
    pub text: String,
    pub at: Time,
    /// For example "reply"; may be empty.
    pub kind: &'static str,
    pub likes: i64,
    pub reposts: i64,
    pub replies: i64,
}

pub struct PersonApp {
    pub name: String,
    /// What the app may do, or "owner".
    pub access: String,
    /// Labels and masked values.
    pub values: Vec<(&'static str, String)>,
    pub last_used: Option<Time>,
}

pub struct MintedToken {
    pub app: String,
    pub values: Vec<(&'static str, String)>,
}

/// All forms are sent to `person.path` with `act`.
#[derive(Template)]
#[template(path = "console/person.html")]
pub struct PersonPage {
    pub frame: PageFrame,
    pub people: &'static str,
    pub sign_in: &'static str,
    pub person: PersonItem,
    /// Labels and values.
    pub facts: Vec<(&'static str, String)>,
    pub created: Time,
    pub is_active: bool,
    pub profile: ProfileFields,
    pub post: PostFields,
    /// The post to like, repost or undo that.
    pub target_post: FormField,
    /// The user to follow, block or mute.
    pub target_user: FormField,
    pub recipient: FormField,
    pub message: FormField,
    pub apps: Vec<SelectOption>,
    pub relations: Vec<PersonRelation>,
    pub posts: Vec<PersonPost>,
    pub pager: Pager,
    pub connected_apps: Vec<PersonApp>,
    /// Names and details.
    pub lists: Vec<(String, String)>,
    pub spaces: Vec<(String, String)>,
    pub minted: Option<MintedToken>,
    /// Path of the page of the signed-in user, if it is another one.
    pub actor_path: Option<String>,
}

impl PersonPage {
    const SECTION: &'static str = "People";

    fn has_profile_errors(&self) -> bool {
        let profile = &self.profile;
        let fields = [&profile.username, &profile.name, &profile.description, &profile.location, &profile.url];
        fields.iter().any(|field| field.error.is_some())
    }
}

html_page!(PersonPage, |page| format!("@{}", page.person.username), |page| vec![
    ("username", &page.profile.username),
    ("name", &page.profile.name),
    ("description", &page.profile.description),
    ("location", &page.profile.location),
    ("url", &page.profile.url),
    ("text", &page.post.text),
    ("reply_to", &page.post.reply_to),
    ("quote", &page.post.quote),
    ("poll_options", &page.post.poll_options),
    ("poll_minutes", &page.post.poll_minutes),
    ("target_post", &page.target_post),
    ("target_user", &page.target_user),
    ("recipient", &page.recipient),
    ("message", &page.message),
]);
