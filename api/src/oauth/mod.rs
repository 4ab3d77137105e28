//! OAuth endpoints for apps.

pub(crate) mod bearer;
pub(crate) mod legacy;
pub(crate) mod metadata;
pub(crate) mod three_legged;
pub(crate) mod tokens;
