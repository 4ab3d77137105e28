//! Two-factor sign-in and the security events of an account.

use base::{Error, Refusal, Secret, SplitRefusal};
use identity::passkeys::{MAX_PASSKEYS, Passkey, PasskeyRegistration};
use identity::security_events::{self, SecurityEvent};
use identity::two_factor::{self, CodeOutcome, TwoFactorSetup, TwoFactorStatus};
use network::audit::{AuditAction, AuditActor};
use network::emails::EmailSite;
use pages::{
    FormField, HtmlPage as _, Notice, PasskeyAddition, PasskeySettings, RecoveryCodesPage, SecurityEventItem,
    SecurityPage, TwoFactorForms, TwoFactorSetupPage, device_name,
};
use store::Tx;
use web::page_context::SITE_LINKS;
use web::reply::HttpReply;
use web::request_context::RequestContext;

use super::errors::{retry_seconds, throttled_message};
use super::forms::PageQuery;
use super::password_check::{password_error, verify_password};
use super::sign_in_code::WRONG_CODE;
use super::{BrowserVisit, MemberVisit, PageExit, passkeys, redirect_to};

pub(crate) const TWO_FACTOR_PATH: &str = "/settings/security/two-factor";
pub(crate) const CONFIRM_TWO_FACTOR_PATH: &str = "/settings/security/two-factor/confirm";
pub(crate) const TURN_OFF_PATH: &str = "/settings/security/two-factor/off";
pub(crate) const RECOVERY_CODES_PATH: &str = "/settings/security/recovery-codes";

/// A form that needs the password, and a code if two-factor sign-in is on.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum ProvedForm {
    ReplaceCodes,
    TurnOff,
    AddPasskey,
}

/// What became of such a form.
enum ProvedFormResult {
    NewCodes(Vec<Secret>),
    TurnedOff,
    PasskeyBegun(PasskeyRegistration),
}

/// What a refused form shows again.
#[derive(Default)]
pub(super) struct SecurityFormErrors {
    pub(super) form: Option<ProvedForm>,
    pub(super) password: FormField,
    pub(super) code: FormField,
    /// Of the form that removes a passkey.
    pub(super) removal_password: FormField,
    pub(super) failure: Option<String>,
    pub(super) status: u16,
}

impl SecurityFormErrors {
    pub(super) fn from_refusal(form: Option<ProvedForm>, refusal: &Refusal) -> Self {
        let (password, failure, status) = password_error(refusal);
        Self { form, password, failure, status, ..Self::default() }
    }

    /// Password and code of a form.
    fn fields_of(&self, form: ProvedForm) -> (FormField, FormField) {
        if self.form == Some(form) { (self.password.clone(), self.code.clone()) } else { Default::default() }
    }
}

pub(crate) async fn show(call: RequestContext) -> Result<HttpReply, PageExit> {
    let visit = MemberVisit::from_call(&call).await?;
    let query = PageQuery::from_call(&call).ok();
    let done = query.as_ref().and_then(|query| query.get("done"));
    let notice = match done {
        Some("on") => Some("Two-factor sign-in is on. If you have not seen your recovery codes, create new ones."),
        Some("off") => Some("Two-factor sign-in was turned off."),
        Some("passkey-added") => Some("The passkey was added. You can sign in with it from now on."),
        Some("passkey-removed") => Some("The passkey was removed. Your device may go on offering it."),
        _ => None,
    };
    security_page(&call, &visit, notice, SecurityFormErrors { status: 200, ..SecurityFormErrors::default() }).await
}

pub(super) async fn security_page(
    call: &RequestContext,
    visit: &MemberVisit,
    notice: Option<&str>,
    refused: SecurityFormErrors,
) -> Result<HttpReply, PageExit> {
    let user = visit.person.user.id;
    let read = move |tx: &mut Tx<'_>| {
        Ok((two_factor::status(tx, user)?, identity::passkeys::list(tx, user)?, security_events::list(tx, user)?))
    };
    let (status, passkeys, events) = call.read(read).await?;
    let mut frame = visit.page_frame(call);
    frame.notices = notice.map(Notice::success).into_iter().collect();
    frame.failure.clone_from(&refused.failure);
    let code = refused.status;
    let mut page = SecurityPage {
        frame,
        passkeys: passkey_settings(call, status, passkeys, &refused),
        two_factor: two_factor_forms(status, refused),
        events: events.into_iter().map(event_item).collect(),
    };
    if code != 200 && page.frame.failure.is_none() && page.form_problems().is_empty() {
        // The form that was refused is no longer on the page.
        page.frame.failure = Some("Your security settings have changed. Please try again.".to_owned());
    }
    Ok(visit.render_page(call, &page)?.status(code))
}

