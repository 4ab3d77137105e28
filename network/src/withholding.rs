//! Withheld notices on posts and accounts. They are shown, but hide nothing.

use base::refusal::ResourceRef;
use base::{Error, PostId, Refusal, UserId, sorted_distinct};
use serde_json::json;
use store::posts::{self, Post, PostState};
use store::users::User;
use store::{Tx, event_log};

use crate::audit::{self, AuditAction, AuditActor, user_detail};
use crate::places::is_country_code;

fn validate_countries(countries: &[String]) -> Result<Vec<String>, Refusal> {
    let invalid_code = countries.iter().find(|code| !is_country_code(code));
    if let Some(code) = invalid_code {
        let message = "A country is two capital letters (ISO 3166-1 alpha-2)";
        return Err(Refusal::invalid_parameter("country_codes", code, message));
    }
    Ok(sorted_distinct(countries.to_vec()))
}

/// Sets the countries in which all versions of a post are withheld, and whether because of copyright; an empty list
/// removes the notice.
pub fn withhold_post(tx: &mut Tx<'_>, id: PostId, countries: &[String], copyright: bool) -> Result<Post, Error> {
    let countries = validate_countries(countries)?;
    let subject = || ResourceRef::new("tweet", "id", id);
    let is_available = |post: &Post| matches!(post.state, PostState::Live | PostState::Superseded);
    let found = posts::find_by_id(tx, id)?.filter(is_available);
    let found = found.ok_or_else(|| Refusal::NotFound(subject()))?;
    let notice = if countries.is_empty() {
        String::new()
    } else {
        json!({"copyright": copyright, "country_codes": countries, "scope": "post"}).to_string()
    };
    let versions = match found.edit_root_id {
        Some(root) => posts::list_versions(tx, root)?,
        None => vec![id],
    };
    for version in versions {
        posts::set_withheld(tx, version, &notice)?;
    }
    event_log::append(tx, "post.withheld", found.author_id.get(), id.get(), &notice)?;
    let body = json!({ "post_id": id.to_string(), "country_codes": countries });
    audit::append(tx, &AuditActor::operator(), AuditAction::POST_WITHHOLD, None, &body)?;
    Ok(Post { withheld: notice, ..found })
}

/// Sets the countries in which an account is withheld; an empty list removes the notice.
pub fn withhold_user(tx: &mut Tx<'_>, id: UserId, countries: &[String]) -> Result<User, Error> {
    let countries = validate_countries(countries)?;
    store::users::lock(tx, id)?;
    let mut user = crate::users::find(tx, id)?;
    user.withheld = if countries.is_empty() {
        String::new()
    } else {
        json!({"country_codes": countries, "scope": "user"}).to_string()
    };
    store::users::update(tx, &user)?;
    event_log::append(tx, "user.withheld", id.get(), id.get(), &user.withheld)?;
    audit::append(tx, &AuditActor::operator(), AuditAction::USER_WITHHOLD, None, &user_detail(id))?;
    Ok(user)
}
