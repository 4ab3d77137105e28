//! The signature explainer, in development only: it discloses the expected signature.

use base::{Error, Refusal};
use identity::explain::{self, SignatureExplainRequest};
use pages::{FormField, RefusedRequestPage, SignatureExplainerPage, SignatureReport};
use web::page_context::SITE_LINKS;
use web::request_context::{HttpReply, RequestContext};

use super::not_found_page;
use crate::site::{BrowserVisit, PageExit};

pub(crate) async fn show_explainer(call: RequestContext) -> Result<HttpReply, PageExit> {
    let visit = BrowserVisit::from_call(&call).await?;
    Ok(visit.render_page(&call, &empty_page(&call, &visit))?)
}

/// `POST /developer/explain`. Nothing is carried out.
pub(crate) async fn explain_request(call: RequestContext) -> Result<HttpReply, PageExit> {
    let (visit, form) = BrowserVisit::accept_form(&call).await?;
    let asked = SignatureExplainRequest {
        method: form.text("method"),
        url: form.text("url"),
        authorization: form.text("authorization"),
        form: form.optional_text("body"),
        base_string: form.optional_text("base_string"),
    };
    let mut page = empty_page(&call, &visit);
    page.method = FormField::new(&asked.method);
    page.url = FormField::new(&asked.url);
    page.authorization = FormField::new(&asked.authorization);
    page.body = FormField::new(form.text("body"));
    page.base_string = FormField::new(form.text("base_string"));
    let skew = call.authenticator().skew_ms();
    let explained = call.read(move |tx| explain::explain_signature(tx, &asked, skew)).await;
    let mut status = 200;
    match explained {
        Ok(found) => page.report = Some(explanation_view(found)),
        Err(Error::Refused(Refusal::InvalidParameters(wrong))) => {
            status = 400;
            for wrong in wrong {
                let error = Some(format!("{}.", wrong.message));
                match wrong.parameter.as_ref() {
                    "url" => page.url.error = error,
                    _ => page.authorization.error = error,
                }
            }
        }
        Err(stop) => return Err(stop.into()),
    }
    Ok(visit.render_page(&call, &page)?.status(status))
}

/// `GET /developer/explain/{id}`, an address from the header `x-locum-explain`.
pub(crate) async fn show_refused_request(call: RequestContext) -> Result<HttpReply, PageExit> {
    let visit = BrowserVisit::from_call(&call).await?;
    let id = call.path_text("id")?;
    let request = call.state.refused_requests.as_ref().and_then(|log| log.find(id));
    let Some(request) = request else {
        return Err(not_found_page(&call, &visit));
    };
    let (asked, skew) = (request.clone(), call.authenticator().skew_ms());
    let explanation = call.read(move |tx| asked.explain(tx, skew)).await?;
    let report = explanation.signature.map(explanation_view);
    let of_signature = report.iter().flat_map(|report| report.hints.iter().cloned());
    let page = RefusedRequestPage {
        frame: visit.page_frame(&call),
        explainer_path: SITE_LINKS.signature.to_owned(),
        request_line: format!("{} {}", request.auth.method, request.url()),
        refused_at: request.refused_at,
        oauth1_header: request.oauth1_header().map(str::to_owned),
        hints: explanation.hints.into_iter().chain(of_signature).collect(),
        report,
    };
    Ok(visit.render_page(&call, &page)?)
}

fn empty_page(call: &RequestContext, visit: &BrowserVisit) -> SignatureExplainerPage {
    SignatureExplainerPage {
        frame: visit.page_frame(call),
        action: SITE_LINKS.signature.to_owned(),
        method: FormField::new("GET"),
        url: FormField::default(),
        authorization: FormField::default(),
        body: FormField::default(),
        base_string: FormField::default(),
        report: None,
    }
}

fn explanation_view(found: explain::SignedRequestExplanation) -> SignatureReport {
    let sentences = found.failures.into_iter().map(|(_, text)| text);
    SignatureReport {
        is_valid: found.is_valid,
        base_string: found.base_string,
        client_base_string: found.client_base_string,
        expected_signature: found.expected,
        given_signature: found.presented,
        hints: sentences.chain(found.hints).collect(),
    }
}
