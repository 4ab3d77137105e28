//! Secret text: never printed, compared in constant time, looked up by its digest.

use std::fmt;

use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

/// `Debug` hides the text; equality takes constant time for equal lengths.
#[derive(Clone, Default, Eq)]
pub struct Secret(String);

impl Secret {
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    pub fn expose_secret(&self) -> &str {
        &self.0
    }

    pub fn digest(&self) -> [u8; 32] {
        digest(&self.0)
    }
}

pub fn digest(text: &str) -> [u8; 32] {
    Sha256::digest(text.as_bytes()).into()
}

/// In constant time for equal lengths.
pub fn constant_time_eq(one: &[u8], other: &[u8]) -> bool {
    one.ct_eq(other).into()
}

impl PartialEq for Secret {
    fn eq(&self, other: &Self) -> bool {
        constant_time_eq(self.0.as_bytes(), other.0.as_bytes())
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(…)")
    }
}
