//! Ways back into an account, and proof that an email address is one's own.

use base::secret::digest;
use base::{Error, Refusal, Secret};
use network::{email_links, registration};
use pages::{Confirmation, Confirmed, Field, Forgotten, Reset, ResetState};

use super::forms::{self, Query};
use super::front::LINKS;
use super::settings::{RESEND, first_message};
use super::{Turn, Visit, run, see, session};
use crate::call::Call;
use crate::endpoint::Pending;
use crate::reply::Reply;

const RESET: &str = network::emails::RESET_PATH;
const CONFIRM: &str = network::emails::CONFIRM_PATH;

/// `GET /forgotten-password`.
pub(crate) fn forgotten(call: Call) -> Pending {
    run(async move {
        let visit = Visit::of(&call).await?;
        ask_page(&call, &visit, Field::default(), false)
    })
}

/// `POST /forgotten-password`. The answer is the same whether or not there is such an account.
pub(crate) fn ask(call: Call) -> Pending {
    run(async move {
        let visit = Visit::of(&call).await?;
        let sent = forms::taken(&call, &visit).await?;
        let email = sent.text("email");
        if email.contains('@') && registration::validate_email(email.trim()).is_err()
            || email.is_empty()
        {
            let field = Field::refused(email, "Write the email address of your account");
            return Ok(ask_page(&call, &visit, field, false)?.status(400));
        }
        let (site, address) = (call.home.front.site.clone(), visit.facts.address.clone());
        let login = email.clone();
        let asked =
            call.write(move |tx| email_links::request_password_reset(tx, &site, &login, &address));
        if asked.await? {
            return ask_page(&call, &visit, Field::of(email), true);
        }
        let field = Field::refused(email, "That was asked too often. Try again in a while.");
        Ok(ask_page(&call, &visit, field, false)?.status(429))
    })
}

fn ask_page(call: &Call, visit: &Visit, email: Field, sent: bool) -> Result<Reply, Turn> {
    let page = Forgotten {
        frame: visit.frame(call),
        action: LINKS.forgotten.to_owned(),
        email,
        sent,
    };
    Ok(visit.page(call, &page)?)
}

/// `GET /account/reset`: whom the link is for. It stays usable.
pub(crate) fn look(call: Call) -> Pending {
    run(async move {
        let visit = Visit::of(&call).await?;
        let token = told(&call);
        reset_page(&call, &visit, &token, Field::default()).await
    })
}

/// `POST /account/reset`.
pub(crate) fn reset(call: Call) -> Pending {
    run(async move {
        let visit = Visit::of(&call).await?;
        let sent = forms::taken(&call, &visit).await?;
        let (token, password) = (sent.text("token"), Secret::new(sent.text("password")));
        let (front, address) = (&call.home.front, &visit.facts.address);
        let secret = Secret::new(token.clone());
        let end_tokens = sent.given("end_tokens").is_some();
        let (gate, site) = (&front.gate, &front.site);
        let done = email_links::reset_password(gate, site, &secret, &password, end_tokens, address);
        match done.await {
            Ok(_) => Ok(session::forget(&call, see(LINKS.sign_in))),
            Err(Error::Refused(Refusal::InvalidParameters(wrong))) => {
                let field = Field::refused("", first_message(&wrong));
                let reply = reset_page(&call, &visit, &token, field).await?;
                Ok(reply.status(400))
            }
            Err(Error::Refused(_)) => reset_page(&call, &visit, &token, Field::default()).await,
            Err(failed) => Err(failed.into()),
        }
    })
}

async fn reset_page(
    call: &Call,
    visit: &Visit,
    token: &str,
    password: Field,
) -> Result<Reply, Turn> {
    let secret = token.to_owned();
    let state = match call
        .read(move |tx| email_links::find_reset_user(tx, &secret))
        .await
    {
        Ok(user) => ResetState::Open {
            username: user.username,
            token: token.to_owned(),
        },
        Err(Error::Refused(_)) => ResetState::Dead,
        Err(failed) => return Err(failed.into()),
    };
    let page = Reset {
        frame: visit.frame(call),
        action: RESET.to_owned(),
        state,
        password,
    };
    Ok(visit.page(call, &page)?)
}

/// `GET /account/confirm`: a form confirms, so that whoever only opens links does not.
pub(crate) fn look_at_address(call: Call) -> Pending {
    run(async move {
        let visit = Visit::of(&call).await?;
        let token = told(&call);
        let key = digest(&token);
        let link = call
            .read(move |tx| Ok(store::emails::find_link(tx, &key, "confirm")?))
            .await?;
        let state = link.map_or(Confirmation::Dead, |link| Confirmation::Ask {
            email: link.email,
            token,
        });
        confirm_page(&call, &visit, state)
    })
}

/// `POST /account/confirm`.
pub(crate) fn confirm(call: Call) -> Pending {
    run(async move {
        let visit = Visit::of(&call).await?;
        let sent = forms::taken(&call, &visit).await?;
        let (token, address) = (sent.text("token"), visit.facts.address.clone());
        let done = call.write(move |tx| email_links::confirm_email(tx, &token, &address));
        match done.await {
            Ok(user) => confirm_page(&call, &visit, Confirmation::Done { email: user.email }),
            Err(Error::Refused(_)) => confirm_page(&call, &visit, Confirmation::Dead),
            Err(failed) => Err(failed.into()),
        }
    })
}

/// How far an address is.
pub(crate) fn confirm_page(call: &Call, visit: &Visit, state: Confirmation) -> Result<Reply, Turn> {
    let page = Confirmed {
        frame: visit.frame(call),
        action: CONFIRM.to_owned(),
        resend: visit.person.as_ref().map(|_| RESEND.to_owned()),
        state,
    };
    Ok(visit.page(call, &page)?)
}

fn told(call: &Call) -> String {
    let query = Query::of(call).ok();
    let token = query.as_ref().and_then(|query| query.get("token"));
    token.unwrap_or_default().to_owned()
}
