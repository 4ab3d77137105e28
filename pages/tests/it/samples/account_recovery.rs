use super::{HOSTILE, hostile_frame, signed_in_frame, signed_out_frame};
use pages::{
    EmailConfirmationPage, EmailConfirmationState, ForgotPasswordPage, FormField, PasswordResetState, ResetPasswordPage,
};

pub(crate) fn forgot_password_states() -> Vec<(&'static str, ForgotPasswordPage)> {
    let of = |email, sent| ForgotPasswordPage {
        frame: signed_out_frame(),
        action: "/forgotten-password".to_owned(),
        email,
        sent,
    };
    vec![
        ("plain", of(FormField::default(), false)),
        ("refused", of(FormField::invalid("ada", "Enter an email address"), false)),
        ("sent", of(FormField::new("ada@example.org"), true)),
        ("hostile", ForgotPasswordPage { frame: hostile_frame(), ..of(FormField::new(HOSTILE), true) }),
    ]
}

pub(crate) fn reset_password_states() -> Vec<(&'static str, ResetPasswordPage)> {
    let of = |state, password| ResetPasswordPage {
        frame: signed_out_frame(),
        action: "/reset-password".to_owned(),
        state,
        password,
    };
    let open =
        |username: &str| PasswordResetState::ValidLink { username: username.to_owned(), token: "r3537".to_owned() };
    vec![
        ("open", of(open("ada"), FormField::default())),
        ("refused", of(open("ada"), FormField::invalid("", "This password is known from leaks. Choose another."))),
        ("dead", of(PasswordResetState::InvalidLink, FormField::default())),
        (
            "hostile",
            ResetPasswordPage { frame: hostile_frame(), ..of(open(HOSTILE), FormField::invalid(HOSTILE, HOSTILE)) },
        ),
    ]
}

pub(crate) fn email_confirmation_states() -> Vec<(&'static str, EmailConfirmationPage)> {
    let of = |state| EmailConfirmationPage {
        frame: signed_in_frame(),
        action: "/confirm-email".to_owned(),
        resend: Some("/confirm-email/again".to_owned()),
        state,
    };
    let email = || "ada@example.org".to_owned();
    let ask = |email| EmailConfirmationState::LinkOpened { email, token: "c0nf1rm".to_owned() };
    vec![
        ("ask", of(ask(email()))),
        ("sent", of(EmailConfirmationState::Sent { email: email() })),
        ("done", of(EmailConfirmationState::Confirmed { email: email() })),
        ("dead", of(EmailConfirmationState::InvalidLink)),
        (
            "dead-signed-out",
            EmailConfirmationPage {
                frame: signed_out_frame(),
                resend: None,
                ..of(EmailConfirmationState::InvalidLink)
            },
        ),
        ("hostile", EmailConfirmationPage { frame: hostile_frame(), ..of(ask(HOSTILE.to_owned())) }),
    ]
}
