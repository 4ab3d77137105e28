//! The password of the member who is signed in, which sensitive changes ask for again.

use base::{Error, Refusal, Secret};
use identity::sign_in::PasswordProof;
use pages::FormField;
use web::error_formats::{error_message, refusal_status};
use web::request_context::RequestContext;

use super::{MemberVisit, session};

pub(super) async fn verify_password(call: &RequestContext, visit: &MemberVisit, password: String) -> Result<(), Error> {
    let proof = PasswordProof {
        password: &Secret::new(password),
        client_info: &visit.client_info,
        device: session::known_device(call).await?,
    };
    call.state.page_context.sign_in_gate.verify_password(visit.person.user.id, &proof).await
}

/// The field of the current password, or the failure of the form as a whole, and the status.
pub(super) fn password_error(refusal: &Refusal) -> (FormField, Option<String>, u16) {
    let message = error_message(refusal);
    match refusal {
        Refusal::InvalidParameters(_) => (FormField::invalid("", message), None, 400),
        _ => (FormField::default(), Some(message.to_owned()), refusal_status(refusal)),
    }
}
