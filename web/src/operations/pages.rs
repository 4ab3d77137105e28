//! Pages for people: forms that they see and send in a browser.
//!
//! They read their queries themselves, so that what is wrong there is said on a page.

use super::shared::ANY_LENGTH;
use crate::call::Call;
use crate::endpoint::{
    Accent, Body, Endpoint, Kind, Member, Param, Pending, Shape, Window, quarter,
};
use crate::pages::{
    access, card, compose, join, landing, notifications, oauth1, oauth2, recover, settings,
    sign_in, style,
};

/// All of them but the portal's.
pub static PAGES: &[Endpoint] = &[
    shown("showStart", "/", landing::show).about("What this server is, and where to go."),
    shown("showSignIn", "/login", sign_in::show).about("Where people sign in."),
    sent("signIn", "/login", sign_in::submit, SIGN_IN).about("Signs a browser in."),
    shown("showSignOut", "/logout", sign_in::ask_out).about("Asks whether to sign out."),
    sent("signOut", "/logout", sign_in::out, &[]).about("Signs a browser out."),
    shown("showJoin", "/join", join::show)
        .aliases(&["/account/join"])
        .about("Where people create an account."),
    sent("join", "/join", join::submit, JOIN).about("Creates an account."),
    shown("showForgotten", "/forgotten-password", recover::forgotten)
        .about("Where a new password is asked for."),
    sent("askReset", "/forgotten-password", recover::ask, EMAIL)
        .about("Sends a link to set a new password."),
    shown("showReset", "/account/reset", recover::look).about("Where a new password is set."),
    sent("resetPassword", "/account/reset", recover::reset, RESET).about("Sets a new password."),
    shown("showConfirm", "/account/confirm", recover::look_at_address)
        .about("Where an email address is confirmed."),
    sent(
        "confirmEmail",
        "/account/confirm",
        recover::confirm,
        CONFIRM,
    )
    .about("Confirms an email address."),
    shown("showSettings", "/settings/account", settings::show)
        .about("A person's own password and address."),
    sent(
        "changePassword",
        settings::PASSWORD,
        settings::password,
        PASSWORD,
    )
    .about("Changes the password."),
    sent(
        "changeEmail",
        settings::EMAIL,
        settings::email,
        CHANGE_EMAIL,
    )
    .about("Changes the address."),
    sent(
        "resendConfirmation",
        settings::RESEND,
        settings::resend,
        &[],
    )
    .about("Sends another letter to confirm the address."),
    sent("sayAbout", settings::ABOUT, settings::about, ABOUT)
        .about("Says when a person was born and of which gender they are, to the platform only."),
    sent("cancelEmail", settings::CANCEL, settings::cancel, &[])
        .about("Takes back a change of the address that was not confirmed."),
    shown("showSessions", "/settings/sessions", access::show).about("Where a person is signed in."),
    sent("endSession", access::END, access::end, ID).about("Ends a session."),
    sent(
        "endOtherSessions",
        access::END_OTHERS,
        access::end_others,
        &[],
    )
    .about("Ends all other sessions."),
    shown("showConnectedApps", "/settings/apps", access::connected)
        .about("The apps that may act for a person."),
    shown("showNotifications", "/notifications", notifications::list)
        .about("What a person was told that is said nowhere else."),
    shown("showPreview", "/preview/{id}", crate::ads::preview::show)
        .params(&[&[Param::path(
            "id",
            Kind::Text(1, 20),
            "The post, or what it will be made of.",
        )]])
        .about("What a post of an advertiser looks like, for whoever was given the address."),
    sent("disconnectApp", access::DISCONNECT, access::disconnect, ID)
        .about("Takes back what an app was granted."),
    sent(
        "answerRequestToken",
        "/oauth/authorize",
        oauth1::decide,
        OAUTH1,
    )
    .about("Lets an app act for the user, or not."),
    sent(
        "answerOAuth2",
        "/i/oauth2/authorize",
        oauth2::decide,
        OAUTH2,
    )
    .aliases(&["/2/oauth2/authorize"])
    .about("Lets an app act for the user within some scopes, or not."),
    shown("followCard", "/c/{link}", card::follow)
        .params(&[LINK])
        .about("Leads where a card leads."),
    shown("followCardFrom", "/c/{link}/{post}", card::follow_from)
        .params(&[LINK, FROM])
        .about(
            "Leads where the card of a post leads; the click is counted where it is promoted. A \
             serving client adds its `impression_token`.",
        ),
    shown("showCard", "/cards/{card}/{post}", compose::card)
        .params(&[CARD])
        .about("A conversation card, as a post carries it."),
    shown("showComposer", compose::ACTION, compose::show)
        .aliases(&["/intent/tweet"])
        .about("Where a post is written, with a text that came with the link."),
    sent("compose", compose::ACTION, compose::submit, COMPOSE)
        .about("Writes a post; one with a hashtag of a conversation card answers the card."),
    shown("showWritten", "/intent/written", compose::written)
        .about("What was written, and what the card shows that it answers."),
    shown("getStyle", pages::STYLE_PATH, style::sheet).about("What the pages look like."),
    shown("getScript", pages::SCRIPT_PATH, style::script)
        .about("What the page does that shows a stream."),
    shown("getMark", pages::MARK_PATH, style::mark).about("The mark of the pages."),
];

