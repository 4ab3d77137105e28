//! How long the text of a post may be, for people.

use network::posts::{self, NewPost};
use pages::FormField;
use pages::members::ComposeBox;
use store::users::User;
use web::error_formats::error_message;

pub fn compose_box(user: &User, text: FormField, form_id: String) -> ComposeBox {
    ComposeBox { text, form_id, help: length_help(user) }
}

pub(crate) fn length_help(user: &User) -> String {
    format!("At most {} characters.", group_digits(posts::max_weight(user)))
}

/// Why a post was refused.
pub fn post_error_message(user: &User, new: &NewPost, refusal: &base::Refusal) -> String {
    match posts::excess_weight(user, new) {
        Some(excess) if refusal.first_parameter() == "text" => {
            let unit = if excess == 1 { "character" } else { "characters" };
            let (excess, limit) = (group_digits(excess), group_digits(posts::max_weight(user)));
            format!("This is {excess} {unit} too long: a post has at most {limit}.")
        }
        _ => error_message(refusal).to_owned(),
    }
}

fn group_digits(number: u32) -> String {
    match (number / 1000, number % 1000) {
        (0, rest) => rest.to_string(),
        (thousands, rest) => format!("{thousands},{rest:03}"),
    }
}
