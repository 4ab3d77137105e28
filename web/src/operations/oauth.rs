//! Tokens: OAuth 1.0a, OAuth 2.0 app-only, OAuth 2.0 with a user, and what remains of the
//! older interface.
//!
//! These operations read their credentials and judge their parameters themselves, since each
//! fault has a text of its own; so nearly nothing is required here.

use base::Scopes;

use super::shared::ANY_LENGTH;
use crate::endpoint::{
    BodyMember, BodySpec, Endpoint, EndpointParam, ErrorFormat, MemberShape, ParamType, RateWindow, per_quarter_hour,
};
use crate::{oauth, pages};

/// OAuth 1.0a, and the operations of the older interface that it needs.
pub static OAUTH1: &[Endpoint] = &[
    Endpoint::new("createRequestToken", "POST", "/oauth/request_token")
        .handler(oauth::three_legged::request_token)
        .summary("Issues a request token to an app.")
        .allow_anonymous()
        .limits(PER_APP, &[])
        .params(&[&[
            EndpointParam::query("oauth_callback", TEXT, "Where to go afterwards, or `oob`."),
            ACCESS_TYPE,
        ]])
        .body(BodySpec::Form(&[
            BodyMember::new("oauth_callback", WORDS),
            BodyMember::new("svc_auth_access_type", WORDS),
            BodyMember::new("x_auth_access_type", WORDS),
        ]))
        .error_format(ErrorFormat::Legacy),
    Endpoint::new("authorizeRequestToken", "GET", "/oauth/authorize")
        .handler(pages::oauth1::authorize)
        .summary("Asks the user whether an app may act for them.")
        .allow_anonymous()
        .limits(PER_APP, &[])
        .error_format(ErrorFormat::Page),
    Endpoint::new("authenticateRequestToken", "GET", "/oauth/authenticate")
        .aliases(&["/i/oauth/authenticate"])
        .handler(pages::oauth1::authenticate)
        .summary("Signs the user in to an app, without asking again what was granted before.")
        .allow_anonymous()
        .limits(PER_APP, &[])
        .error_format(ErrorFormat::Page),
    Endpoint::new("createAccessToken", "POST", "/oauth/access_token")
        .handler(oauth::three_legged::access_token)
        .summary("Exchanges a request token and its verifier for an access token.")
        .allow_anonymous()
        .limits(PER_APP, &[])
        .params(&[&[
            EndpointParam::query("oauth_token", TEXT, "The request token."),
            EndpointParam::query("oauth_verifier", TEXT, "The verifier, or the PIN."),
        ]])
        .body(BodySpec::Form(&[
            BodyMember::new("oauth_token", WORDS),
            BodyMember::new("oauth_verifier", WORDS),
        ]))
        .error_format(ErrorFormat::Legacy),
    Endpoint::new("invalidateAccessToken", "POST", "/1.1/oauth/invalidate_token")
        .aliases(&["/1.1/oauth/invalidate_token.json"])
        .handler(oauth::legacy::invalidate_token)
        .summary("Revokes the access token that the request is signed with.")
        .permit("1", Scopes::NONE)
        .limits(PER_APP, PER_APP)
        .error_format(ErrorFormat::Legacy),
    Endpoint::new("verifyCredentials", "GET", "/1.1/account/verify_credentials.json")
        .handler(oauth::legacy::verify_credentials)
        .summary("The authenticated user, in the form of the older interface.")
        .permit("1", Scopes::NONE)
        .limits(&[], &[per_quarter_hour(75)])
        .params(&[&[
            EndpointParam::query("include_email", YES_OR_NO, "Whether to show the email."),
            EndpointParam::query(
                "include_entities",
                YES_OR_NO,
                "Taken, and not heeded: the entities are there.",
            ),
            EndpointParam::query("skip_status", YES_OR_NO, "Taken, and not heeded: no post is there."),
        ]])
        .error_format(ErrorFormat::Legacy),
    Endpoint::new("showUser", "GET", "/1.1/users/show.json")
        .aliases(&["/1.1/users/show"])
        .handler(oauth::legacy::show_user)
        .summary("The user with an id or a name, in the form of the older interface.")
        .permit("1A", Scopes::NONE)
        .limits(&[per_quarter_hour(900)], &[per_quarter_hour(900)])
        .params(&[[
            EndpointParam::query("user_id", ParamType::Id, "The id of the user."),
            EndpointParam::query("screen_name", ParamType::Text(1, 100), "The name; the id wins."),
            EndpointParam::query(
                "include_entities",
                YES_OR_NO,
                "Taken, and not heeded: the entities are there.",
            ),
        ]
        .as_slice()])
        .error_format(ErrorFormat::Legacy),
];

