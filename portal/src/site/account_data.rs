//! What members do with their data as a whole: downloading it, deleting and restoring their account.

use std::sync::Arc;

use base::{Error, Fault, Secret, SplitRefusal};
use futures_util::stream;
use http::header::{CACHE_CONTROL, CONTENT_DISPOSITION, HeaderValue};
use identity::account_archives::{self, ArchiveDownload};
use identity::account_deletion::{self, RESTORATION_PERIOD_MS, RestorationOffer, RestorationOutcome};
use identity::sessions as rules;
use pages::{AccountArchiveForm, AccountDataPage, AccountDeletionForm, FormField, RestoreAccountPage};
use transfer::AccountArchiveSource;
use web::page_context::{DEFAULT_PATH, SITE_LINKS};
use web::reply::HttpReply;
use web::request_context::RequestContext;

use super::password_check::{password_error, verify_password};
use super::return_target::ReturnTarget;
use super::sign_in_code::ask_for_code;
use super::{BrowserVisit, MemberVisit, PageExit, redirect_to, session};

pub(crate) const DATA_PATH: &str = SITE_LINKS.data;
pub(crate) const ARCHIVE_PATH: &str = "/settings/data/archive";
pub(crate) const DELETE_PATH: &str = "/settings/data/delete";
pub(crate) const RESTORE_PATH: &str = "/account/restore";

const DAY_MS: i64 = 24 * 3600 * 1000;

pub(crate) async fn show(call: RequestContext) -> Result<HttpReply, PageExit> {
    let visit = MemberVisit::from_call(&call).await?;
    data_page(&call, &visit, DataPageErrors::default())
}

#[derive(Default)]
struct DataPageErrors {
    archive_password: FormField,
    password: FormField,
    failure: Option<String>,
}

fn data_page(call: &RequestContext, visit: &BrowserVisit, refused: DataPageErrors) -> Result<HttpReply, PageExit> {
    let mut frame = visit.page_frame(call);
    frame.failure = refused.failure;
    let days = RESTORATION_PERIOD_MS / DAY_MS;
    let page = AccountDataPage {
        frame,
        archive: AccountArchiveForm { action: ARCHIVE_PATH.to_owned(), password: refused.archive_password },
        deletion: AccountDeletionForm { action: DELETE_PATH.to_owned(), days, password: refused.password },
    };
    Ok(visit.render_page(call, &page)?)
}

/// `POST /settings/data/archive`. The archive is made while it is sent.
pub(crate) async fn download_archive(call: RequestContext) -> Result<HttpReply, PageExit> {
    let (visit, sent) = MemberVisit::accept_form(&call).await?;
    let allowed = match verify_password(&call, &visit, sent.text("archive_password")).await {
        Ok(()) => start_download(&call, visit.audit_actor()).await,
        Err(stop) => Err(stop),
    };
    match allowed.split_refusal()? {
        Ok(download) => Ok(send_archive(&call, &visit.person.user.username, download)?),
        Err(refusal) => {
            let (archive_password, failure, status) = password_error(&refusal);
            let refused = DataPageErrors { archive_password, failure, ..DataPageErrors::default() };
            Ok(data_page(&call, &visit, refused)?.status(status))
        }
    }
}

async fn start_download(call: &RequestContext, actor: network::audit::AuditActor) -> Result<ArchiveDownload, Error> {
    let download = ArchiveDownload::start(&call.state.page_context.archive_downloads, actor.require_user()?)?;
    call.write(move |tx| account_archives::record_download(tx, &actor)).await?;
    Ok(download)
}

fn send_archive(call: &RequestContext, username: &str, download: ArchiveDownload) -> Result<HttpReply, Error> {
    let chunks = transfer::stream_account_archive(AccountArchiveSource {
        store: Arc::clone(call.store()),
        files: call.uploads()?.files().clone(),
        user: download.user(),
        site_url: call.state.page_context.config.base_url.clone(),
    });
    let body = stream::unfold((chunks, download), async |(mut chunks, download)| {
        Some((chunks.recv().await?, (chunks, download)))
    });
    let name = HeaderValue::from_str(&format!("attachment; filename=\"archive-{username}.zip\""));
    let name = name.map_err(Fault::context("naming an archive"))?;
    let mut reply = call.respond_parts(HeaderValue::from_static("application/zip"), body);
    reply.body = reply.body.reset_on_error();
    Ok(reply.header(CONTENT_DISPOSITION, name).header(CACHE_CONTROL, HeaderValue::from_static("no-store")))
}

pub(crate) async fn delete_account(call: RequestContext) -> Result<HttpReply, PageExit> {
    let (visit, sent) = MemberVisit::accept_form(&call).await?;
    let deleted = match verify_password(&call, &visit, sent.text("password")).await {
        Ok(()) => {
            let (site, by) = (call.state.page_context.site.clone(), visit.audit_actor());
            call.write(move |tx| account_deletion::request(tx, &site, &by)).await
        }
        Err(stop) => Err(stop),
    };
    match deleted.split_refusal()? {
        Ok(_) => {
            let reply = redirect_to(&format!("{}?done=deleted", SITE_LINKS.sign_in));
            Ok(session::clear_session_cookie(&call, reply))
        }
        Err(refusal) => {
            let (password, failure, status) = password_error(&refusal);
            let refused = DataPageErrors { password, failure, ..DataPageErrors::default() };
            Ok(data_page(&call, &visit, refused)?.status(status))
        }
    }
}

/// Answers somebody who signs in to an account that they have deleted.
pub(crate) async fn offer_restoration(
    call: &RequestContext,
    visit: &BrowserVisit,
    next: &str,
    offer: &RestorationOffer,
) -> Result<HttpReply, PageExit> {
    let mut frame = visit.page_frame(call);
    frame.now.zone = offer.zone.clone();
    let page = RestoreAccountPage {
        frame,
        action: RESTORE_PATH.to_owned(),
        token: offer.secret.expose_secret().to_owned(),
        next: next.to_owned(),
        username: offer.username.clone(),
        erase_at: offer.erase_at,
    };
    let reply = visit.render_page(call, &page)?;
    Ok(ReturnTarget::from_path(call, next).await?.allow_redirects(reply))
}

/// `POST /account/restore`. Restores the account and signs in to it, after the second factor if it has one.
pub(crate) async fn restore_account(call: RequestContext) -> Result<HttpReply, PageExit> {
    let (visit, sent) = BrowserVisit::accept_form(&call).await?;
    let next = sent.return_path().unwrap_or_else(|| DEFAULT_PATH.to_owned());
    let (secret, presented, client) =
        (Secret::new(sent.text("token")), visit.session_digest, visit.client_info.clone());
    let lifetime = call.state.page_context.sign_in_gate.ttl_ms;
    let restored = call.write(move |tx| match account_deletion::accept_restoration(tx, &secret, &client.address)? {
        RestorationOutcome::CodeNeeded { pending } => Ok(Err(pending)),
        RestorationOutcome::Restored(user) => Ok(Ok(rules::start(tx, presented.as_ref(), user, &client, lifetime)?)),
    });
    match restored.await.split_refusal()? {
        Ok(Err(pending)) => Ok(ask_for_code(&call, &next, &pending)),
        Ok(Ok((text, started))) => Ok(session::begin_session(&call, &next, &text, started.user_id).await?),
        Err(_) => Ok(redirect_to(SITE_LINKS.sign_in)),
    }
}
