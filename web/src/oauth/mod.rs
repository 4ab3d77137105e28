//! OAuth: what apps and their clients ask for in the older interface's dialect.

pub(crate) mod bearer;
pub(crate) mod legacy;