fn two_factor_forms(status: TwoFactorStatus, refused: SecurityFormErrors) -> TwoFactorForms {
    if !status.is_enabled {
        let password = if refused.form.is_none() { refused.password } else { FormField::default() };
        return TwoFactorForms::Off { action: TWO_FACTOR_PATH.to_owned(), password };
    }
    let (codes_password, codes_code) = refused.fields_of(ProvedForm::ReplaceCodes);
    let (off_password, off_code) = refused.fields_of(ProvedForm::TurnOff);
    TwoFactorForms::On {
        recovery_codes: status.recovery_codes,
        replace_codes: RECOVERY_CODES_PATH.to_owned(),
        codes_password,
        codes_code,
        turn_off: TURN_OFF_PATH.to_owned(),
        off_password,
        off_code,
    }
}

fn passkey_settings(
    call: &RequestContext,
    status: TwoFactorStatus,
    stored: Vec<Passkey>,
    refused: &SecurityFormErrors,
) -> PasskeySettings {
    let (password, code) = refused.fields_of(ProvedForm::AddPasskey);
    let addition = if passkeys::relying_party(call).is_none() {
        PasskeyAddition::Unavailable
    } else if stored.len() >= MAX_PASSKEYS {
        PasskeyAddition::Full
    } else {
        let code = status.is_enabled.then_some(code);
        PasskeyAddition::Form { action: passkeys::ADD_PATH.to_owned(), password, code }
    };
    PasskeySettings {
        passkeys: stored.into_iter().map(passkeys::passkey_item).collect(),
        addition,
        remove: passkeys::REMOVE_PATH.to_owned(),
        removal_password: refused.removal_password.clone(),
    }
}

fn event_item(event: SecurityEvent) -> SecurityEventItem {
    SecurityEventItem {
        at: event.at,
        what: describe_event(&event).to_owned(),
        is_warning: matches!(
            event.action,
            AuditAction::SIGN_IN_FAILED
                | AuditAction::SIGN_IN_THROTTLED
                | AuditAction::TWO_FACTOR_FAILED
                | AuditAction::TOKEN_REUSE
        ),
        app: event.app_name,
        device: Some(event.user_agent).filter(|agent| !agent.is_empty()).map(|agent| device_name(&agent)),
        address: event.address,
        by_operator: event.by_operator,
    }
}

fn describe_event(event: &SecurityEvent) -> &'static str {
    match event.action {
        AuditAction::SIGN_IN_OK if event.by_passkey => "Signed in with a passkey",
        AuditAction::SIGN_IN_FAILED if event.by_passkey => "Sign-in with a passkey failed",
        action => describe_action(action),
    }
}

fn describe_action(action: AuditAction) -> &'static str {
    match action {
        AuditAction::SIGN_IN_OK => "Signed in",
        AuditAction::SIGN_IN_FAILED => "Sign-in failed",
        AuditAction::SIGN_IN_THROTTLED => "Too many wrong codes",
        AuditAction::SIGN_OUT => "Signed out",
        AuditAction::SESSION_REVOKE => "Sessions were signed out",
        AuditAction::PASSWORD_SET => "Password was set",
        AuditAction::PASSWORD_CHANGE => "Password was changed",
        AuditAction::PASSWORD_RESET_ASKED => "A password reset was requested",
        AuditAction::PASSWORD_RESET => "Password was reset by email",
        AuditAction::EMAIL_CHANGE => "A new email address was requested",
        AuditAction::EMAIL_CANCEL => "A change of the email address was cancelled",
        AuditAction::EMAIL_CONFIRM => "Email address was confirmed",
        AuditAction::USER_JOIN => "Account was created",
        AuditAction::TWO_FACTOR_ENABLE => "Two-factor sign-in was turned on",
        AuditAction::TWO_FACTOR_DISABLE => "Two-factor sign-in was turned off",
        AuditAction::TWO_FACTOR_FAILED => "A wrong code was entered",
        AuditAction::RECOVERY_CODE_USE => "A recovery code was used",
        AuditAction::RECOVERY_CODES_REPLACE => "New recovery codes were created",
        AuditAction::PASSKEY_ADD => "A passkey was added",
        AuditAction::PASSKEY_REMOVE => "A passkey was removed",
        AuditAction::GRANT_APPROVE => "An app was authorized",
        AuditAction::GRANT_REVOKE => "An app’s access was revoked",
        AuditAction::TOKEN_MINT => "An access token was created",
        AuditAction::TOKEN_OWN => "An access token for an own app was created",
        AuditAction::TOKEN_REUSE => "An app’s refresh token was used twice",
        AuditAction::TOKEN_REVOKE => "An access token was revoked",
        _ => "The account was changed",
    }
}

