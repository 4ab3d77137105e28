//! Pages for people: forms that they see and send in a browser.
//!
//! They read their queries themselves, so that what is wrong there is said on a page.

use super::shared::ANY_LENGTH;
use crate::endpoint::{
    BodyMember, BodySpec, Endpoint, EndpointParam, ErrorFormat, HandlerFuture, MemberShape, ParamType, RateWindow,
    per_quarter_hour,
};
use crate::pages::{
    access, account_recovery, assets, card_links, compose, landing, notifications, oauth1, oauth2, registration,
    settings, sign_in,
};
use crate::request_context::RequestContext;

/// All of them but the portal's.
pub static PAGES: &[Endpoint] = &[
    page_endpoint("showStart", "/", landing::show).summary("What this server is, and where to go."),
    page_endpoint("showSignIn", "/login", sign_in::show).summary("Where people sign in."),
    form_endpoint("signIn", "/login", sign_in::submit, SIGN_IN).summary("Signs a browser in."),
    page_endpoint("showSignOut", "/logout", sign_in::show_sign_out).summary("Asks whether to sign out."),
    form_endpoint("signOut", "/logout", sign_in::sign_out, &[]).summary("Signs a browser out."),
    page_endpoint("showJoin", "/join", registration::show)
        .aliases(&["/account/join"])
        .summary("Where people create an account."),
    form_endpoint("join", "/join", registration::submit, JOIN).summary("Creates an account."),
    page_endpoint(
        "showForgotten",
        "/forgotten-password",
        account_recovery::show_forgot_password,
    )
    .summary("Where a new password is asked for."),
    form_endpoint(
        "askReset",
        "/forgotten-password",
        account_recovery::request_reset,
        EMAIL,
    )
    .summary("Sends a link to set a new password."),
    page_endpoint("showReset", "/account/reset", account_recovery::show_reset).summary("Where a new password is set."),
    form_endpoint("resetPassword", "/account/reset", account_recovery::submit_reset, RESET)
        .summary("Sets a new password."),
    page_endpoint(
        "showConfirm",
        "/account/confirm",
        account_recovery::show_email_confirmation,
    )
    .summary("Where an email address is confirmed."),
    form_endpoint(
        "confirmEmail",
        "/account/confirm",
        account_recovery::submit_email_confirmation,
        CONFIRM,
    )
    .summary("Confirms an email address."),
    page_endpoint("showSettings", "/settings/account", settings::show).summary("A person's own password and address."),
    form_endpoint(
        "changePassword",
        settings::PASSWORD_PATH,
        settings::change_password,
        PASSWORD,
    )
    .summary("Changes the password."),
    form_endpoint(
        "changeEmail",
        settings::EMAIL_PATH,
        settings::change_email,
        CHANGE_EMAIL,
    )
    .summary("Changes the address."),
    form_endpoint(
        "resendConfirmation",
        settings::RESEND_PATH,
        settings::resend_confirmation,
        &[],
    )
    .summary("Sends another letter to confirm the address."),
    form_endpoint(
        "sayAbout",
        settings::PRIVATE_PROFILE_PATH,
        settings::update_private_profile,
        ABOUT,
    )
    .summary("Says when a person was born and of which gender they are, to the platform only."),
    form_endpoint("cancelEmail", settings::CANCEL_PATH, settings::cancel_email_change, &[])
        .summary("Takes back a change of the address that was not confirmed."),
    page_endpoint("showSessions", "/settings/sessions", access::show_sessions).summary("Where a person is signed in."),
    form_endpoint("endSession", access::REVOKE_SESSION_PATH, access::revoke_session, ID).summary("Ends a session."),
    form_endpoint(
        "endOtherSessions",
        access::REVOKE_OTHER_SESSIONS_PATH,
        access::revoke_other_sessions,
        &[],
    )
    .summary("Ends all other sessions."),
    page_endpoint("showConnectedApps", "/settings/apps", access::show_connected_apps)
        .summary("The apps that may act for a person."),
    page_endpoint("showNotifications", "/notifications", notifications::list)
        .summary("What a person was told that is said nowhere else."),
    page_endpoint("showPreview", "/preview/{id}", crate::ads::preview::show)
        .params(&[&[EndpointParam::path(
            "id",
            ParamType::Text(1, 20),
            "The post, or what it will be made of.",
        )]])
        .summary("What a post of an advertiser looks like, for whoever was given the address."),
    form_endpoint("disconnectApp", access::DISCONNECT_APP_PATH, access::disconnect_app, ID)
        .summary("Takes back what an app was granted."),
    form_endpoint(
        "answerRequestToken",
        "/oauth/authorize",
        oauth1::submit_decision,
        OAUTH1,
    )
    .summary("Lets an app act for the user, or not."),
    form_endpoint("answerOAuth2", "/i/oauth2/authorize", oauth2::submit_decision, OAUTH2)
        .aliases(&["/2/oauth2/authorize"])
        .summary("Lets an app act for the user within some scopes, or not."),
    page_endpoint("followCard", "/c/{link}", card_links::follow)
        .params(&[LINK])
        .summary("Leads where a card leads."),
    page_endpoint("followCardFrom", "/c/{link}/{post}", card_links::follow_from_post)
        .params(&[LINK, FROM])
        .summary(
            "Leads where the card of a post leads; the click is counted where it is promoted. A \
             serving client adds its `impression_token`.",
        ),
    page_endpoint("showCard", "/cards/{card}/{post}", compose::show_conversation_card)
        .params(&[CARD])
        .summary("A conversation card, as a post carries it."),
    page_endpoint("showComposer", compose::COMPOSE_PATH, compose::show)
        .aliases(&["/intent/tweet"])
        .summary("Where a post is written, with a text that came with the link."),
    form_endpoint("compose", compose::COMPOSE_PATH, compose::submit, COMPOSE)
        .summary("Writes a post; one with a hashtag of a conversation card answers the card."),
    page_endpoint("showWritten", "/intent/written", compose::show_sent_post)
        .summary("What was written, and what the card shows that it answers."),
    page_endpoint("getStyle", pages::STYLE_PATH, assets::serve_stylesheet).summary("What the pages look like."),
    page_endpoint("getScript", pages::SCRIPT_PATH, assets::serve_script)
        .summary("What the page does that shows a stream."),
    page_endpoint("getMark", pages::MARK_PATH, assets::serve_logo).summary("The mark of the pages."),
];

