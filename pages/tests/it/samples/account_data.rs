use super::{HOSTILE, days_ago, hostile_frame, signed_in_frame, signed_out_frame};
use pages::{AccountArchiveForm, AccountDataPage, AccountDeletionForm, FormField, PageFrame, RestoreAccountPage};

pub(crate) fn account_data_states() -> Vec<(&'static str, AccountDataPage)> {
    let of = |frame: PageFrame, password| AccountDataPage {
        frame,
        archive: AccountArchiveForm { action: "/settings/data/archive".to_owned(), password: FormField::default() },
        deletion: AccountDeletionForm { action: "/settings/data/delete".to_owned(), days: 30, password },
    };
    vec![
        ("plain", of(signed_in_frame(), FormField::default())),
        ("refused", of(signed_in_frame(), FormField::invalid("", "The password is wrong"))),
        ("hostile", of(hostile_frame(), FormField::invalid(HOSTILE, HOSTILE))),
    ]
}

pub(crate) fn restore_account_states() -> Vec<(&'static str, RestoreAccountPage)> {
    let of = |frame: PageFrame, text: &str| RestoreAccountPage {
        frame,
        action: "/account/restore".to_owned(),
        token: text.to_owned(),
        next: "/home".to_owned(),
        username: text.to_owned(),
        erase_at: days_ago(-30),
    };
    vec![("plain", of(signed_out_frame(), "ada")), ("hostile", of(hostile_frame(), HOSTILE))]
}
