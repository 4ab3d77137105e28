//! Tokens: OAuth 1.0a, OAuth 2.0 app-only, OAuth 2.0 with a user, and what remains of the
//! older interface.
//!
//! These operations read their credentials and judge their parameters themselves, since each
//! fault has a text of its own; so nearly nothing is required here.

use base::Scopes;

use super::shared::ANY_LENGTH;
use crate::endpoint::{Accent, Body, Endpoint, Kind, Member, Param, Shape, Window, quarter};
use crate::{oauth, pages};

/// OAuth 1.0a, and the operations of the older interface that it needs.
pub static OAUTH1: &[Endpoint] = &[
    Endpoint::new("createRequestToken", "POST", "/oauth/request_token")
        .act(oauth::three_legged::request)
        .about("Issues a request token to an app.")
        .open()
        .limits(PER_APP, &[])
        .params(&[&[
            Param::query("oauth_callback", TEXT, "Where to go afterwards, or `oob`."),
            ACCESS_TYPE,
        ]])
        .body(Body::Form(&[
            Member::new("oauth_callback", WORDS),
            Member::new("svc_auth_access_type", WORDS),
            Member::new("x_auth_access_type", WORDS),
        ]))
        .accent(Accent::Legacy),
    Endpoint::new("authorizeRequestToken", "GET", "/oauth/authorize")
        .act(pages::oauth1::authorize)
        .about("Asks the user whether an app may act for them.")
        .open()
        .limits(PER_APP, &[])
        .accent(Accent::Page),
    Endpoint::new("authenticateRequestToken", "GET", "/oauth/authenticate")
        .aliases(&["/i/oauth/authenticate"])
        .act(pages::oauth1::authenticate)
        .about("Signs the user in to an app, without asking again what was granted before.")
        .open()
        .limits(PER_APP, &[])
        .accent(Accent::Page),
    Endpoint::new("createAccessToken", "POST", "/oauth/access_token")
        .act(oauth::three_legged::access)
        .about("Exchanges a request token and its verifier for an access token.")
        .open()
        .limits(PER_APP, &[])
        .params(&[&[
            Param::query("oauth_token", TEXT, "The request token."),
            Param::query("oauth_verifier", TEXT, "The verifier, or the PIN."),
        ]])
        .body(Body::Form(&[
            Member::new("oauth_token", WORDS),
            Member::new("oauth_verifier", WORDS),
        ]))
        .accent(Accent::Legacy),
    Endpoint::new(
        "invalidateAccessToken",
        "POST",
        "/1.1/oauth/invalidate_token",
    )
    .aliases(&["/1.1/oauth/invalidate_token.json"])
    .act(oauth::legacy::invalidate)
    .about("Revokes the access token that the request is signed with.")
    .permit("1", Scopes::NONE)
    .limits(PER_APP, PER_APP)
    .accent(Accent::Legacy),
    Endpoint::new(
        "verifyCredentials",
        "GET",
        "/1.1/account/verify_credentials.json",
    )
    .act(oauth::legacy::verify)
    .about("The authenticated user, in the form of the older interface.")
    .permit("1", Scopes::NONE)
    .limits(&[], &[quarter(75)])
    .params(&[&[
        Param::query("include_email", YES_OR_NO, "Whether to show the email."),
        Param::query(
            "include_entities",
            YES_OR_NO,
            "Taken, and not heeded: the entities are there.",
        ),
        Param::query(
            "skip_status",
            YES_OR_NO,
            "Taken, and not heeded: no post is there.",
        ),
    ]])
    .accent(Accent::Legacy),
    Endpoint::new("showUser", "GET", "/1.1/users/show.json")
        .aliases(&["/1.1/users/show"])
        .act(oauth::legacy::show)
        .about("The user with an id or a name, in the form of the older interface.")
        .permit("1A", Scopes::NONE)
        .limits(&[quarter(900)], &[quarter(900)])
        .params(&[[
            Param::query("user_id", Kind::Id, "The id of the user."),
            Param::query("screen_name", Kind::Text(1, 100), "The name; the id wins."),
            Param::query(
                "include_entities",
                YES_OR_NO,
                "Taken, and not heeded: the entities are there.",
            ),
        ]
        .as_slice()])
        .accent(Accent::Legacy),
];

/// OAuth 2.0.
pub static OAUTH2: &[Endpoint] = &[
    Endpoint::new(
        "getAuthorizationServerMetadata",
        "GET",
        "/.well-known/oauth-authorization-server",
    )
    .act(oauth::metadata::document)
    .about("Where and how OAuth 2.0 is spoken here (RFC 8414).")
    .open()
    .limits(PER_APP, &[])
    .accent(Accent::OAuth2),
    Endpoint::new("createBearerToken", "POST", "/oauth2/token")
        .act(oauth::bearer::issue)
        .about("Issues the bearer token of an app, the same until it is invalidated.")
        .open()
        .limits(PER_APP, &[])
        .params(&[&[Param::query("grant_type", TEXT, "`client_credentials`.")]])
        .body(Body::Form(&[Member::new("grant_type", WORDS)]))
        .accent(Accent::Legacy),
    Endpoint::new("invalidateBearerToken", "POST", "/oauth2/invalidate_token")
        .act(oauth::bearer::invalidate)
        .about("Revokes the bearer token of an app for its owner.")
        .open()
        .limits(PER_APP, &[])
        .params(&[&[Param::query("access_token", TEXT, "The bearer token.")]])
        .body(Body::Form(&[Member::new("access_token", WORDS)]))
        .accent(Accent::Legacy),
    Endpoint::new("authorizeOAuth2", "GET", "/i/oauth2/authorize")
        .aliases(&["/2/oauth2/authorize"])
        .act(pages::oauth2::show)
        .about("Asks the user whether an app may act for them within some scopes.")
        .open()
        .limits(PER_APP, &[])
        .accent(Accent::Page),
    Endpoint::new("createOAuth2Token", "POST", "/2/oauth2/token")
        .act(oauth::tokens::issue)
        .about("Exchanges a code or a refresh token for an access token.")
        .open()
        .limits(PER_APP, &[])
        .body(Body::Form(&[
            Member::new("grant_type", WORDS),
            Member::new("code", WORDS),
            Member::new("redirect_uri", WORDS),
            Member::new("code_verifier", WORDS),
            Member::new("refresh_token", WORDS),
            Member::new("client_id", WORDS),
            Member::new("client_secret", WORDS),
            Member::new("scope", WORDS),
        ]))
        .accent(Accent::OAuth2),
    Endpoint::new("revokeOAuth2Token", "POST", "/2/oauth2/revoke")
        .act(oauth::tokens::revoke)
        .about("Revokes an access token or a refresh token.")
        .open()
        .limits(PER_APP, &[])
        .body(Body::Form(&[
            Member::new("token", WORDS),
            Member::new("token_type_hint", WORDS),
            Member::new("client_id", WORDS),
            Member::new("client_secret", WORDS),
        ]))
        .accent(Accent::OAuth2),
];

/// As released clients of the older interface write it.
const YES_OR_NO: Kind = Kind::OneOf(&["true", "false", "True", "False", "t", "f", "1", "0"]);
const TEXT: Kind = Kind::Text(0, ANY_LENGTH);
const WORDS: Shape = Shape::Text(0, ANY_LENGTH);
const PER_APP: &[Window] = &[quarter(500)];

const ACCESS_TYPE: Param = Param::query(
    "svc_auth_access_type",
    Kind::OneOf(&["read", "write"]),
    "A lower level than the app's own.",
)
.also(&["x_auth_access_type"]);
