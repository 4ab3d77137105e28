use super::{HOSTILE, HOSTILE_URL, hostile_frame, signed_in_frame, with_notice};
use pages::FormField;
use pages::members::{EditProfilePage, ProfilePictureForm};

fn picture_form(key: &'static str, url: &str, problem: Option<&str>) -> ProfilePictureForm {
    ProfilePictureForm {
        key,
        heading: "Picture",
        help: "A JPEG, PNG or WebP file of up to 5 MB.",
        url: url.to_owned(),
        is_set: !url.is_empty(),
        file: FormField { value: String::new(), error: problem.map(str::to_owned) },
    }
}

pub(crate) fn edit_profile_states() -> Vec<(&'static str, EditProfilePage)> {
    let of = |frame, name: FormField, pictures| EditProfilePage {
        frame,
        description: name.clone(),
        location: name.clone(),
        url: FormField::new("https://sea.example"),
        name,
        is_protected: false,
        receives_messages: true,
        time_zone: FormField::new("Europe/Berlin"),
        time_zones: ["UTC", "Europe/Berlin", HOSTILE].map(str::to_owned).into(),
        pictures,
        form_id: "f0rm".to_owned(),
    };
    let pictures = |url, problem| [picture_form("picture", url, problem), picture_form("banner", url, problem)];
    let path = format!("/media/{HOSTILE}");
    let hostile = EditProfilePage {
        url: FormField::invalid(HOSTILE_URL, HOSTILE),
        time_zone: FormField::invalid(HOSTILE, HOSTILE),
        is_protected: true,
        receives_messages: false,
        ..of(hostile_frame(), FormField::invalid(HOSTILE, HOSTILE), pictures(&path, Some(HOSTILE)))
    };
    let saved = with_notice(signed_in_frame(), "Your changes were saved.");
    vec![
        ("plain", of(signed_in_frame(), FormField::new("Ada"), pictures("", None))),
        ("saved", of(saved, FormField::new("Ada"), pictures("/media/3_1.jpg", None))),
        ("refused", of(signed_in_frame(), FormField::new("Ada"), pictures("", Some("Choose a file.")))),
        ("hostile", hostile),
    ]
}
