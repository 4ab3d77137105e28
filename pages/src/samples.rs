//! Every page in every state worth looking at.

pub(crate) mod account;
pub(crate) mod app;
pub(crate) mod authorize;
pub(crate) mod compose;
pub(crate) mod console;
pub(crate) mod manager;
pub(crate) mod portal;
pub(crate) mod recover;
pub(crate) mod sign;
pub(crate) mod tools;
pub(crate) mod webhooks;

use crate::{Account, App, AppCard, Frame, Page};
use base::{Fault, Time};

/// A page in one state, as HTML.
pub struct Sample {
    /// The page's name and the state's.
    pub name: String,
    /// The document.
    pub html: String,
}

/// Every page in every state, rendered.
pub fn samples() -> Result<Vec<Sample>, Fault> {
    let mut all = Vec::new();
    add::<crate::Landing>(&mut all)?;
    add::<crate::SignIn>(&mut all)?;
    add::<crate::SignUp>(&mut all)?;
    add::<crate::SignOut>(&mut all)?;
    add::<crate::Forgotten>(&mut all)?;
    add::<crate::Reset>(&mut all)?;
    add::<crate::Confirmed>(&mut all)?;
    add::<crate::AccountSettings>(&mut all)?;
    add::<crate::Sessions>(&mut all)?;
    add::<crate::Connected>(&mut all)?;
    add::<crate::Authorize>(&mut all)?;
    add::<crate::Pin>(&mut all)?;
    add::<crate::Cancelled>(&mut all)?;
    add::<crate::Consent>(&mut all)?;
    add::<crate::ErrorPage>(&mut all)?;
    add::<crate::Apps>(&mut all)?;
    add::<crate::NewApp>(&mut all)?;
    add::<crate::AppSettings>(&mut all)?;
    add::<crate::Keys>(&mut all)?;
    add::<crate::Regenerate>(&mut all)?;
    add::<crate::CallbackTester>(&mut all)?;
    add::<crate::Webhooks>(&mut all)?;
    add::<crate::Usage>(&mut all)?;
    add::<crate::Delete>(&mut all)?;
    add::<crate::StreamRules>(&mut all)?;
    add::<crate::Live>(&mut all)?;
    add::<crate::SearchConsole>(&mut all)?;
    add::<crate::SignatureExplainer>(&mut all)?;
    add::<crate::manager::AdsManager>(&mut all)?;
    add::<crate::Notifications>(&mut all)?;
    add::<crate::PostPreview>(&mut all)?;
    add::<crate::Mailbox>(&mut all)?;
    add::<crate::LetterPage>(&mut all)?;
    add::<crate::ConversationCard>(&mut all)?;
    add::<crate::Compose>(&mut all)?;
    add::<crate::Written>(&mut all)?;
    Ok(all)
}

fn add<P: Page>(all: &mut Vec<Sample>) -> Result<(), Fault> {
    for (state, page) in P::samples() {
        all.push(Sample {
            name: format!("{}.{state}", P::NAME),
            html: page.html()?,
        });
    }
    Ok(())
}

/// What a hostile person types wherever they can.
pub(crate) const HOSTILE: &str =
    "\"><script>alert(1)</script><img src=x onerror=alert(1)>'`{{7*7}}&lt;\u{202e}";

pub(crate) const HOSTILE_URL: &str = "javascript:alert(1)//\"><script>alert(1)</script>";

fn now() -> Time {
    Time::from_seconds(1_795_233_906)
}

/// So many minutes before now.
fn minutes(ago: i64) -> Time {
    now().plus_ms(-60_000 * ago)
}

fn days(ago: i64) -> Time {
    minutes(ago.saturating_mul(1_440))
}

fn stranger() -> Frame {
    Frame {
        csrf: "c5rf-70k3n".to_owned(),
        site: "Locum".to_owned(),
        host: "social.example".to_owned(),
        now: now(),
        ..Frame::default()
    }
}

fn ada() -> Frame {
    Frame {
        account: Some(Account {
            username: "ada".to_owned(),
            name: "Ada Okafor".to_owned(),
        }),
        ..stranger()
    }
}

fn hostile() -> Frame {
    Frame {
        account: Some(Account {
            username: HOSTILE.to_owned(),
            name: HOSTILE.to_owned(),
        }),
        csrf: HOSTILE.to_owned(),
        host: HOSTILE.to_owned(),
        failure: Some(HOSTILE.to_owned()),
        notices: vec![crate::Notice::good(HOSTILE), crate::Notice::plain(HOSTILE)],
        dev: true,
        ..stranger()
    }
}

fn dev(frame: Frame) -> Frame {
    Frame { dev: true, ..frame }
}

fn told(frame: Frame, text: &str) -> Frame {
    Frame {
        notices: vec![crate::Notice::good(text)],
        ..frame
    }
}

fn refused(frame: Frame, text: &str) -> Frame {
    Frame {
        failure: Some(text.to_owned()),
        ..frame
    }
}

fn card() -> AppCard {
    AppCard {
        name: "Harbour Radio".to_owned(),
        description: "Plans posts for small radio stations and tells them who listened.".to_owned(),
        website: Some("https://harbour-radio.example".to_owned()),
        owner: "nkechi".to_owned(),
    }
}

fn hostile_card() -> AppCard {
    AppCard {
        name: HOSTILE.to_owned(),
        description: HOSTILE.to_owned(),
        website: Some(HOSTILE_URL.to_owned()),
        owner: HOSTILE.to_owned(),
    }
}

fn app() -> App {
    App {
        id: "1789440129884192768".to_owned(),
        name: "Harbour Radio".to_owned(),
        path: "/developer/apps/1789440129884192768".to_owned(),
    }
}

fn hostile_app() -> App {
    App {
        id: HOSTILE.to_owned(),
        name: HOSTILE.to_owned(),
        path: "/developer/apps/1\"><script>".to_owned(),
    }
}