type Act = fn(Call) -> Pending;

const PER_ADDRESS: &[Window] = &[quarter(300)];
/// Every page fetches what it looks like.
const PER_BROWSER: &[Window] = &[quarter(900)];

/// A page that is looked at.
pub(crate) const fn shown(id: &'static str, path: &'static str, act: Act) -> Endpoint {
    Endpoint::new(id, "GET", path)
        .open()
        .limits(PER_BROWSER, &[])
        .accent(Accent::Page)
        .act(act)
}

/// A form that is sent.
pub(crate) const fn sent(
    id: &'static str,
    path: &'static str,
    act: Act,
    members: &'static [Member],
) -> Endpoint {
    Endpoint::new(id, "POST", path)
        .open()
        .limits(PER_ADDRESS, &[])
        .body(Body::Form(members))
        .accent(Accent::Page)
        .act(act)
}

const LINK: &[Param] = &[Param::path("link", Kind::Id, "The id of the link.")];
const CARD: &[Param] = &[
    Param::path("card", Kind::Id, "The number in the card's address."),
    Param::path("post", Kind::Id, "The post that carries it."),
];
const FROM: &[Param] = &[Param::path("post", Kind::Id, "The post whose card it is.")];

const fn text(name: &'static str) -> Member {
    Member::new(name, Shape::Text(0, ANY_LENGTH))
}

const COMPOSE: &[Member] = &[
    text("csrf"),
    text("text"),
    text("card"),
    text("of"),
    text("in_reply_to"),
];
const SIGN_IN: &[Member] = &[text("csrf"), text("next"), text("login"), text("password")];
const JOIN: &[Member] = &[
    text("csrf"),
    text("next"),
    text("username"),
    text("name"),
    text("email"),
    text("password"),
];
const EMAIL: &[Member] = &[text("csrf"), text("email")];
const CONFIRM: &[Member] = &[text("csrf"), text("token")];
const RESET: &[Member] = &[
    text("csrf"),
    text("token"),
    text("password"),
    text("end_tokens"),
];
const PASSWORD: &[Member] = &[
    text("csrf"),
    text("current"),
    text("password"),
    text("end_tokens"),
];
const CHANGE_EMAIL: &[Member] = &[text("csrf"), text("email"), text("email_password")];
const ABOUT: &[Member] = &[text("csrf"), text("born_on"), text("gender")];
const ID: &[Member] = &[text("csrf"), text("id")];
const OAUTH1: &[Member] = &[text("csrf"), text("oauth_token"), text("decision")];
const OAUTH2: &[Member] = &[
    text("csrf"),
    text("response_type"),
    text("client_id"),
    text("redirect_uri"),
    text("scope"),
    text("state"),
    text("code_challenge"),
    text("code_challenge_method"),
    text("decision"),
];
