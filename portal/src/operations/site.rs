//! Pages for people. They parse their queries themselves, so that errors are shown on a page.

use ads::resources::web_event_tags::{TAG_IMAGE_PATH, TAG_SCRIPT_PATH};
use web::endpoint::{
    BodySpec, Endpoint, EndpointHandler, ErrorFormat, Kind, MAX_TEXT, Parameter, RateWindow, per_quarter_hour,
};
use web::text_members;

use crate::site::assets::serve_asset;
use crate::site::{
    access, account_data, account_recovery, card_links, compose, landing, oauth1, oauth2, passkeys, post_preview,
    registration, security, settings, short_links, sign_in, sign_in_code, web_tags,
};

pub(super) static PAGES: &[Endpoint] = &[
    page_endpoint("showStart", "/", &landing::show).summary("The start page."),
    // A refused form's page has the address of the form.
    page_endpoint("showSignIn", "/login", &sign_in::show)
        .aliases(&[passkeys::SIGN_IN_PATH])
        .summary("The sign-in form."),
    form_endpoint("signIn", "/login", &sign_in::submit, SIGN_IN).summary("Signs a browser in."),
    page_endpoint("showSignInCode", sign_in_code::CODE_PATH, &sign_in_code::show)
        .summary("The form that asks for the second factor."),
    form_endpoint("enterSignInCode", sign_in_code::CODE_PATH, &sign_in_code::submit, SIGN_IN_CODE)
        .summary("Signs a browser in with a code."),
    form_endpoint("createPasskeyChallenge", passkeys::CHALLENGE_PATH, &passkeys::create_challenge, &[])
        .summary("Begins a sign-in with a passkey."),
    form_endpoint("signInWithPasskey", passkeys::SIGN_IN_PATH, &passkeys::sign_in, SIGN_IN_PASSKEY)
        .summary("Signs a browser in with a passkey."),
    page_endpoint("showSignOut", "/logout", &sign_in::show_sign_out).summary("The sign-out form."),
    form_endpoint("signOut", "/logout", &sign_in::sign_out, &[]).summary("Signs a browser out."),
    page_endpoint("showJoin", "/join", &registration::show)
        .aliases(&["/account/join"])
        .summary("The registration form."),
    form_endpoint("join", "/join", &registration::submit, JOIN).summary("Creates an account."),
    page_endpoint("showForgotten", "/forgotten-password", &account_recovery::show_forgot_password)
        .summary("The form that requests a password reset."),
    form_endpoint("askReset", "/forgotten-password", &account_recovery::request_reset, EMAIL)
        .summary("Emails a link to reset the password."),
    page_endpoint("showReset", "/account/reset", &account_recovery::show_reset)
        .summary("The form that sets a new password."),
    form_endpoint("resetPassword", "/account/reset", &account_recovery::submit_reset, RESET)
        .summary("Sets a new password."),
    page_endpoint("showConfirm", "/account/confirm", &account_recovery::show_email_confirmation)
        .summary("The form that confirms an email address."),
    form_endpoint("confirmEmail", "/account/confirm", &account_recovery::submit_email_confirmation, CONFIRM)
        .summary("Confirms an email address."),
    page_endpoint("redirectToSettings", "/settings", &settings::redirect_to_account)
        .summary("Redirects to the account settings."),
    page_endpoint("showSettings", "/settings/account", &settings::show)
        .summary("Account settings: password and email address."),
    form_endpoint("changePassword", settings::PASSWORD_PATH, &settings::change_password, PASSWORD)
        .summary("Changes the password."),
    form_endpoint("changeUsername", settings::USERNAME_PATH, &settings::change_username, CHANGE_USERNAME)
        .summary("Changes the username."),
    form_endpoint("changeEmail", settings::EMAIL_PATH, &settings::change_email, CHANGE_EMAIL)
        .summary("Changes the email address."),
    form_endpoint("resendConfirmation", settings::RESEND_PATH, &settings::resend_confirmation, &[])
        .summary("Resends the email that confirms the address."),
    form_endpoint("sayAbout", settings::PRIVATE_PROFILE_PATH, &settings::update_private_profile, ABOUT)
        .summary("Sets the private date of birth and gender."),
    form_endpoint("cancelEmail", settings::CANCEL_PATH, &settings::cancel_email_change, &[])
        .summary("Cancels an unconfirmed change of the email address."),
    page_endpoint("showSecurity", "/settings/security", &security::show)
        .summary("Two-factor sign-in, passkeys and security events."),
    form_endpoint("beginTwoFactor", security::TWO_FACTOR_PATH, &security::begin_setup, BEGIN_TWO_FACTOR)
        .summary("Creates a key for an authenticator app."),
    form_endpoint("enableTwoFactor", security::CONFIRM_TWO_FACTOR_PATH, &security::confirm_setup, CODE_FORM)
        .summary("Turns two-factor sign-in on."),
    form_endpoint("disableTwoFactor", security::TURN_OFF_PATH, &security::turn_off, TURN_OFF)
        .summary("Turns two-factor sign-in off."),
    form_endpoint("replaceRecoveryCodes", security::RECOVERY_CODES_PATH, &security::replace_recovery_codes, NEW_CODES)
        .summary("Creates new recovery codes."),
    form_endpoint("beginPasskey", passkeys::ADD_PATH, &passkeys::begin_addition, BEGIN_PASSKEY)
        .summary("Shows the page on which a browser makes a passkey."),
    form_endpoint("addPasskey", passkeys::CONFIRM_PATH, &passkeys::confirm_addition, NEW_PASSKEY)
        .summary("Adds a passkey."),
    form_endpoint("removePasskey", passkeys::REMOVE_PATH, &passkeys::remove, REMOVE_PASSKEY)
        .summary("Removes a passkey."),
    page_endpoint("showAccountData", account_data::DATA_PATH, &account_data::show)
        .summary("What members do with their data as a whole."),
    form_endpoint("downloadArchive", account_data::ARCHIVE_PATH, &account_data::download_archive, ARCHIVE)
        .summary("Downloads the account's data as an archive."),
    form_endpoint("deleteAccount", account_data::DELETE_PATH, &account_data::delete_account, DELETE_ACCOUNT)
        .summary("Deletes the account, which can be restored for 30 days."),
    form_endpoint("restoreAccount", account_data::RESTORE_PATH, &account_data::restore_account, RESTORE_ACCOUNT)
        .summary("Restores a deleted account."),
    page_endpoint("showSessions", "/settings/sessions", &access::show_sessions).summary("Active sessions."),
    form_endpoint("endSession", access::REVOKE_SESSION_PATH, &access::revoke_session, ID).summary("Ends a session."),
    form_endpoint("endOtherSessions", access::REVOKE_OTHER_SESSIONS_PATH, &access::revoke_other_sessions, &[])
        .summary("Ends all other sessions."),
    page_endpoint("showConnectedApps", "/settings/apps", &access::show_connected_apps).summary("Connected apps."),
    page_endpoint("showPreview", "/preview/{id}", &post_preview::show)
        .params(&[&[Parameter::path("id", Kind::text(1, 20), "The id of the post, draft or scheduled post.")]])
        .summary("A preview of a promoted post."),
    form_endpoint("disconnectApp", access::DISCONNECT_APP_PATH, &access::disconnect_app, ID)
        .summary("Revokes an app's access."),
    page_endpoint("authorizeRequestToken", "/oauth/authorize", &oauth1::authorize)
        .summary("Asks the user to authorize an app.")
        .limits(PER_APP, &[]),
    page_endpoint("authenticateRequestToken", "/oauth/authenticate", &oauth1::authenticate)
        .aliases(&["/i/oauth/authenticate"])
        .summary("Signs the user in to an app; skips the prompt if the app is already authorized.")
        .limits(PER_APP, &[]),
    page_endpoint("authorizeOAuth2", "/i/oauth2/authorize", &oauth2::show_consent)
        .aliases(&["/2/oauth2/authorize"])
        .summary("Asks the user to grant an app some scopes.")
        .limits(PER_APP, &[]),
    form_endpoint("answerRequestToken", "/oauth/authorize", &oauth1::submit_decision, OAUTH1)
        .summary("Authorizes or denies an app."),
    form_endpoint("answerOAuth2", "/i/oauth2/authorize", &oauth2::submit_decision, OAUTH2)
        .aliases(&["/2/oauth2/authorize"])
        .summary("Grants or denies an app some scopes."),
    page_endpoint("followCard", "/c/{link}", &card_links::follow)
        .params(&[LINK])
        .summary("Redirects to a card's destination."),
    page_endpoint("followCardFrom", "/c/{link}/{post}", &card_links::follow_from_post).params(&[LINK, FROM]).summary(
        "Redirects to the destination of a post's card and counts the click if the post is \
             promoted. Ad-serving clients add an `impression_token`.",
    ),
    page_endpoint("followLink", "/t/{code}", &short_links::follow)
        .params(&[CODE])
        .summary("Redirects to the URL behind a short link; a click on one in a post counts."),
    page_endpoint("showCard", "/cards/{card}/{post}", &compose::show_conversation_card)
        .params(&[CARD])
        .summary("A conversation card of a post."),
    page_endpoint("showComposer", compose::COMPOSE_PATH, &compose::show)
        .aliases(&["/intent/tweet"])
        .summary("The composer, with a text from the link."),
    form_endpoint("compose", compose::COMPOSE_PATH, &compose::submit, COMPOSE)
        .summary("Publishes a post; one with a conversation card's hashtag replies to the card."),
    page_endpoint("showWritten", "/intent/written", &compose::show_sent_post)
        .summary("The published post, and the card's thank-you content."),
    page_endpoint("getStyle", pages::STYLE.path(), &serve_asset).summary("The stylesheet."),
    page_endpoint("getScript", pages::STREAM_SCRIPT.path(), &serve_asset)
        .summary("The script of the live stream page."),
    page_endpoint("getHomeScript", pages::HOME_SCRIPT.path(), &serve_asset).summary("The script of the home timeline."),
    page_endpoint("getConversationScript", pages::CONVERSATION_SCRIPT.path(), &serve_asset)
        .summary("The script of conversations."),
    page_endpoint("getPasskeyScript", pages::PASSKEY_SCRIPT.path(), &serve_asset)
        .summary("The script of the pages with passkeys."),
    page_endpoint("getTagScript", TAG_SCRIPT_PATH, &web_tags::serve_script)
        .summary("The script of web event tags, which advertisers' sites embed."),
    page_endpoint("recordTagEvent", TAG_IMAGE_PATH, &web_tags::record_event)
        .params(&[TAG_EVENT])
        .summary("Records an event of a web event tag; the answer is an image of one pixel."),
    page_endpoint("getMark", pages::MARK.path(), &serve_asset).summary("The logo."),
];

