//! Forms whose effect must not happen twice when they are submitted twice.

use base::clock::wall_time;
use base::secret::digest;
use base::{Error, Fault, UserId};
use store::{TransactionWork, nonces};
use web::request_context::RequestContext;

const FORM_ID_LENGTH: usize = 16;

/// A value for the hidden field `form`. Errors: the operating system has no randomness.
pub fn new_form_id(call: &RequestContext) -> Result<String, Fault> {
    call.store_context().rng.random_token(FORM_ID_LENGTH)
}

/// Whether the form has had its effect. Another request may be about to cause it: only `write_once` excludes that.
pub async fn is_submitted(call: &RequestContext, user: UserId, form_id: &str) -> Result<bool, Error> {
    let Some(digest) = digest_form(user, form_id) else { return Ok(false) };
    call.read(move |tx| Ok(nonces::is_form_claimed(tx, &digest)?)).await
}

/// Writes what a form asks for, in the transaction that claims its id; `None` if the form has had its effect before.
pub fn write_once<'a, T: Send + 'static, W: TransactionWork<T>>(
    call: &'a RequestContext,
    user: UserId,
    form_id: &str,
    work: W,
) -> impl Future<Output = Result<Option<T>, Error>> + Send + use<'a, T, W> {
    let digest = digest_form(user, form_id);
    call.write(move |tx| {
        if let Some(digest) = &digest
            && !nonces::claim_form(tx, digest, wall_time())?
        {
            return Ok(None);
        }
        work(tx).map(Some)
    })
}

/// None for a form without an id, which is submitted as often as it is sent.
fn digest_form(user: UserId, form_id: &str) -> Option<[u8; 32]> {
    (!form_id.is_empty()).then(|| digest(&format!("form\0{user}\0{form_id}")))
}
