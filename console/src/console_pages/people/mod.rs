//! `/console/people`: the users of a world, and everything that one of them can do.

mod actions;
mod list;
mod page;
mod records;

use base::{Error, Refusal, UserId};
use pages::console::PersonItem;
use portal::portal_page;
use store::Tx;
use store::users::{self, User, UserState};
use web::endpoint::{BodySpec, Endpoint, Kind, MAX_SHORT_TEXT, MAX_TEXT, Parameter};
use web::text_members;

const PATH: &str = "/console/people";
const PERSON: &str = "/console/people/{username}";
const USERNAME: &[Parameter] =
    &[Parameter::path("username", Kind::text(0, MAX_SHORT_TEXT), "The user's username or id.")];

pub(super) static ENDPOINTS: &[Endpoint] = &[
    portal_page("consolePeople", "GET", PATH, &list::show).summary("The users of the world."),
    portal_page("consoleCreatePerson", "POST", PATH, &list::create)
        .summary("Creates a user.")
        .body(BodySpec::Form(text_members! { MAX_TEXT; csrf username name description })),
    portal_page("consolePerson", "GET", PERSON, &page::show)
        .summary("A user: profile, relationships, posts, apps and tokens.")
        .params(&[USERNAME]),
    portal_page("consoleActAsPerson", "POST", PERSON, &page::submit)
        .summary("Changes a user, or acts as this user.")
        .params(&[USERNAME])
        .body(BodySpec::Form(text_members! { MAX_TEXT;
            csrf act next app username name description location url verified_type subscription_type protected parody
            receives_dm text reply_to quote poll_options poll_minutes target_post target_user recipient message
        })),
];

/// Accepts a username, with or without the at sign, or an id. Deleted users are not found.
pub(super) fn find_user(tx: &mut Tx<'_>, parameter: &'static str, text: &str) -> Result<User, Error> {
    let text = text.trim();
    let named = users::find_by_username(tx, text.strip_prefix('@').unwrap_or(text))?;
    let found = match (named, UserId::parse(text)) {
        (None, Some(id)) => users::find_by_id(tx, id)?,
        (named, _) => named,
    };
    found.filter(|user| user.state != UserState::Deleted).ok_or_else(|| {
        let message = if text.is_empty() {
            "Enter a username or an id.".to_owned()
        } else {
            format!("There is no user [{text}].")
        };
        Refusal::invalid_parameter(parameter, text, message).into()
    })
}

fn person_path(username: &str) -> String {
    format!("{PATH}/{username}")
}

fn person_item(user: &User) -> PersonItem {
    let state = match user.state {
        UserState::Active => None,
        UserState::Suspended => Some("suspended"),
        UserState::Deleted => Some("deleted"),
        UserState::Placeholder => Some("placeholder"),
    };
    let marks = [
        state,
        user.verified.then_some("verified"),
        user.protected.then_some("protected"),
        user.parody.then_some("parody"),
    ];
    PersonItem {
        id: user.id.to_string(),
        username: user.username.clone(),
        name: user.name.clone(),
        path: person_path(&user.username),
        marks: marks.into_iter().flatten().collect(),
        followers: user.followers_count,
        posts: user.post_count,
    }
}
