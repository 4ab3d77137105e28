//! A person's own password and email address.

use base::refusal::InvalidParameter;
use base::{Error, Refusal, Secret};
use network::{email_links, private_profiles};
use pages::{AboutForm, AccountSettings, Confirmation, EmailForm, Field, Notice, PasswordForm};

use super::forms::{self, Query};
use super::recover::confirm_page;
use super::{Person, Turn, Visit, front, run, see, session};
use crate::call::Call;
use crate::endpoint::Pending;
use crate::reply::Reply;

/// Where the password is changed.
pub(crate) const PASSWORD: &str = "/settings/account/password";
/// Where the address is changed.
pub(crate) const EMAIL: &str = "/settings/account/email";
/// Where another letter is asked for.
pub(crate) const RESEND: &str = "/settings/account/email/resend";
/// Where a change of the address is taken back.
pub(crate) const CANCEL: &str = "/settings/account/email/cancel";

/// Where a person says what only the platform knows.
pub(crate) const ABOUT: &str = "/settings/account/about";

const TOO_OFTEN: &str = "That was tried too often. Try again in a while.";

/// Why forms were refused.
#[derive(Default)]
struct Refused {
    current: Field,
    password: Field,
    email: Field,
    proof: Field,
    born_on: Option<Field>,
    failure: Option<String>,
}

/// `GET /settings/account`.
pub(crate) fn show(call: Call) -> Pending {
    run(async move {
        let visit = Visit::of(&call).await?;
        let person = visit.signed_in(&call)?;
        let query = Query::of(&call).ok();
        let done = query.as_ref().and_then(|query| query.get("done"));
        let notice = match done {
            Some("password") => Some("Your password was changed. Other browsers were signed out."),
            Some("tokens") => Some(
                "Your password was changed. Other browsers were signed out, and apps disconnected.",
            ),
            Some("about") => Some("That is noted, and shown to nobody."),
            Some("cancelled") => Some("Your address stays as it is."),
            _ => None,
        };
        page(&call, &visit, person, notice, Refused::default()).await
    })
}

async fn page(
    call: &Call,
    visit: &Visit,
    person: &Person,
    notice: Option<&str>,
    refused: Refused,
) -> Result<Reply, Turn> {
    let mut frame = visit.frame(call);
    frame.notices = notice.map(Notice::good).into_iter().collect();
    frame.failure = refused.failure;
    let user = person.user.id;
    let (pending, known) = call
        .read(move |tx| {
            Ok((
                email_links::pending_email(tx, user)?,
                private_profiles::find_by_user(tx, user)?,
            ))
        })
        .await?;
    let own = person.user.email.clone();
    let address = Some(own.clone()).filter(|email| !email.is_empty());
    let page = AccountSettings {
        frame,
        email: EmailForm {
            action: EMAIL.to_owned(),
            address,
            confirmed: person.user.email_confirmed,
            pending: pending.filter(|email| !email.eq_ignore_ascii_case(&own)),
            resend: RESEND.to_owned(),
            cancel: CANCEL.to_owned(),
            email: refused.email,
            password: refused.proof,
        },
        password: PasswordForm {
            action: PASSWORD.to_owned(),
            current: refused.current,
            password: refused.password,
        },
        about: AboutForm {
            action: ABOUT.to_owned(),
            born_on: refused.born_on.unwrap_or_else(|| Field::of(known.born_on)),
            gender: match known.gender {
                1 => "male",
                2 => "female",
                _ => UNSAID,
            },
        },
    };
    Ok(visit.page(call, &page)?)
}

/// `POST /settings/account/password`.
pub(crate) fn password(call: Call) -> Pending {
    run(async move {
        let visit = Visit::of(&call).await?;
        let person = visit.signed_in(&call)?;
        let sent = forms::taken(&call, &visit).await?;
        let old = Secret::new(sent.text("current"));
        let new = Secret::new(sent.text("password"));
        let front = &call.home.front;
        // A wrong old password and a bad new one are both called `password`: tell them apart.
        if let Err(Refusal::InvalidParameters(wrong)) = network::registration::validate_password(
            &new,
            &person.user.username,
            &person.user.email,
        ) {
            let password = Field::refused("", first_message(&wrong));
            let refused = Refused {
                password,
                ..Refused::default()
            };
            return Ok(page(&call, &visit, person, None, refused)
                .await?
                .status(400));
        }
        let end_tokens = sent.given("end_tokens").is_some();
        let (gate, site, session) = (&front.gate, &front.site, &person.session);
        let changed = email_links::change_password(gate, site, session, &old, &new, end_tokens);
        match changed.await {
            Ok(text) => {
                let done = if end_tokens { "tokens" } else { "password" };
                let reply = see(&format!("{}?done={done}", front::LINKS.account));
                Ok(session::remember(&call, reply, &text))
            }
            Err(Error::Refused(refusal)) => {
                let (current, failure, status) = blamed(&refusal);
                let refused = Refused {
                    current,
                    failure,
                    ..Refused::default()
                };
                Ok(page(&call, &visit, person, None, refused)
                    .await?
                    .status(status))
            }
            Err(failed) => Err(failed.into()),
        }
    })
}

