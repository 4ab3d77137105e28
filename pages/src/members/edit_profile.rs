//! The settings of one's own profile.

use askama::Template;

use crate::page::{HtmlPage, html_page};
use crate::{FormField, PageFrame};

/// Values and labels of the field `keep`.
const CROP_POSITIONS: [(&str, &str); 3] =
    [("centre", "The middle"), ("start", "The top, or the left"), ("end", "The bottom, or the right")];

/// The form of one picture. Form fields: `part`, which is the key; the file `media`; `keep`, which is the part of it that
/// is shown; `form`; `act`, which is `upload` or `remove`.
pub struct ProfilePictureForm {
    /// `picture` or `banner`.
    pub key: &'static str,
    pub heading: &'static str,
    pub help: &'static str,
    /// Of the current picture; empty if there is none.
    pub url: String,
    pub is_set: bool,
    /// Its value is empty.
    pub file: FormField,
}

/// Form fields: `name`, `description`, `location`, `url`, `protected`, `messages`, `time_zone`, `form`.
#[derive(Template)]
#[template(path = "members/edit_profile.html")]
pub struct EditProfilePage {
    pub frame: PageFrame,
    pub name: FormField,
    pub description: FormField,
    pub location: FormField,
    pub url: FormField,
    pub is_protected: bool,
    /// Whether everyone may message, or only the accounts that the owner follows.
    pub receives_messages: bool,
    /// The name of the member's zone.
    pub time_zone: FormField,
    /// UTC, then by region.
    pub time_zones: Vec<String>,
    pub pictures: [ProfilePictureForm; 2],
    /// Makes a form that is sent twice count once.
    pub form_id: String,
}

impl EditProfilePage {
    const SECTION: &'static str = "Profile";
}

html_page!(EditProfilePage, |_| "Profile settings".to_owned(), |page| {
    let [picture, banner] = &page.pictures;
    vec![
        ("name", &page.name),
        ("description", &page.description),
        ("location", &page.location),
        ("url", &page.url),
        ("time_zone", &page.time_zone),
        (picture.key, &picture.file),
        (banner.key, &banner.file),
    ]
});
