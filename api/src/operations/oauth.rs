//! OAuth 1.0a and OAuth 2.0 operations.
//!
//! They check credentials and parameters themselves, since each error has a text of its own;
//! so hardly anything is required here.

use base::Scopes;
use web::endpoint::{BodySpec, Endpoint, ErrorFormat, Kind, MAX_SHORT_TEXT, Parameter, RateWindow, per_quarter_hour};
use web::text_members;

use crate::oauth;

pub static OAUTH1: &[Endpoint] = &[
    Endpoint::post("createRequestToken", "/oauth/request_token", &oauth::three_legged::request_token)
        .summary("Issues a request token to an app.")
        .verify_app()
        .limits(PER_APP, &[])
        .params(&[REQUEST_TOKEN_PARAMETERS])
        .body(BodySpec::Form(text_members! { MAX_SHORT_TEXT; oauth_callback svc_auth_access_type x_auth_access_type }))
        .error_format(ErrorFormat::Legacy),
    Endpoint::get("getRequestToken", "/oauth/request_token", &oauth::three_legged::request_token)
        .summary("Issues a request token, for libraries that ask for it with GET.")
        .verify_app()
        .limits(PER_APP, &[])
        .params(&[REQUEST_TOKEN_PARAMETERS])
        .error_format(ErrorFormat::Legacy),
    Endpoint::get("getAccessToken", "/oauth/access_token", &oauth::three_legged::access_token)
        .summary("Exchanges a request token, for libraries that ask for it with GET.")
        .verify_app()
        .limits(PER_APP, &[])
        .params(&[ACCESS_TOKEN_PARAMETERS])
        .error_format(ErrorFormat::Legacy),
    Endpoint::post("createAccessToken", "/oauth/access_token", &oauth::three_legged::access_token)
        .summary("Exchanges a request token and its verifier for an access token.")
        .verify_app()
        .limits(PER_APP, &[])
        .params(&[ACCESS_TOKEN_PARAMETERS])
        .body(BodySpec::Form(text_members! { MAX_SHORT_TEXT; oauth_token oauth_verifier }))
        .error_format(ErrorFormat::Legacy),
    Endpoint::post("invalidateAccessToken", "/1.1/oauth/invalidate_token", &oauth::legacy::invalidate_token)
        .aliases(&["/1.1/oauth/invalidate_token.json"])
        .summary("Revokes the access token that the request is signed with.")
        .permit("1", Scopes::NONE)
        .limits(PER_APP, PER_APP)
        .error_format(ErrorFormat::Legacy),
];

pub static OAUTH2: &[Endpoint] = &[
    Endpoint::get(
        "getAuthorizationServerMetadata",
        "/.well-known/oauth-authorization-server",
        &oauth::metadata::document,
    )
    .summary("OAuth 2.0 authorization server metadata (RFC 8414).")
    .allow_anonymous()
    .limits(PER_APP, &[])
    .error_format(ErrorFormat::OAuth2),
    Endpoint::post("createBearerToken", "/oauth2/token", &oauth::bearer::issue)
        .summary("Issues an app's bearer token, which stays the same until it is invalidated.")
        .verify_app()
        .limits(PER_APP, &[])
        .share_limit(&oauth::bearer::ISSUE_WINDOW)
        .params(&[&[Parameter::query("grant_type", TEXT, "`client_credentials`.")]])
        .body(BodySpec::Form(text_members! { MAX_SHORT_TEXT; grant_type }))
        .error_format(ErrorFormat::Legacy),
    Endpoint::post("invalidateBearerToken", "/oauth2/invalidate_token", &oauth::bearer::invalidate)
        .summary("Invalidates an app's bearer token.")
        .verify_app()
        .limits(PER_APP, &[])
        .params(&[&[Parameter::query("access_token", TEXT, "The bearer token.")]])
        .body(BodySpec::Form(text_members! { MAX_SHORT_TEXT; access_token }))
        .error_format(ErrorFormat::Legacy),
    Endpoint::post("createOAuth2Token", "/2/oauth2/token", &oauth::tokens::issue)
        .summary("Exchanges a code or a refresh token for an access token.")
        .verify_app()
        .limits(PER_APP, &[])
        .params(&[TOKEN_PARAMETERS, CLIENT_PARAMETERS])
        .body(BodySpec::Form(text_members! { MAX_SHORT_TEXT;
            grant_type code redirect_uri code_verifier refresh_token client_id client_secret scope
        }))
        .error_format(ErrorFormat::OAuth2),
    Endpoint::post("revokeOAuth2Token", "/2/oauth2/revoke", &oauth::tokens::revoke)
        .summary("Revokes an access token or a refresh token.")
        .verify_app()
        .limits(PER_APP, &[])
        .params(&[
            &[
                Parameter::query("token", TEXT, "The token."),
                Parameter::query("token_type_hint", TEXT, "The kind of the token."),
            ],
            CLIENT_PARAMETERS,
        ])
        .body(BodySpec::Form(text_members! { MAX_SHORT_TEXT; token token_type_hint client_id client_secret }))
        .error_format(ErrorFormat::OAuth2),
];

const REQUEST_TOKEN_PARAMETERS: &[Parameter] =
    &[Parameter::query("oauth_callback", TEXT, "The callback URL, or `oob`."), ACCESS_TYPE];
const ACCESS_TOKEN_PARAMETERS: &[Parameter] = &[
    Parameter::query("oauth_token", TEXT, "The request token."),
    Parameter::query("oauth_verifier", TEXT, "The verifier, or the PIN."),
];

/// The form's members, which a released client library sends in the query.
const TOKEN_PARAMETERS: &[Parameter] = &[
    Parameter::query("grant_type", TEXT, "`authorization_code` or `refresh_token`."),
    Parameter::query("code", TEXT, "The authorization code."),
    Parameter::query("redirect_uri", TEXT, "The redirect URI of the authorization."),
    Parameter::query("code_verifier", TEXT, "The PKCE verifier."),
    Parameter::query("refresh_token", TEXT, "The refresh token."),
    Parameter::query("scope", TEXT, "Fewer scopes for the new tokens."),
];
const CLIENT_PARAMETERS: &[Parameter] = &[
    Parameter::query("client_id", TEXT, "The client id, of clients without Basic authentication."),
    Parameter::query("client_secret", TEXT, "The client secret, of clients without Basic authentication."),
];

const TEXT: Kind = Kind::text(0, MAX_SHORT_TEXT);
const PER_APP: &[RateWindow] = &[per_quarter_hour(500)];

const ACCESS_TYPE: Parameter = Parameter::query(
    "svc_auth_access_type",
    Kind::one_of(&["read", "write"]),
    "A lower access level than the app's own.",
)
.aliases(&["x_auth_access_type"]);