async fn is_enabled(call: &RequestContext, visit: &MemberVisit) -> Result<bool, Error> {
    let user = visit.person.user.id;
    Ok(call.read(move |tx| Ok(two_factor::status(tx, user)?)).await?.is_enabled)
}

/// `POST /settings/security/two-factor`: creates a key.
pub(crate) async fn begin_setup(call: RequestContext) -> Result<HttpReply, PageExit> {
    let (visit, sent) = MemberVisit::accept_form(&call).await?;
    if is_enabled(&call, &visit).await? {
        return Ok(redirect_to(SITE_LINKS.security));
    }
    if let Err(refusal) = verify_password(&call, &visit, sent.text("password")).await.split_refusal()? {
        let refused = SecurityFormErrors::from_refusal(None, &refusal);
        return security_page(&call, &visit, None, refused).await;
    }
    let (site, user) = (call.state.page_context.site.clone(), visit.person.user.clone());
    let setup = call.write(move |tx| two_factor::begin_setup(tx, &site, &user)).await?;
    setup_page(&call, &visit, &setup, FormField::default(), None)
}

fn setup_page(
    call: &RequestContext,
    visit: &BrowserVisit,
    setup: &TwoFactorSetup,
    code: FormField,
    failure: Option<String>,
) -> Result<HttpReply, PageExit> {
    let mut frame = visit.page_frame(call);
    frame.failure = failure;
    let page = TwoFactorSetupPage {
        frame,
        action: CONFIRM_TWO_FACTOR_PATH.to_owned(),
        uri: setup.uri.expose_secret().to_owned(),
        secret: setup.secret.expose_secret().to_owned(),
        code,
    };
    Ok(visit.render_page(call, &page)?)
}

/// `POST /settings/security/two-factor/confirm`: turns two-factor sign-in on with the first code.
pub(crate) async fn confirm_setup(call: RequestContext) -> Result<HttpReply, PageExit> {
    let (visit, sent) = MemberVisit::accept_form(&call).await?;
    let (site, user) = (call.state.page_context.site.clone(), visit.person.user.clone());
    let email_site = site.clone();
    let Some(setup) = call.read(move |tx| Ok(two_factor::find_setup(tx, &site, &user)?)).await? else {
        let is_enabled = is_enabled(&call, &visit).await?;
        let query = if is_enabled { "?done=on" } else { "" };
        return Ok(redirect_to(&format!("{}{query}", SITE_LINKS.security)));
    };
    let (by, code) = (visit.audit_actor(), sent.text("code"));
    match call.write(move |tx| two_factor::enable(tx, &email_site, &by, &code)).await? {
        CodeOutcome::Accepted(codes) => recovery_codes_page(&call, &visit, &codes),
        CodeOutcome::Wrong => {
            let field = FormField::invalid("", "This code is wrong. Does your phone show the right time?");
            Ok(setup_page(&call, &visit, &setup, field, None)?.status(400))
        }
        CodeOutcome::Throttled { retry_ms } => {
            let failure = Some(throttled_message(retry_seconds(retry_ms)));
            Ok(setup_page(&call, &visit, &setup, FormField::default(), failure)?.status(429))
        }
    }
}

