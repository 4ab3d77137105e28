//! The HTML pages: plain values in, HTML out. No HTTP, no store, no clock.
//!
//! The crates of pages (`portal`, `members`, `moderation`, `console`) fill a page's struct and sends [`HtmlPage::render_html`]. The form field names are documented on
//! the struct of each page; every form also sends `csrf`, from [`PageFrame::csrf`].
//!
//! Pages work under a strict `Content-Security-Policy`: no inline style, no foreign origin, and no script except our
//! own files (`assets.rs`) on the pages that need one. Browsers also apply `form-action` to the redirects
//! that follow a form, so the policy of a page whose form leads to an app's callback has none.

mod account;
mod account_data;
mod account_recovery;
mod apps;
mod assets;
mod authorize;
mod callbacks;
mod compose;
pub mod console;
mod device;
mod difference;
mod error;
mod field;
mod frame;
mod keys;
mod landing;
mod layout;
mod mailbox;
pub mod manager;
mod markdown;
pub mod members;
mod moderation;
mod page;
mod parts;
mod passkeys;
mod permissions;
mod post_preview;
mod relative_time;
mod search_console;
mod sign_in;
mod signature;
mod stream;
mod two_factor;
mod usage;
mod webhooks;

pub use account::{
    AccountSettingsPage, ConnectedAppItem, ConnectedAppsPage, EmailForm, PasswordForm, PrivateProfileForm, SessionItem,
    SessionsPage, UsernameForm,
};
pub use account_data::{AccountArchiveForm, AccountDataPage, AccountDeletionForm, RestoreAccountPage};
pub use account_recovery::{
    EmailConfirmationPage, EmailConfirmationState, ForgotPasswordPage, PasswordResetState, ResetPasswordPage,
};
pub use apps::{
    AppAccessSummary, AppForm, AppKind, AppListItem, AppListPage, AppRef, AppSettingsPage, AppTab, NewAppPage,
};
pub use assets::{
    Asset, CONSOLE_SCRIPT, CONVERSATION_SCRIPT, HOME_SCRIPT, MARK, PASSKEY_SCRIPT, STREAM_SCRIPT, STYLE, TAG_SCRIPT,
    find_asset,
};
pub use authorize::{
    AppSummary, AuthorizationDeniedPage, CallbackDestination, OAuth1AuthorizePage, OAuth2ConsentPage, PinPage,
    SimilarApp,
};
pub use callbacks::{CallbackDiff, CallbackTesterPage, CallbackVerdict, DeleteAppPage};
pub use compose::{CardMedia, ComposePage, ConversationCardPage, ConversationChoice, PostSentPage, ThankYouMessage};
pub use device::device_name;
pub use difference::TextDifference;
pub use error::{ErrorPage, PageErrorKind, UnsubmittedForm};
pub use field::{FormField, FormProblem};
pub use frame::{
    MAX_PATH_LENGTH, Notice, NoticeLevel, PageFrame, RULES_PATH, SITE_LINKS, SignedInAccount, SiteLinks, ZonedTime,
};
pub use keys::{AppKeysPage, CredentialItem, CredentialKind, CredentialValue, RegenerateKeyPage, RevealedCredentials};
pub use landing::LandingPage;
pub use mailbox::{EmailLine, EmailPage, MailboxItem, MailboxPage};
pub use markdown::render_markdown;
pub use moderation::{
    ACCOUNTS_PATH, AdminAccountItem, AdminAccountPage, AdminActionItem, AdminActionsPage, AdminAppealItem,
    AdminAuditPage, AdminPeoplePage, AdminQueuePage, AdminReportItem, AdminSitePage, AdminTermsPage, ApplicationItem,
    AuditFact, AuditItem, BlockedTermGroup, BlockedTermItem, DECISIONS_PATH, DecisionItem, DecisionsPage, DoneAction,
    InvitationItem, ReportPage, RoleItem, SettingItem, SettingSection, TextPage,
};
pub use page::{HtmlPage, Pager, excerpt};
pub use passkeys::{PasskeyAddition, PasskeyItem, PasskeySettings, PasskeySetupPage};
pub use permissions::{PermissionLevel, ScopePermission, describe_scope};
pub use post_preview::PostPreviewPage;
pub use search_console::{
    ConsoleProduct, OperatorHelp, ParsedQuerySummary, PostCountChart, PostMatch, QueryErrorMessage, QueryTreeStep,
    SearchConsolePage,
};
pub use sign_in::{
    CancelForm, OfferedUser, OneClickSignIn, OwnerSetup, PasskeySignInForm, RegistrationAccess, SignInPage,
    SignOutPage, SignUpPage,
};
pub use signature::{RefusedRequestPage, SignatureExplainerPage, SignatureReport};
pub use stream::{LiveStreamPage, StreamRuleItem, StreamRulesPage};
pub use two_factor::{
    RecoveryCodesPage, SecurityEventItem, SecurityPage, SignInCodePage, TwoFactorForms, TwoFactorSetupPage,
};
pub use usage::{AppUsagePage, UsageWindow};
pub use webhooks::{DeliveryAttemptItem, DeliveryItem, LastChallenge, WebhookItem, WebhooksPage};
