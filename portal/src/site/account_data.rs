//! What members do with their data as a whole: deleting and restoring their account.

use base::{Error, Secret};
use network::account_deletion::{self, RESTORATION_PERIOD_MS, RestorationOffer};
use network::sessions as rules;
use network::sign_in::PasswordProof;
use pages::{AccountDataPage, AccountDeletionForm, FormField, RestoreAccountPage};
use web::endpoint::HandlerFuture;
use web::page_context::{DEFAULT_PATH, SITE_LINKS};
use web::reply::HttpReply;
use web::request_context::RequestContext;

use super::forms;
use super::settings::password_error;
use super::{BrowserVisit, PageExit, redirect_to, run_page, session};

pub(crate) const DATA_PATH: &str = SITE_LINKS.data;
pub(crate) const DELETE_PATH: &str = "/settings/data/delete";
pub(crate) const RESTORE_PATH: &str = "/account/restore";

const DAY_MS: i64 = 24 * 3600 * 1000;

/// `GET /settings/data`.
pub(crate) fn show(call: RequestContext) -> HandlerFuture {
    run_page(async move {
        let visit = BrowserVisit::from_call(&call).await?;
        visit.require_sign_in(&call)?;
        data_page(&call, &visit, FormField::default(), None)
    })
}

fn data_page(
    call: &RequestContext,
    visit: &BrowserVisit,
    password: FormField,
    failure: Option<String>,
) -> Result<HttpReply, PageExit> {
    let mut frame = visit.page_frame(call);
    frame.failure = failure;
    let days = RESTORATION_PERIOD_MS / DAY_MS;
    let page =
        AccountDataPage { frame, deletion: AccountDeletionForm { action: DELETE_PATH.to_owned(), days, password } };
    Ok(visit.render_page(call, &page)?)
}

/// `POST /settings/data/delete`.
pub(crate) fn delete_account(call: RequestContext) -> HandlerFuture {
    run_page(async move {
        let visit = BrowserVisit::from_call(&call).await?;
        let person = visit.require_sign_in(&call)?;
        let sent = forms::accept_form(&call, &visit).await?;
        let password = Secret::new(sent.text("password"));
        let proof = PasswordProof {
            password: &password,
            client_info: &visit.client_info,
            device: session::known_device(&call).await?,
        };
        let gate = &call.state.page_context.sign_in_gate;
        let deleted = match gate.verify_password(person.user.id, &proof).await {
            Ok(()) => {
                let (site, by) = (call.state.page_context.site.clone(), person.audit_actor(&visit));
                call.write(move |tx| account_deletion::request(tx, &site, &by)).await
            }
            Err(stop) => Err(stop),
        };
        match deleted {
            Ok(_) => {
                let reply = redirect_to(&format!("{}?done=deleted", SITE_LINKS.sign_in));
                Ok(session::clear_session_cookie(&call, reply))
            }
            Err(Error::Refused(refusal)) => {
                let (password, failure, status) = password_error(&refusal);
                Ok(data_page(&call, &visit, password, failure)?.status(status))
            }
            Err(failed) => Err(failed.into()),
        }
    })
}

/// Answers somebody who signs in to an account that they have deleted.
pub(crate) fn offer_restoration(
    call: &RequestContext,
    visit: &BrowserVisit,
    next: &str,
    offer: &RestorationOffer,
) -> Result<HttpReply, PageExit> {
    let page = RestoreAccountPage {
        frame: visit.page_frame(call),
        action: RESTORE_PATH.to_owned(),
        token: offer.secret.expose_secret().to_owned(),
        next: next.to_owned(),
        username: offer.username.clone(),
        erase_at: offer.erase_at,
    };
    Ok(visit.render_page(call, &page)?)
}

/// `POST /account/restore`. Signs in to the account.
pub(crate) fn restore_account(call: RequestContext) -> HandlerFuture {
    run_page(async move {
        let visit = BrowserVisit::from_call(&call).await?;
        let sent = forms::accept_form(&call, &visit).await?;
        let next = sent.return_path().unwrap_or_else(|| DEFAULT_PATH.to_owned());
        let (secret, presented, client) =
            (Secret::new(sent.text("token")), visit.session_digest, visit.client_info.clone());
        let lifetime = call.state.page_context.sign_in_gate.ttl_ms;
        let restored = call.write(move |tx| {
            let user = account_deletion::restore(tx, &secret, &client.address)?;
            rules::start(tx, presented.as_ref(), user.id, &client, lifetime)
        });
        match restored.await {
            Ok((text, started)) => {
                let reply = session::set_session_cookie(&call, redirect_to(&next), &text);
                Ok(session::set_device_cookie(&call, reply, started.user_id).await?)
            }
            Err(Error::Refused(_)) => Ok(redirect_to(SITE_LINKS.sign_in)),
            Err(failed) => Err(failed.into()),
        }
    })
}
