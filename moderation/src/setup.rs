//! The link that makes someone the first owner.

use base::{Error, Refusal, Secret, SplitRefusal};
use identity::first_owner;
use pages::{OwnerSetup, RegistrationAccess, SignUpPage, TextPage};
use portal::{
    BrowserVisit, PageExit, PageQuery, SignUpFields, SubmittedForm, redirect_to, sent_applicant, start_first_session,
};
use store::Tx;
use web::HttpReply;
use web::page_context::SITE_LINKS;
use web::request_context::RequestContext;

use crate::admin::SITE_PATH;

pub(crate) const PATH: &str = "/setup";

/// `GET /setup?token=…`. Opening the page does not use the link up, since programs fetch links too.
pub(crate) async fn show(call: RequestContext) -> Result<HttpReply, PageExit> {
    let visit = BrowserVisit::from_call(&call).await?;
    require_no_owner(&call).await?;
    let query = PageQuery::from_call(&call).unwrap_or_default();
    let token = query.get("token").unwrap_or_default().to_owned();
    let secret = token.clone();
    let is_valid =
        call.read(move |tx: &mut Tx<'_>| Ok::<_, Error>(first_owner::is_setup_link_valid(tx, &secret)?)).await?;
    if !is_valid {
        let html = "<p>This link no longer works. The server prints another when it starts, as does \
                    <code>locum role setup</code>.</p>";
        return Ok(render_text(&call, &visit, html.to_owned())?.status(403));
    }
    match &visit.person {
        Some(person) => {
            let html = format!(
                "<p>Your account @{} becomes the owner of this site, who may change everything about it.</p>\
                 <form method=\"post\" action=\"{PATH}\"><input type=\"hidden\" name=\"csrf\" value=\"{}\">\
                 <input type=\"hidden\" name=\"token\" value=\"{token}\">\
                 <div class=\"actions\"><button type=\"submit\" class=\"button\">Become the owner</button></div>\
                 </form>",
                person.user.username,
                visit.page_frame(&call).csrf,
            );
            render_text(&call, &visit, html)
        }
        None => render_form(&call, &visit, token, SignUpFields::default()),
    }
}

pub(crate) async fn submit(call: RequestContext) -> Result<HttpReply, PageExit> {
    let (visit, sent) = BrowserVisit::accept_form(&call).await?;
    require_no_owner(&call).await?;
    let Some(person) = &visit.person else {
        return register(&call, &visit, &sent).await;
    };
    let (actor, token) = (person.audit_actor(&visit), sent.text("token"));
    call.write(move |tx: &mut Tx<'_>| first_owner::accept_setup(tx, &actor, &token)).await?;
    Ok(redirect_to(SITE_PATH))
}

async fn register(
    call: &RequestContext,
    visit: &BrowserVisit,
    sent: &SubmittedForm<'_>,
) -> Result<HttpReply, PageExit> {
    let (context, token) = (&call.state.page_context, sent.text("token"));
    let (secret, applicant) = (Secret::new(token.as_str()), sent_applicant(visit, sent));
    let sends_mail = context.config.sends_mail;
    let registered =
        first_owner::register_first_owner(&context.sign_in_gate, &context.site, sends_mail, &secret, &applicant);
    match registered.await.split_refusal()? {
        Ok(user) => start_first_session(call, visit, user, SITE_PATH).await,
        Err(refusal) => {
            let status = match refusal {
                Refusal::RateLimited => 429,
                Refusal::Forbidden { .. } => 403,
                _ => 400,
            };
            Ok(render_form(call, visit, token, SignUpFields::from_refusal(sent, &refusal))?.status(status))
        }
    }
}

/// To everyone the page exists only until there is an owner.
async fn require_no_owner(call: &RequestContext) -> Result<(), PageExit> {
    let has_owner = call.read(|tx: &mut Tx<'_>| Ok::<_, Error>(first_owner::has_owner(tx)?)).await?;
    if has_owner { Err(Refusal::RouteNotFound.into()) } else { Ok(()) }
}

fn render_text(call: &RequestContext, visit: &BrowserVisit, html: String) -> Result<HttpReply, PageExit> {
    let page = TextPage { frame: visit.page_frame(call), title: "Set up this site".to_owned(), html };
    Ok(visit.render_page(call, &page)?)
}

fn render_form(
    call: &RequestContext,
    visit: &BrowserVisit,
    token: String,
    typed: SignUpFields,
) -> Result<HttpReply, PageExit> {
    let here = format!("{PATH}?token={token}");
    let here = base::percent::encode(&here);
    let mut frame = visit.page_frame(call);
    frame.failure = typed.failure;
    let page = SignUpPage {
        frame,
        action: PATH.to_owned(),
        next: String::new(),
        app: None,
        access: RegistrationAccess::Open,
        owner_setup: Some(OwnerSetup { token, sign_in: format!("{}?next={here}", SITE_LINKS.sign_in) }),
        username: typed.username,
        name: typed.name,
        email: typed.email,
        password: typed.password,
    };
    Ok(visit.render_page(call, &page)?)
}
