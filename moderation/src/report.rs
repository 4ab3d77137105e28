//! The form that members report something with.

use base::{Refusal, SplitRefusal};
use network::reports::{self, CATEGORIES, NewReport, SUBJECT_NAMES, SubjectKind};
use pages::{FormField, ReportPage, TextPage};
use portal::{BrowserVisit, MemberVisit, PageExit, PageQuery};
use store::Tx;
use web::HttpReply;
use web::error_formats::error_message;
use web::request_context::RequestContext;

pub(crate) const PATH: &str = "/report";

/// `GET /report?post=ID`, or `user`, `message` or `list`.
pub(crate) async fn show(call: RequestContext) -> Result<HttpReply, PageExit> {
    let visit = MemberVisit::from_call(&call).await?;
    let (kind, name, id) = parse_subject(&call)?;
    let reporter = visit.person.user.id;
    call.read(move |tx: &mut Tx<'_>| reports::find_subject(tx, reporter, kind, id).map(drop)).await?;
    render(&call, &visit, name, id, ("", FormField::default()))
}

/// The query names the subject, as that of the form's page does.
pub(crate) async fn submit(call: RequestContext) -> Result<HttpReply, PageExit> {
    let (visit, sent) = MemberVisit::accept_form(&call).await?;
    let (kind, name, id) = parse_subject(&call)?;
    let new =
        NewReport { subject_kind: kind, subject_id: id, category: sent.text("category"), text: sent.text("text") };
    let (actor, category, text) = (visit.audit_actor(), new.category.clone(), new.text.clone());
    match call.write(move |tx: &mut Tx<'_>| reports::report(tx, &actor, &new).map(drop)).await.split_refusal()? {
        Ok(()) => thanks(&call, &visit),
        Err(refusal) => {
            let status = if refusal == Refusal::RateLimited { 429 } else { 400 };
            let field = FormField::invalid(text, error_message(&refusal));
            Ok(render(&call, &visit, name, id, (&category, field))?.status(status))
        }
    }
}

fn parse_subject(call: &RequestContext) -> Result<(SubjectKind, &'static str, i64), Refusal> {
    let query = PageQuery::from_call(call).unwrap_or_default();
    let named = SUBJECT_NAMES.iter().find_map(|(kind, name)| Some((*kind, *name, query.get(name)?)));
    let (kind, name, id) = named.ok_or_else(|| Refusal::missing_parameter("post"))?;
    Ok((kind, name, id.parse().map_err(|_| Refusal::invalid_value(name, id))?))
}

fn render(
    call: &RequestContext,
    visit: &BrowserVisit,
    kind: &'static str,
    id: i64,
    (category, text): (&str, FormField),
) -> Result<HttpReply, PageExit> {
    let page = ReportPage {
        frame: visit.page_frame(call),
        action: format!("{PATH}?{kind}={id}"),
        kind,
        categories: CATEGORIES.to_vec(),
        category: category.to_owned(),
        text,
    };
    Ok(visit.render_page(call, &page)?)
}

fn thanks(call: &RequestContext, visit: &BrowserVisit) -> Result<HttpReply, PageExit> {
    let page = TextPage {
        frame: visit.page_frame(call),
        title: "Thank you".to_owned(),
        html: "<p>A moderator will read your report, and you will be told what became of it.</p>".to_owned(),
    };
    Ok(visit.render_page(call, &page)?)
}
