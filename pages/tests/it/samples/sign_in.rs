use super::{HOSTILE, development_frame, hostile_frame, signed_in_frame, signed_out_frame, with_failure};
use pages::{
    CancelForm, FormField, LandingPage, OfferedUser, OneClickSignIn, OwnerSetup, PageFrame, PasskeySignInForm,
    RegistrationAccess, SignInPage, SignOutPage, SignUpPage,
};

pub(crate) fn sign_in_states() -> Vec<(&'static str, SignInPage)> {
    let plain = || SignInPage {
        frame: signed_out_frame(),
        action: "/sign-in".to_owned(),
        next: String::new(),
        app: None,
        login: FormField::default(),
        password: FormField::default(),
        one_click: None,
        sign_up: Some("/sign-up".to_owned()),
        cancel: None,
        passkey: Some(passkey_form("/sign-in/passkey")),
    };
    vec![
        ("plain", plain()),
        (
            "for-an-app",
            SignInPage {
                app: Some("Harbour Radio".to_owned()),
                login: FormField::new("ada"),
                cancel: Some(cancel_form("/oauth/authorize", "1")),
                next: "/oauth/authorize?oauth_token=1".to_owned(),
                ..plain()
            },
        ),
        (
            "wrong",
            SignInPage {
                frame: with_failure(development_frame(signed_out_frame()), "Wrong username or password."),
                login: FormField::new("ada"),
                one_click: Some(one_click("Ada Okafor")),
                ..plain()
            },
        ),
        (
            "slow-down",
            SignInPage {
                frame: with_failure(signed_out_frame(), "Too many attempts. Wait 20 seconds and try again."),
                login: FormField::new("ada"),
                sign_up: None,
                passkey: None,
                ..plain()
            },
        ),
        (
            "incomplete",
            SignInPage {
                login: FormField::invalid("", "Enter your username or email address"),
                password: FormField::invalid("", "Enter your password"),
                ..plain()
            },
        ),
        ("hostile", hostile_sign_in_page()),
    ]
}

fn hostile_sign_in_page() -> SignInPage {
    SignInPage {
        frame: hostile_frame(),
        action: HOSTILE.to_owned(),
        next: HOSTILE.to_owned(),
        app: Some(HOSTILE.to_owned()),
        login: FormField::invalid(HOSTILE, HOSTILE),
        password: FormField::invalid(HOSTILE, HOSTILE),
        one_click: Some(one_click(HOSTILE)),
        sign_up: Some(HOSTILE.to_owned()),
        cancel: Some(cancel_form(HOSTILE, HOSTILE)),
        passkey: Some(passkey_form(HOSTILE)),
    }
}

fn passkey_form(action: &str) -> PasskeySignInForm {
    PasskeySignInForm { action: action.to_owned(), challenge_path: format!("{action}/challenge") }
}

fn one_click(name: &str) -> OneClickSignIn {
    let users = vec![OfferedUser { id: "12".to_owned(), name: name.to_owned() }];
    OneClickSignIn { action: "/console/sign-in".to_owned(), users }
}

fn cancel_form(action: &str, token: &str) -> CancelForm {
    CancelForm { action: action.to_owned(), hidden: vec![("oauth_token".to_owned(), token.to_owned())] }
}

pub(crate) fn landing_states() -> Vec<(&'static str, LandingPage)> {
    let of = |frame: PageFrame, sign_up: Option<&str>, invited_only| LandingPage {
        frame,
        sign_up: sign_up.map(str::to_owned),
        invited_only,
        api: "https://social.example".to_owned(),
        description: "/2/openapi.json".to_owned(),
    };
    vec![
        ("open", of(signed_out_frame(), Some("/sign-up"), false)),
        ("invited-only", of(signed_out_frame(), None, true)),
        ("signed-in", of(signed_in_frame(), Some("/sign-up"), false)),
        ("dev", of(development_frame(signed_out_frame()), Some("/sign-up"), false)),
        ("hostile", LandingPage { api: HOSTILE.to_owned(), ..of(hostile_frame(), Some(HOSTILE), false) }),
    ]
}

pub(crate) fn sign_up_states() -> Vec<(&'static str, SignUpPage)> {
    let plain = || SignUpPage {
        frame: signed_out_frame(),
        action: "/sign-up".to_owned(),
        next: String::new(),
        app: None,
        access: RegistrationAccess::Open,
        owner_setup: None,
        username: FormField::default(),
        name: FormField::default(),
        email: FormField::default(),
        password: FormField::default(),
    };
    vec![
        ("plain", plain()),
        (
            "refused",
            SignUpPage {
                app: Some("Harbour Radio".to_owned()),
                name: FormField::new("Ada Okafor"),
                username: FormField::invalid("ada", "@ada is taken"),
                email: FormField::invalid("ada@example", "Enter an address with a name, an @ and a domain"),
                password: FormField::invalid("", "Use at least 8 characters"),
                ..plain()
            },
        ),
        ("approval", SignUpPage { access: RegistrationAccess::Approval, ..plain() }),
        ("invitation-missing", SignUpPage { access: RegistrationAccess::InvitationMissing, ..plain() }),
        ("invitation-invalid", SignUpPage { access: RegistrationAccess::InvitationInvalid, ..plain() }),
        ("closed", SignUpPage { access: RegistrationAccess::Closed, ..plain() }),
        ("first-owner", SignUpPage { owner_setup: Some(owner_setup("1")), action: "/setup".to_owned(), ..plain() }),
        (
            "hostile",
            SignUpPage {
                frame: hostile_frame(),
                action: HOSTILE.to_owned(),
                next: HOSTILE.to_owned(),
                app: Some(HOSTILE.to_owned()),
                owner_setup: Some(owner_setup(HOSTILE)),
                username: FormField::invalid(HOSTILE, HOSTILE),
                name: FormField::new(HOSTILE),
                email: FormField::new(HOSTILE),
                password: FormField::new(HOSTILE),
                ..plain()
            },
        ),
    ]
}

fn owner_setup(token: &str) -> OwnerSetup {
    OwnerSetup { token: token.to_owned(), sign_in: format!("/sign-in?next={token}") }
}

pub(crate) fn sign_out_states() -> Vec<(&'static str, SignOutPage)> {
    let of = |frame| SignOutPage { frame, action: "/sign-out".to_owned(), back: "/".to_owned() };
    vec![("plain", of(signed_in_frame())), ("hostile", of(hostile_frame()))]
}
