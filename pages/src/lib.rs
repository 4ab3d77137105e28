//! What a person sees: plain values in, HTML out. No HTTP, no store, no clock.
//!
//! The floor above fills a page's struct and sends [`Page::html`]; every form's field names stand on
//! the struct that shows it. Every form also carries `csrf`, from [`Frame::csrf`].
//!
//! Pages need nothing that a strict `Content-Security-Policy` forbids: no inline style, no foreign
//! origin, and no script but [`Live`]'s, a file of our own. One thing to mind: browsers hold `form-action` against the redirect that answers a
//! form too, so pages whose form leads to an app's callback must name its origin or scheme there.

mod account;
mod authorize;
mod callbacks;
mod compose;
mod console;
mod device;
mod difference;
mod error;
mod field;
mod frame;
mod keys;
mod landing;
mod mailbox;
pub mod manager;
mod notifications;
mod page;
mod portal;
mod recover;
mod samples;
mod sign;
mod signature;
mod stream;
mod style;
mod usage;
mod webhooks;
mod when;
mod words;

pub use account::{
    AboutForm, AccountSettings, Connected, Connection, EmailForm, PasswordForm, Session, Sessions,
};
pub use authorize::{AppCard, Authorize, Cancelled, Consent, Pin};
pub use callbacks::{CallbackTester, Compared, Delete, Verdict};
pub use compose::{Choice, Compose, ConversationCard, Still, Thanks, Written};
pub use console::{Chart, Fault, Judged, OperatorLine, QueryFor, ReadQuery, SearchConsole, Step};
pub use device::device;
pub use difference::Difference;
pub use error::{ErrorPage, Wrong};
pub use field::{Field, Problem};
pub use frame::{Account, Frame, Links, Notice, Tone};
pub use keys::{Key, KeyKind, Keys, Regenerate, Shown, Value};
pub use landing::Landing;
pub use mailbox::{Letter, LetterLine, LetterPage, Mailbox};
pub use notifications::{Notification, Notifications, PostPreview};
pub use page::{Page, Pager};
pub use portal::{App, AppAccess, AppForm, AppKind, AppRow, AppSettings, Apps, NewApp, Tab};
pub use recover::{Confirmation, Confirmed, Forgotten, Reset, ResetState};
pub use samples::{Sample, samples};
pub use sign::{Cancel, SignIn, SignOut, SignUp};
pub use signature::{Explained, SignatureExplainer};
pub use stream::{Live, RuleLine, StreamRules};
pub use style::{MARK, MARK_PATH, SCRIPT, SCRIPT_PATH, STYLE, STYLE_PATH};
pub use usage::{Usage, Window};
pub use webhooks::{Challenge, Hook, Sent, Try, Webhooks};
pub use when::{ago, until};
pub use words::{Level, Power, power};