const PER_APP: &[RateWindow] = &[per_quarter_hour(500)];
const PER_ADDRESS: &[RateWindow] = &[per_quarter_hour(300)];
/// Higher, since every page loads assets.
const PER_BROWSER: &[RateWindow] = &[per_quarter_hour(900)];

/// A page that everyone may open; it looks up who is signed in.
pub const fn page_endpoint(id: &'static str, path: &'static str, handler: &'static dyn EndpointHandler) -> Endpoint {
    Endpoint::get(id, path, handler).allow_anonymous().limits(PER_BROWSER, &[]).error_format(ErrorFormat::Page)
}

/// A form of a page, whose handler checks origin and token.
pub const fn form_endpoint(
    id: &'static str,
    path: &'static str,
    handler: &'static dyn EndpointHandler,
    members: &'static [Parameter],
) -> Endpoint {
    Endpoint::post(id, path, handler)
        .allow_anonymous()
        .limits(PER_ADDRESS, &[])
        .body(BodySpec::Form(members))
        .error_format(ErrorFormat::Page)
}

const LINK: &[Parameter] = &[Parameter::path("link", Kind::ID, "The id of the link.")];
const CODE: &[Parameter] = &[Parameter::path("code", Kind::text(1, 64), "The code of the short link.")];
const CARD: &[Parameter] = &[
    Parameter::path("card", Kind::ID, "The id of the card."),
    Parameter::path("post", Kind::ID, "The id of the post."),
];
const FROM: &[Parameter] = &[Parameter::path("post", Kind::ID, "The id of the post.")];

