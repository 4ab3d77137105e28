//! Creating an account.

use base::refusal::InvalidParameter as Fault;
use base::{Error, Refusal, Secret};
use network::registration::{self, RegistrationApplicant, RegistrationPolicy};
use network::{email_links, sessions};
use pages::{Field, SignUp};

use super::errand::Errand;
use super::forms::{self, Form, Query};
use super::front::{HOME, LINKS};
use super::{Turn, Visit, headers, run, see, session};
use crate::call::Call;
use crate::endpoint::Pending;
use crate::reply::Reply;

/// `GET /join`, also where invitations lead.
pub(crate) fn show(call: Call) -> Pending {
    run(async move {
        let visit = Visit::of(&call).await?;
        let query = Query::of(&call).ok();
        let get = |name| query.as_ref().and_then(|query| query.get(name));
        let next = get("next").and_then(forms::own_path).unwrap_or(HOME);
        let invite = get("token").unwrap_or_default();
        let typed = Typed::default();
        page(&call, &visit, next, invite, typed).await
    })
}

/// `POST /join`.
pub(crate) fn submit(call: Call) -> Pending {
    run(async move {
        let visit = Visit::of(&call).await?;
        let sent = forms::taken(&call, &visit).await?;
        let next = sent.next().unwrap_or_else(|| HOME.to_owned());
        let query = Query::of(&call).ok();
        let invite = query.as_ref().and_then(|query| query.get("token"));
        let invite = invite.unwrap_or_default();
        let applicant = RegistrationApplicant {
            username: sent.text("username"),
            name: sent.text("name"),
            email: sent.text("email"),
            password: Secret::new(sent.text("password")),
            invite: Some(invite)
                .filter(|text| !text.is_empty())
                .map(Secret::new),
            client_info: visit.facts.clone(),
        };
        let front = &call.home.front;
        let (site, who) = (&front.site, front.config.registration);
        let user = match registration::register(&front.gate, site, who, &applicant).await {
            Ok(user) => user,
            Err(Error::Refused(refusal)) => {
                let typed = Typed::refused(&sent, &refusal);
                let status = if refusal == Refusal::RateLimited {
                    429
                } else {
                    400
                };
                let reply = page(&call, &visit, &next, invite, typed).await?;
                return Ok(reply.status(status));
            }
            Err(failed) => return Err(failed.into()),
        };
        let (facts, presented, ttl_ms) = (visit.facts.clone(), visit.presented, front.gate.ttl_ms);
        let begun = call.write(move |tx| {
            let begun = sessions::start(tx, presented.as_ref(), user, &facts, ttl_ms)?;
            Ok(begun.0)
        });
        Ok(session::remember(&call, see(&next), &begun.await?))
    })
}

/// What was typed, and what is wrong with it.
#[derive(Default)]
struct Typed {
    username: Field,
    name: Field,
    email: Field,
    password: Field,
    failure: Option<String>,
}

impl Typed {
    fn refused(sent: &Form<'_>, refusal: &Refusal) -> Self {
        let mut typed = Self {
            username: Field::of(sent.text("username")),
            name: Field::of(sent.text("name")),
            email: Field::of(sent.text("email")),
            ..Self::default()
        };
        match refusal {
            Refusal::InvalidParameters(wrong) => wrong.iter().for_each(|wrong| typed.blame(wrong)),
            Refusal::RateLimited => {
                typed.failure = Some("That was tried too often. Try again in a while.".to_owned());
            }
            Refusal::Forbidden { detail, .. } => typed.failure = Some(detail.to_string()),
            _ => typed.failure = Some("That did not work.".to_owned()),
        }
        typed
    }

    fn blame(&mut self, wrong: &Fault) {
        let text = if wrong.parameter == "username" {
            username_wrong(&self.username.value)
        } else {
            wrong.message.clone()
        };
        match wrong.parameter.as_ref() {
            "username" => self.username.error = Some(text),
            "name" => self.name.error = Some(text),
            "email" => self.email.error = Some(text),
            "password" => self.password.error = Some(text),
            _ => self.failure = Some(text),
        }
    }
}

fn username_wrong(username: &str) -> String {
    let fits = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    if (1..=15).contains(&username.len()) && username.chars().all(fits) {
        "This username is taken".to_owned()
    } else {
        "A username has 1 to 15 letters, digits and underscores".to_owned()
    }
}

async fn page(
    call: &Call,
    visit: &Visit,
    next: &str,
    invite: &str,
    typed: Typed,
) -> Result<Reply, Turn> {
    let token = invite.to_owned();
    let open = match call.home.front.config.registration {
        RegistrationPolicy::Open => true,
        RegistrationPolicy::Closed => false,
        RegistrationPolicy::Invite => {
            call.read(move |tx| Ok(email_links::is_invitation_valid(tx, &token)?))
                .await?
        }
    };
    let action = if invite.is_empty() {
        LINKS.sign_up.to_owned()
    } else {
        format!("{}?token={}", LINKS.sign_up, base::percent::encode(invite))
    };
    let errand = Errand::of(call, next).await?;
    let mut frame = visit.frame(call);
    frame.failure = typed.failure;
    let page = SignUp {
        frame,
        action,
        next: next.to_owned(),
        app: errand.app,
        open,
        username: typed.username,
        name: typed.name,
        email: typed.email,
        password: typed.password,
    };
    let reply = visit.page(call, &page)?;
    Ok(headers::leading_to(reply, errand.target.as_deref()))
}