type PageHandler = fn(RequestContext) -> HandlerFuture;

const PER_ADDRESS: &[RateWindow] = &[per_quarter_hour(300)];
/// Every page fetches what it looks like.
const PER_BROWSER: &[RateWindow] = &[per_quarter_hour(900)];

/// A page that is looked at.
pub(crate) const fn page_endpoint(id: &'static str, path: &'static str, act: PageHandler) -> Endpoint {
    Endpoint::new(id, "GET", path)
        .allow_anonymous()
        .limits(PER_BROWSER, &[])
        .error_format(ErrorFormat::Page)
        .handler(act)
}

/// A form that is sent.
pub(crate) const fn form_endpoint(
    id: &'static str,
    path: &'static str,
    act: PageHandler,
    members: &'static [BodyMember],
) -> Endpoint {
    Endpoint::new(id, "POST", path)
        .allow_anonymous()
        .limits(PER_ADDRESS, &[])
        .body(BodySpec::Form(members))
        .error_format(ErrorFormat::Page)
        .handler(act)
}

const LINK: &[EndpointParam] = &[EndpointParam::path("link", ParamType::Id, "The id of the link.")];
const CARD: &[EndpointParam] = &[
    EndpointParam::path("card", ParamType::Id, "The number in the card's address."),
    EndpointParam::path("post", ParamType::Id, "The post that carries it."),
];
const FROM: &[EndpointParam] = &[EndpointParam::path("post", ParamType::Id, "The post whose card it is.")];

const fn text_member(name: &'static str) -> BodyMember {
    BodyMember::new(name, MemberShape::Text(0, ANY_LENGTH))
}

const COMPOSE: &[BodyMember] = &[
    text_member("csrf"),
    text_member("text"),
    text_member("card"),
    text_member("of"),
    text_member("in_reply_to"),
];
const SIGN_IN: &[BodyMember] = &[
    text_member("csrf"),
    text_member("next"),
    text_member("login"),
    text_member("password"),
];
const JOIN: &[BodyMember] = &[
    text_member("csrf"),
    text_member("next"),
    text_member("username"),
    text_member("name"),
    text_member("email"),
    text_member("password"),
];
const EMAIL: &[BodyMember] = &[text_member("csrf"), text_member("email")];
const CONFIRM: &[BodyMember] = &[text_member("csrf"), text_member("token")];
const RESET: &[BodyMember] = &[
    text_member("csrf"),
    text_member("token"),
    text_member("password"),
    text_member("end_tokens"),
];
const PASSWORD: &[BodyMember] = &[
    text_member("csrf"),
    text_member("current"),
    text_member("password"),
    text_member("end_tokens"),
];
const CHANGE_EMAIL: &[BodyMember] = &[text_member("csrf"), text_member("email"), text_member("email_password")];
const ABOUT: &[BodyMember] = &[text_member("csrf"), text_member("born_on"), text_member("gender")];
const ID: &[BodyMember] = &[text_member("csrf"), text_member("id")];
const OAUTH1: &[BodyMember] = &[text_member("csrf"), text_member("oauth_token"), text_member("decision")];
const OAUTH2: &[BodyMember] = &[
    text_member("csrf"),
    text_member("response_type"),
    text_member("client_id"),
    text_member("redirect_uri"),
    text_member("scope"),
    text_member("state"),
    text_member("code_challenge"),
    text_member("code_challenge_method"),
    text_member("decision"),
];