const TAG_EVENT: &[Parameter] = &[
    Parameter::query("event_id", Kind::text(1, 255), "The id of the tag: `tw-o3bk1-o3bk2`."),
    Parameter::query("twclid", Kind::text(1, 255), "The click id that the landing page got."),
    Parameter::query("conversion_id", Kind::text(1, 255), "The site's own id of the event, which counts once."),
    Parameter::query("value", Kind::text(1, 255), "The amount of the sale."),
    Parameter::query("currency", Kind::text(1, 255), "The amount's currency; `USD` by default."),
    Parameter::query("num_items", Kind::text(1, 255), "How many items were sold."),
];

const COMPOSE: &[Parameter] = text_members! { MAX_TEXT; csrf text card of in_reply_to };
const SIGN_IN: &[Parameter] = text_members! { MAX_TEXT; csrf next login password };
const SIGN_IN_CODE: &[Parameter] = text_members! { MAX_TEXT; csrf next code };
const BEGIN_TWO_FACTOR: &[Parameter] = text_members! { MAX_TEXT; csrf password };
const CODE_FORM: &[Parameter] = text_members! { MAX_TEXT; csrf code };
const TURN_OFF: &[Parameter] = text_members! { MAX_TEXT; csrf off_password off_code };
const NEW_CODES: &[Parameter] = text_members! { MAX_TEXT; csrf codes_password codes_code };
const SIGN_IN_PASSKEY: &[Parameter] = text_members! { MAX_TEXT;
    csrf next credential client_data authenticator_data signature user_handle
};
const BEGIN_PASSKEY: &[Parameter] = text_members! { MAX_TEXT; csrf passkey_password passkey_code };
const NEW_PASSKEY: &[Parameter] = text_members! { MAX_TEXT; csrf name client_data authenticator_data };
const REMOVE_PASSKEY: &[Parameter] = text_members! { MAX_TEXT; csrf passkey removal_password };
const JOIN: &[Parameter] = text_members! { MAX_TEXT; csrf next username name email password };
const EMAIL: &[Parameter] = text_members! { MAX_TEXT; csrf email };
const CONFIRM: &[Parameter] = text_members! { MAX_TEXT; csrf token };
const RESET: &[Parameter] = text_members! { MAX_TEXT; csrf token password end_tokens };
const PASSWORD: &[Parameter] = text_members! { MAX_TEXT; csrf current password end_tokens };
const CHANGE_USERNAME: &[Parameter] = text_members! { MAX_TEXT; csrf username username_password };
const CHANGE_EMAIL: &[Parameter] = text_members! { MAX_TEXT; csrf email email_password };
const ABOUT: &[Parameter] = text_members! { MAX_TEXT; csrf born_on gender };
const ARCHIVE: &[Parameter] = text_members! { MAX_TEXT; csrf archive_password };
const DELETE_ACCOUNT: &[Parameter] = text_members! { MAX_TEXT; csrf password };
const RESTORE_ACCOUNT: &[Parameter] = text_members! { MAX_TEXT; csrf token next };
const ID: &[Parameter] = text_members! { MAX_TEXT; csrf id };
const OAUTH1: &[Parameter] = text_members! { MAX_TEXT; csrf oauth_token permission email decision };
const OAUTH2: &[Parameter] = text_members! { MAX_TEXT;
    csrf response_type client_id redirect_uri scope state code_challenge code_challenge_method decision
};
