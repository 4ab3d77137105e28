//! The terms that the site blocks.

use base::{Error, Refusal, SplitRefusal};
use network::blocked_terms::{self, KIND_NAMES, Term, TermKind};
use network::user_roles::UserRole;
use pages::{AdminTermsPage, BlockedTermGroup, BlockedTermItem, FormField};
use portal::{BrowserVisit, PageExit, accept_form, redirect_to};
use store::Tx;
use web::HttpReply;
use web::error_formats::error_message;
use web::request_context::RequestContext;

use super::TERMS_PATH;
use crate::access::require_staff;

struct TermForm {
    kind: TermKind,
    term: FormField,
    hold: bool,
}

pub(crate) async fn show(call: RequestContext) -> Result<HttpReply, PageExit> {
    let visit = BrowserVisit::from_call(&call).await?;
    require_staff(&call, &visit, UserRole::Admin)?;
    let form = TermForm { kind: TermKind::Word, term: FormField::default(), hold: false };
    render(&call, &visit, form).await
}

async fn render(call: &RequestContext, visit: &BrowserVisit, form: TermForm) -> Result<HttpReply, PageExit> {
    let terms = call.read(|tx: &mut Tx<'_>| Ok::<_, Error>(blocked_terms::list(tx)?)).await?;
    let groups = KIND_NAMES.iter().map(|(kind, name)| BlockedTermGroup {
        title: describe_kind(*kind).0,
        terms: terms.iter().filter(|term| term.kind == *kind).map(|term| build_item(name, term)).collect(),
    });
    let page = AdminTermsPage {
        frame: visit.page_frame(call),
        action: TERMS_PATH.to_owned(),
        groups: groups.filter(|group| !group.terms.is_empty()).collect(),
        kinds: KIND_NAMES.iter().map(|(kind, name)| (*name, describe_kind(*kind).1, describe_kind(*kind).2)).collect(),
        kind: blocked_terms::kind_name(form.kind).to_owned(),
        term: form.term,
        hold: form.hold,
    };
    Ok(visit.render_page(call, &page)?)
}

fn build_item(kind: &'static str, term: &Term) -> BlockedTermItem {
    BlockedTermItem { kind, term: term.term.clone(), is_held: term.hold }
}

/// The title of the group, the label of the choice, and what the kind applies to.
fn describe_kind(kind: TermKind) -> (&'static str, &'static str, &'static str) {
    match kind {
        TermKind::Word => (
            "Words and phrases",
            "Word or phrase",
            "In posts, messages, profiles, names and descriptions of lists, and names at registration",
        ),
        TermKind::LinkHost => ("Link hosts", "Link host", "Of links in posts, messages, profiles and lists"),
        TermKind::EmailDomain => ("Email domains", "Email domain", "Of addresses at registration"),
    }
}

pub(crate) async fn submit(call: RequestContext) -> Result<HttpReply, PageExit> {
    let visit = BrowserVisit::from_call(&call).await?;
    let actor = require_staff(&call, &visit, UserRole::Admin)?;
    let sent = accept_form(&call, &visit).await?;
    let kind = blocked_terms::parse_kind(&sent.text("kind"))?;
    let (term, hold) = (sent.text("term"), sent.optional_text("hold").is_some());
    let stored = term.clone();
    let changed = match sent.text("act").as_str() {
        "block" => {
            let block = move |tx: &mut Tx<'_>| blocked_terms::set(tx, &actor, kind, &stored, hold).map(drop);
            call.write(block).await
        }
        "unblock" => call.write(move |tx: &mut Tx<'_>| blocked_terms::delete(tx, &actor, kind, &stored)).await,
        act => return Err(Refusal::invalid_value("act", act).into()),
    };
    match changed.split_refusal()? {
        Ok(()) => Ok(redirect_to(TERMS_PATH)),
        Err(refusal) => {
            let form = TermForm { kind, term: FormField::invalid(term, error_message(&refusal)), hold };
            Ok(render(&call, &visit, form).await?.status(400))
        }
    }
}
