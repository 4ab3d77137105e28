//! Who may open the pages of the administration.

use base::Refusal;
use base::clock::wall_time;
use network::audit::AuditActor;
use network::user_roles::UserRole;
use portal::{BrowserVisit, PageExit};
use web::request_context::RequestContext;

use crate::admin::QUEUE_PATH;

/// How long after signing in the pages of the administration open.
const RECENT_SIGN_IN_MS: i64 = 12 * 3600 * 1000;

/// The person with at least this role. To everyone else the page does not exist; who signed in long ago does so again.
pub(crate) fn require_staff(
    call: &RequestContext,
    visit: &BrowserVisit,
    needed: UserRole,
) -> Result<AuditActor, PageExit> {
    let person = visit.require_sign_in(call)?;
    if !visit.has_role(needed) {
        return Err(Refusal::RouteNotFound.into());
    }
    if person.session.created_at.plus_ms(RECENT_SIGN_IN_MS) < wall_time() {
        return Err(visit.exit_to_sign_in_again(call, QUEUE_PATH));
    }
    Ok(person.audit_actor(visit))
}
