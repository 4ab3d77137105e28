//! Who calls: the boundary to the floor that checks credentials.

use std::sync::Arc;

use base::{AppId, Credential, Scopes, Speech, Stop, UserId};
use bytes::Bytes;

/// A caller whose credential held.
#[derive(Clone, Debug)]
pub struct Caller {
    /// The application.
    pub app_id: AppId,
    /// Facts of the application.
    pub app: Arc<App>,
    /// The user, in user context.
    pub user: Option<UserId>,
    /// The kind of credential.
    pub credential: Credential,
    /// The scopes of an OAuth 2.0 user token.
    pub scopes: Scopes,
    /// What an OAuth 1.0a token may do.
    pub permission: Permission,
}

/// Facts of an application that every request needs.
#[derive(Clone, Debug, Default)]
pub struct App {
    /// The vocabulary that it asked for.
    pub vocabulary: Option<Speech>,
}

/// OAuth 1.0a permission levels, each including the ones before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Permission {
    /// Read.
    Read,
    /// Read and write.
    Write,
    /// Read, write and direct messages.
    Messages,
}

/// What a request shows of itself to be recognised by.
#[derive(Clone, Debug)]
pub struct AuthRequest {
    /// The method.
    pub method: http::Method,
    /// Path and query, as they came.
    pub path_and_query: String,
    /// The `Authorization` header.
    pub authorization: Option<String>,
    /// The form body, where there is one.
    pub form: Option<Bytes>,
    /// The host that was called.
    pub host: Option<String>,
    /// What a trusted proxy says of the scheme.
    pub forwarded_proto: Option<String>,
    /// What a trusted proxy says of the host.
    pub forwarded_host: Option<String>,
}

/// Recognises callers.
pub struct Authenticator;

impl Authenticator {
    /// The caller of a request; none when it shows no credential.
    pub async fn authenticate(&self, _request: AuthRequest) -> Result<Option<Caller>, Stop> {
        std::future::ready(Ok(None)).await
    }
}
