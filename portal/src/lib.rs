//! Pages for people: accounts and consent, the developer portal and the Ads Manager. The HTML is in the crate `pages`.

mod developer;
mod manager;
mod operations;
mod site;

pub use developer::webhooks::{challenge_webhook, keep_replay_range, load_webhook_item};
pub use operations::{DEVELOPMENT, ENDPOINTS, form_endpoint, page_endpoint, portal_page};
pub use site::assets::serve_asset;
pub use site::errors::{exit_page, found_or_exit};
pub use site::forms::{
    PageQuery, SESSION_CHANGED, SubmittedForm, UploadSubmission, accept_form, accept_raw_form, local_path,
    run_text_form, run_upload_form,
};
pub use site::page_ranges::{build_pager, cut_page};
pub use site::post_texts::{compose_box, post_error_message};
pub use site::registration::{SignUpFields, sent_applicant, start_first_session};
pub use site::session::set_session_cookie;
pub use site::shown_values::{SHOWN_FIELD, differs_from_shown, encode_shown_values};
pub use site::sign_in::sign_in_as;
pub use site::submitted_forms;
pub use site::{BrowserVisit, MemberVisit, PageExit, SignedInPerson, find_site_path, redirect_to};
