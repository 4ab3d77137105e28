use super::passkeys::{full_passkeys, no_passkeys, some_passkeys, unavailable_passkeys};
use super::{HOSTILE, days_ago, hostile_frame, minutes_ago, signed_in_frame, signed_out_frame, with_failure};
use pages::{
    FormField, RecoveryCodesPage, SecurityEventItem, SecurityPage, SignInCodePage, TwoFactorForms, TwoFactorSetupPage,
};

pub(crate) fn sign_in_code_states() -> Vec<(&'static str, SignInCodePage)> {
    let of = |frame, app: Option<&str>, code| SignInCodePage {
        frame,
        action: "/sign-in/code".to_owned(),
        next: "/".to_owned(),
        app: app.map(str::to_owned),
        code,
        restart: "/sign-in?switch=1".to_owned(),
    };
    let slow_down = with_failure(signed_out_frame(), "Too many attempts. Wait 20 seconds and try again.");
    vec![
        ("plain", of(signed_out_frame(), None, FormField::default())),
        ("for-an-app", of(signed_out_frame(), Some("Harbour Radio"), FormField::default())),
        ("wrong", of(signed_out_frame(), None, FormField::invalid("", "This code is wrong"))),
        ("slow-down", of(slow_down, None, FormField::default())),
        ("hostile", of(hostile_frame(), Some(HOSTILE), FormField::invalid(HOSTILE, HOSTILE))),
    ]
}

fn two_factor_off(password: FormField) -> TwoFactorForms {
    TwoFactorForms::Off { action: "/settings/security/two-factor".to_owned(), password }
}

fn two_factor_on(recovery_codes: i64, field: &FormField) -> TwoFactorForms {
    TwoFactorForms::On {
        recovery_codes,
        replace_codes: "/settings/security/recovery-codes".to_owned(),
        codes_password: field.clone(),
        codes_code: field.clone(),
        turn_off: "/settings/security/two-factor/off".to_owned(),
        off_password: field.clone(),
        off_code: field.clone(),
    }
}

fn event_item(what: &str, text: &str, is_warning: bool) -> SecurityEventItem {
    SecurityEventItem {
        at: minutes_ago(42),
        what: what.to_owned(),
        is_warning,
        app: is_warning.then(|| text.to_owned()),
        device: Some(text.to_owned()),
        address: "203.0.113.7".to_owned(),
        by_operator: false,
    }
}

pub(crate) fn security_states() -> Vec<(&'static str, SecurityPage)> {
    let of = |frame, two_factor, passkeys, events| SecurityPage { frame, two_factor, passkeys, events };
    let plain = || FormField::default();
    let by_operator = SecurityEventItem {
        at: days_ago(3),
        device: None,
        address: String::new(),
        by_operator: true,
        ..event_item("Two-factor sign-in was turned off", "", false)
    };
    let events = vec![event_item("Signed in", "Firefox on Linux", false), by_operator];
    let wrong = FormField::invalid("", "The password is wrong");
    let bad = FormField::invalid(HOSTILE, HOSTILE);
    let hostile = vec![event_item(HOSTILE, HOSTILE, true)];
    vec![
        ("off", of(signed_in_frame(), two_factor_off(plain()), no_passkeys(plain(), None), events)),
        (
            "off-wrong",
            of(signed_in_frame(), two_factor_off(wrong.clone()), no_passkeys(wrong.clone(), None), Vec::new()),
        ),
        ("on", of(signed_in_frame(), two_factor_on(10, &plain()), no_passkeys(plain(), Some(plain())), Vec::new())),
        (
            "on-wrong",
            of(signed_in_frame(), two_factor_on(0, &wrong), some_passkeys("Firefox on Linux", 2, wrong), Vec::new()),
        ),
        ("full", of(signed_in_frame(), two_factor_off(plain()), full_passkeys(), Vec::new())),
        ("unavailable", of(signed_in_frame(), two_factor_off(plain()), unavailable_passkeys(), Vec::new())),
        ("hostile", of(hostile_frame(), two_factor_on(1, &bad), some_passkeys(HOSTILE, 1, bad.clone()), hostile)),
    ]
}

pub(crate) fn setup_states() -> Vec<(&'static str, TwoFactorSetupPage)> {
    let of = |frame, text: &str, code| TwoFactorSetupPage {
        frame,
        action: "/settings/security/two-factor/confirm".to_owned(),
        uri: format!("otpauth://totp/Locum:ada?secret={text}&issuer=Locum"),
        secret: text.to_owned(),
        code,
    };
    let key = "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ";
    vec![
        ("plain", of(signed_in_frame(), key, FormField::default())),
        ("wrong", of(signed_in_frame(), key, FormField::invalid("", "This code is wrong"))),
        ("hostile", of(hostile_frame(), HOSTILE, FormField::invalid(HOSTILE, HOSTILE))),
    ]
}

pub(crate) fn recovery_code_states() -> Vec<(&'static str, RecoveryCodesPage)> {
    let of = |frame, code: &str| RecoveryCodesPage { frame, codes: vec![code.to_owned(); 10] };
    vec![("plain", of(signed_in_frame(), "abcd-efgh-ijkl-mnop")), ("hostile", of(hostile_frame(), HOSTILE))]
}
