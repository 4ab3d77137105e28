//! What a page of the console says when the rules of the platform refuse an action.

use base::Refusal;
use web::error_formats::api_message;

pub(crate) fn refusal_message(refusal: &Refusal) -> String {
    match refusal {
        Refusal::NotFound(what) => format!("There is no {} [{}].", noun(what.resource), what.value),
        Refusal::NotVisible(what) => {
            format!("The {} [{}] is not visible to this user.", noun(what.resource), what.value)
        }
        Refusal::Suspended(what) => format!("The {} [{}] is suspended.", noun(what.resource), what.value),
        other => api_message(other).to_owned(),
    }
}

/// The public API calls a post a tweet in its older vocabulary.
fn noun(resource: &'static str) -> &'static str {
    if resource == "tweet" { "post" } else { resource }
}
