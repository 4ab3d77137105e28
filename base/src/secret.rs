//! Secret text: never printed, compared in constant time, looked up by its digest.

use std::fmt;

use hmac::digest::Key;
use hmac::{Hmac, KeyInit, Mac};
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

/// The code of the concatenated parts.
pub fn hmac_sha256(key: &[u8], parts: &[&[u8]]) -> [u8; 32] {
    let mut block = Key::<Hmac<Sha256>>::default();
    if key.len() > block.len() {
        return hmac_sha256(&Sha256::digest(key), parts);
    }
    block.iter_mut().zip(key).for_each(|(to, from)| *to = *from);
    let mut mac = Hmac::<Sha256>::new(&block);
    for part in parts {
        mac.update(part);
    }
    mac.finalize().into_bytes().into()
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

#[cfg(test)]
mod tests {
    use data_encoding::HEXLOWER;

    use super::hmac_sha256;

    /// RFC 4231, test cases 2 and 6.
    #[test]
    fn codes_of_short_and_long_keys_are_those_of_the_standard() {
        let code = hmac_sha256(b"Jefe", &[b"what do ya want ", b"for nothing?"]);
        let expected = "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843";
        assert_eq!(HEXLOWER.encode(&code), expected);
        let code = hmac_sha256(&[0xaa; 131], &[b"Test Using Larger Than Block-Size Key - Hash Key First"]);
        let expected = "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54";
        assert_eq!(HEXLOWER.encode(&code), expected);
    }
}