fn recovery_codes_page(call: &RequestContext, visit: &BrowserVisit, codes: &[Secret]) -> Result<HttpReply, PageExit> {
    let codes = codes.iter().map(|code| code.expose_secret().to_owned()).collect();
    Ok(visit.render_page(call, &RecoveryCodesPage { frame: visit.page_frame(call), codes })?)
}

pub(crate) async fn turn_off(call: RequestContext) -> Result<HttpReply, PageExit> {
    submit_proved_form(call, ProvedForm::TurnOff).await
}

pub(crate) async fn replace_recovery_codes(call: RequestContext) -> Result<HttpReply, PageExit> {
    submit_proved_form(call, ProvedForm::ReplaceCodes).await
}

/// Checks password and code, then does what the form is for.
pub(super) async fn submit_proved_form(call: RequestContext, form: ProvedForm) -> Result<HttpReply, PageExit> {
    let (visit, sent) = MemberVisit::accept_form(&call).await?;
    let is_possible = match form {
        ProvedForm::AddPasskey => passkeys::relying_party(&call).is_some(),
        _ => is_enabled(&call, &visit).await?,
    };
    if !is_possible {
        return Ok(redirect_to(SITE_LINKS.security));
    }
    let (password, code) = match form {
        ProvedForm::ReplaceCodes => (sent.text("codes_password"), sent.text("codes_code")),
        ProvedForm::TurnOff => (sent.text("off_password"), sent.text("off_code")),
        ProvedForm::AddPasskey => (sent.text("passkey_password"), sent.text("passkey_code")),
    };
    let applied = match verify_password(&call, &visit, password).await {
        Ok(()) => {
            let (site, by) = (call.state.page_context.site.clone(), visit.audit_actor());
            call.write(move |tx| apply_proved_form(tx, &site, &by, form, &code)).await
        }
        Err(stop) => Err(stop),
    };
    let refused = match applied.split_refusal()? {
        Ok(CodeOutcome::Accepted(ProvedFormResult::NewCodes(codes))) => {
            return recovery_codes_page(&call, &visit, &codes);
        }
        Ok(CodeOutcome::Accepted(ProvedFormResult::TurnedOff)) => {
            return Ok(redirect_to(&format!("{}?done=off", SITE_LINKS.security)));
        }
        Ok(CodeOutcome::Accepted(ProvedFormResult::PasskeyBegun(registration))) => {
            return passkeys::setup_page(&call, &visit, registration);
        }
        Ok(CodeOutcome::Wrong) => {
            let code = FormField::invalid("", WRONG_CODE);
            SecurityFormErrors { form: Some(form), code, status: 400, ..SecurityFormErrors::default() }
        }
        Ok(CodeOutcome::Throttled { retry_ms }) => {
            let failure = Some(throttled_message(retry_seconds(retry_ms)));
            SecurityFormErrors { failure, status: 429, ..SecurityFormErrors::default() }
        }
        Err(refusal) => SecurityFormErrors::from_refusal(Some(form), &refusal),
    };
    security_page(&call, &visit, None, refused).await
}

fn apply_proved_form(
    tx: &mut Tx<'_>,
    site: &EmailSite,
    by: &AuditActor,
    form: ProvedForm,
    code: &str,
) -> Result<CodeOutcome<ProvedFormResult>, Error> {
    let user = by.require_user()?;
    if form != ProvedForm::AddPasskey || two_factor::status(tx, user)?.is_enabled {
        match two_factor::check_code(tx, site, by, code)? {
            CodeOutcome::Accepted(()) => {}
            CodeOutcome::Wrong => return Ok(CodeOutcome::Wrong),
            CodeOutcome::Throttled { retry_ms } => return Ok(CodeOutcome::Throttled { retry_ms }),
        }
    }
    Ok(CodeOutcome::Accepted(match form {
        ProvedForm::ReplaceCodes => ProvedFormResult::NewCodes(two_factor::replace_recovery_codes(tx, by)?),
        ProvedForm::TurnOff => {
            two_factor::disable(tx, site, by, user)?;
            ProvedFormResult::TurnedOff
        }
        ProvedForm::AddPasskey => ProvedFormResult::PasskeyBegun(identity::passkeys::begin_registration(tx, user)?),
    }))
}
