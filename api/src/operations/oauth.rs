//! OAuth 1.0a and OAuth 2.0 operations.
//!
//! They check credentials and parameters themselves, since each error has a text of its own;
//! so hardly anything is required here.

use base::Scopes;
use web::endpoint::{BodySpec, Endpoint, ErrorFormat, Kind, MAX_SHORT_TEXT, Parameter, RateWindow, per_quarter_hour};
use web::text_members;

use crate::oauth;

pub static OAUTH1: &[Endpoint] = &[
    Endpoint::new("createRequestToken", "POST", "/oauth/request_token")
        .handler(oauth::three_legged::request_token)
        .summary("Issues a request token to an app.")
        .allow_anonymous()
        .limits(PER_APP, &[])
        .params(&[&[Parameter::query("oauth_callback", TEXT, "The callback URL, or `oob`."), ACCESS_TYPE]])
        .body(BodySpec::Form(text_members! { MAX_SHORT_TEXT; oauth_callback svc_auth_access_type x_auth_access_type }))
        .error_format(ErrorFormat::Legacy),
    Endpoint::new("createAccessToken", "POST", "/oauth/access_token")
        .handler(oauth::three_legged::access_token)
        .summary("Exchanges a request token and its verifier for an access token.")
        .allow_anonymous()
        .limits(PER_APP, &[])
        .params(&[&[
            Parameter::query("oauth_token", TEXT, "The request token."),
            Parameter::query("oauth_verifier", TEXT, "The verifier, or the PIN."),
        ]])
        .body(BodySpec::Form(text_members! { MAX_SHORT_TEXT; oauth_token oauth_verifier }))
        .error_format(ErrorFormat::Legacy),
    Endpoint::new("invalidateAccessToken", "POST", "/1.1/oauth/invalidate_token")
        .aliases(&["/1.1/oauth/invalidate_token.json"])
        .handler(oauth::legacy::invalidate_token)
        .summary("Revokes the access token that the request is signed with.")
        .permit("1", Scopes::NONE)
        .limits(PER_APP, PER_APP)
        .error_format(ErrorFormat::Legacy),
];

pub static OAUTH2: &[Endpoint] = &[
    Endpoint::new("getAuthorizationServerMetadata", "GET", "/.well-known/oauth-authorization-server")
        .handler(oauth::metadata::document)
        .summary("OAuth 2.0 authorization server metadata (RFC 8414).")
        .allow_anonymous()
        .limits(PER_APP, &[])
        .error_format(ErrorFormat::OAuth2),
    Endpoint::new("createBearerToken", "POST", "/oauth2/token")
        .handler(oauth::bearer::issue)
        .summary("Issues an app's bearer token, which stays the same until it is invalidated.")
        .allow_anonymous()
        .limits(PER_APP, &[])
        .share_limit(&oauth::bearer::ISSUE_WINDOW)
        .params(&[&[Parameter::query("grant_type", TEXT, "`client_credentials`.")]])
        .body(BodySpec::Form(text_members! { MAX_SHORT_TEXT; grant_type }))
        .error_format(ErrorFormat::Legacy),
    Endpoint::new("invalidateBearerToken", "POST", "/oauth2/invalidate_token")
        .handler(oauth::bearer::invalidate)
        .summary("Invalidates an app's bearer token.")
        .allow_anonymous()
        .limits(PER_APP, &[])
        .params(&[&[Parameter::query("access_token", TEXT, "The bearer token.")]])
        .body(BodySpec::Form(text_members! { MAX_SHORT_TEXT; access_token }))
        .error_format(ErrorFormat::Legacy),
    Endpoint::new("createOAuth2Token", "POST", "/2/oauth2/token")
        .handler(oauth::tokens::issue)
        .summary("Exchanges a code or a refresh token for an access token.")
        .allow_anonymous()
        .limits(PER_APP, &[])
        .body(BodySpec::Form(text_members! { MAX_SHORT_TEXT;
            grant_type code redirect_uri code_verifier refresh_token client_id client_secret scope
        }))
        .error_format(ErrorFormat::OAuth2),
    Endpoint::new("revokeOAuth2Token", "POST", "/2/oauth2/revoke")
        .handler(oauth::tokens::revoke)
        .summary("Revokes an access token or a refresh token.")
        .allow_anonymous()
        .limits(PER_APP, &[])
        .body(BodySpec::Form(text_members! { MAX_SHORT_TEXT; token token_type_hint client_id client_secret }))
        .error_format(ErrorFormat::OAuth2),
];

const TEXT: Kind = Kind::text(0, MAX_SHORT_TEXT);
const PER_APP: &[RateWindow] = &[per_quarter_hour(500)];

const ACCESS_TYPE: Parameter = Parameter::query(
    "svc_auth_access_type",
    Kind::one_of(&["read", "write"]),
    "A lower access level than the app's own.",
)
.aliases(&["x_auth_access_type"]);