/// OAuth 2.0.
pub static OAUTH2: &[Endpoint] = &[
    Endpoint::new(
        "getAuthorizationServerMetadata",
        "GET",
        "/.well-known/oauth-authorization-server",
    )
    .handler(oauth::metadata::document)
    .summary("Where and how OAuth 2.0 is spoken here (RFC 8414).")
    .allow_anonymous()
    .limits(PER_APP, &[])
    .error_format(ErrorFormat::OAuth2),
    Endpoint::new("createBearerToken", "POST", "/oauth2/token")
        .handler(oauth::bearer::issue)
        .summary("Issues the bearer token of an app, the same until it is invalidated.")
        .allow_anonymous()
        .limits(PER_APP, &[])
        .params(&[&[EndpointParam::query("grant_type", TEXT, "`client_credentials`.")]])
        .body(BodySpec::Form(&[BodyMember::new("grant_type", WORDS)]))
        .error_format(ErrorFormat::Legacy),
    Endpoint::new("invalidateBearerToken", "POST", "/oauth2/invalidate_token")
        .handler(oauth::bearer::invalidate)
        .summary("Revokes the bearer token of an app for its owner.")
        .allow_anonymous()
        .limits(PER_APP, &[])
        .params(&[&[EndpointParam::query("access_token", TEXT, "The bearer token.")]])
        .body(BodySpec::Form(&[BodyMember::new("access_token", WORDS)]))
        .error_format(ErrorFormat::Legacy),
    Endpoint::new("authorizeOAuth2", "GET", "/i/oauth2/authorize")
        .aliases(&["/2/oauth2/authorize"])
        .handler(pages::oauth2::show_consent)
        .summary("Asks the user whether an app may act for them within some scopes.")
        .allow_anonymous()
        .limits(PER_APP, &[])
        .error_format(ErrorFormat::Page),
    Endpoint::new("createOAuth2Token", "POST", "/2/oauth2/token")
        .handler(oauth::tokens::issue)
        .summary("Exchanges a code or a refresh token for an access token.")
        .allow_anonymous()
        .limits(PER_APP, &[])
        .body(BodySpec::Form(&[
            BodyMember::new("grant_type", WORDS),
            BodyMember::new("code", WORDS),
            BodyMember::new("redirect_uri", WORDS),
            BodyMember::new("code_verifier", WORDS),
            BodyMember::new("refresh_token", WORDS),
            BodyMember::new("client_id", WORDS),
            BodyMember::new("client_secret", WORDS),
            BodyMember::new("scope", WORDS),
        ]))
        .error_format(ErrorFormat::OAuth2),
    Endpoint::new("revokeOAuth2Token", "POST", "/2/oauth2/revoke")
        .handler(oauth::tokens::revoke)
        .summary("Revokes an access token or a refresh token.")
        .allow_anonymous()
        .limits(PER_APP, &[])
        .body(BodySpec::Form(&[
            BodyMember::new("token", WORDS),
            BodyMember::new("token_type_hint", WORDS),
            BodyMember::new("client_id", WORDS),
            BodyMember::new("client_secret", WORDS),
        ]))
        .error_format(ErrorFormat::OAuth2),
];

/// As released clients of the older interface write it.
const YES_OR_NO: ParamType = ParamType::OneOf(&["true", "false", "True", "False", "t", "f", "1", "0"]);
const TEXT: ParamType = ParamType::Text(0, ANY_LENGTH);
const WORDS: MemberShape = MemberShape::Text(0, ANY_LENGTH);
const PER_APP: &[RateWindow] = &[per_quarter_hour(500)];

const ACCESS_TYPE: EndpointParam = EndpointParam::query(
    "svc_auth_access_type",
    ParamType::OneOf(&["read", "write"]),
    "A lower level than the app's own.",
)
.aliases(&["x_auth_access_type"]);