/// `POST /settings/account/email`.
pub(crate) fn email(call: Call) -> Pending {
    run(async move {
        let visit = Visit::of(&call).await?;
        let person = visit.signed_in(&call)?;
        let sent = forms::taken(&call, &visit).await?;
        let email = sent.text("email").trim().to_owned();
        let proof = Secret::new(sent.text("email_password"));
        if let Err(Refusal::InvalidParameters(wrong)) =
            network::registration::validate_email(&email)
        {
            let refused = Refused {
                email: Field::refused(email, first_message(&wrong)),
                ..Refused::default()
            };
            return Ok(page(&call, &visit, person, None, refused)
                .await?
                .status(400));
        }
        let gate = &call.home.front.gate;
        let proved = gate
            .verify_password(person.user.id, &proof, &visit.facts)
            .await;
        let changed = match proved {
            Ok(()) => letter(&call, &visit, person, &email).await,
            Err(stop) => Err(stop),
        };
        match changed {
            Ok(()) => confirm_page(&call, &visit, Confirmation::Sent { email }),
            Err(Error::Refused(refusal)) => {
                let (proof, failure, status) = blamed(&refusal);
                let refused = Refused {
                    email: Field::of(email),
                    proof,
                    failure,
                    ..Refused::default()
                };
                Ok(page(&call, &visit, person, None, refused)
                    .await?
                    .status(status))
            }
            Err(failed) => Err(failed.into()),
        }
    })
}

/// `POST /settings/account/email/resend`.
pub(crate) fn resend(call: Call) -> Pending {
    run(async move {
        let visit = Visit::of(&call).await?;
        let person = visit.signed_in(&call)?;
        forms::taken(&call, &visit).await?;
        let (site, by) = (call.home.front.site.clone(), person.by(&visit));
        let sent = call.write(move |tx| email_links::resend_confirmation(tx, &site, &by));
        match sent.await {
            Ok(None) => Ok(see(front::LINKS.account)),
            Ok(Some(email)) => confirm_page(&call, &visit, Confirmation::Sent { email }),
            Err(Error::Refused(_)) => {
                let refused = Refused {
                    failure: Some(TOO_OFTEN.to_owned()),
                    ..Refused::default()
                };
                let reply = page(&call, &visit, person, None, refused).await?;
                Ok(reply.status(429))
            }
            Err(failed) => Err(failed.into()),
        }
    })
}

/// What a form says of whoever says nothing.
const UNSAID: &str = "unsaid";

/// `POST /settings/account/about`.
pub(crate) fn about(call: Call) -> Pending {
    run(async move {
        let visit = Visit::of(&call).await?;
        let person = visit.signed_in(&call)?;
        let sent = forms::taken(&call, &visit).await?;
        let born_on = sent.text("born_on").trim().to_owned();
        let gender = sent.given("gender").filter(|said| *said != UNSAID);
        let edit = private_profiles::PrivateProfileChanges {
            born_on: Some(born_on.clone()),
            gender: Some(gender.unwrap_or_default()),
            phone: None,
        };
        let (by, user) = (person.by(&visit), person.user.id);
        let said = call.write(move |tx| private_profiles::update(tx, &by, user, &edit));
        match said.await {
            Ok(_) => Ok(see(&format!("{}?done=about", front::LINKS.account))),
            Err(Error::Refused(_)) => {
                let message = "Enter a day in the past, and one of the genders";
                let refused = Refused {
                    born_on: Some(Field::refused(born_on, message)),
                    ..Refused::default()
                };
                let reply = page(&call, &visit, person, None, refused).await?;
                Ok(reply.status(400))
            }
            Err(failed) => Err(failed.into()),
        }
    })
}

/// `POST /settings/account/email/cancel`.
pub(crate) fn cancel(call: Call) -> Pending {
    run(async move {
        let visit = Visit::of(&call).await?;
        let person = visit.signed_in(&call)?;
        forms::taken(&call, &visit).await?;
        let by = person.by(&visit);
        call.write(move |tx| email_links::cancel_email_change(tx, &by))
            .await?;
        Ok(see(&format!("{}?done=cancelled", front::LINKS.account)))
    })
}

async fn letter(call: &Call, visit: &Visit, person: &Person, email: &str) -> Result<(), Error> {
    let (site, by, email) = (
        call.home.front.site.clone(),
        person.by(visit),
        email.to_owned(),
    );
    call.write(move |tx| email_links::request_email_change(tx, &site, &by, &email))
        .await
}

/// The field of the password that was asked for as proof, or what is to blame beside it.
fn blamed(refusal: &Refusal) -> (Field, Option<String>, u16) {
    match refusal {
        Refusal::InvalidParameters(wrong) => (Field::refused("", first_message(wrong)), None, 400),
        Refusal::RateLimited => (Field::default(), Some(TOO_OFTEN.to_owned()), 429),
        _ => (Field::default(), Some("That did not work.".to_owned()), 400),
    }
}

/// What a refusal says first.
pub(crate) fn first_message(wrong: &[InvalidParameter]) -> String {
    let first = wrong.first().map(|wrong| wrong.message.clone());
    first.unwrap_or_else(|| "That did not work.".to_owned())
}
