//! Verification of what authenticators send (WebAuthn Level 2, section 7).

use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use ring::signature::{
    ECDSA_P256_SHA256_ASN1, ED25519, RSA_PKCS1_2048_8192_SHA256, RsaPublicKeyComponents, UnparsedPublicKey,
};
use serde::Deserialize;
use sha2::{Digest, Sha256};

/// Longer data is refused before it is parsed.
const MAX_CLIENT_DATA_BYTES: usize = 4096;
const MAX_CREDENTIAL_ID_BYTES: usize = 1023;

const USER_PRESENT: u8 = 0x01;
const USER_VERIFIED: u8 = 0x04;
const HAS_CREDENTIAL: u8 = 0x40;
const HAS_EXTENSIONS: u8 = 0x80;

const AAGUID_BYTES: usize = 16;

/// The beginnings of the keys that we accept, and what separates their parts. Authenticators encode keys canonically
/// (WebAuthn Level 2, section 6.5.1), so nothing else occurs (RFC 9053 §7).
const ES256_START: &[u8] = &[0xa5, 0x01, 0x02, 0x03, 0x26, 0x20, 0x01, 0x21, 0x58, 0x20];
const ES256_MIDDLE: &[u8] = &[0x22, 0x58, 0x20];
const ED25519_START: &[u8] = &[0xa4, 0x01, 0x01, 0x03, 0x27, 0x20, 0x06, 0x21, 0x58, 0x20];
const RS256_START: &[u8] = &[0xa4, 0x01, 0x03, 0x03, 0x39, 0x01, 0x00, 0x20, 0x59, 0x01, 0x00];
const RS256_END: &[u8] = &[0x21, 0x43, 0x01, 0x00, 0x01];
const RS256_EXPONENT: &[u8] = &[0x01, 0x00, 0x01];

/// Why an answer is refused, for the audit log.
pub(super) type Verified<T> = Result<T, &'static str>;

/// The site for which passkeys are made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RelyingParty {
    /// The host, without a port.
    pub id: String,
    /// As browsers write it.
    pub origin: String,
}

impl RelyingParty {
    /// None where browsers have no passkeys: without TLS, except on `localhost`, and at an IP address.
    pub fn from_url(url: &str) -> Option<Self> {
        let (scheme, rest) = url.split_once("://")?;
        let (scheme, authority) = (scheme.to_ascii_lowercase(), rest.split('/').next()?.to_ascii_lowercase());
        let (host, port) = authority.split_once(':').unwrap_or((&authority, ""));
        let is_domain = host.split('.').next_back()?.bytes().any(|byte| !byte.is_ascii_digit());
        let is_plain = host.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-._".contains(&byte));
        let default_port = match scheme.as_str() {
            "https" => "443",
            "http" if host == "localhost" || host.ends_with(".localhost") => "80",
            _ => return None,
        };
        if !is_domain || !is_plain {
            return None;
        }
        let port = if port.is_empty() || port == default_port { String::new() } else { format!(":{port}") };
        Some(Self { id: host.to_owned(), origin: format!("{scheme}://{host}{port}") })
    }
}

/// The JSON that a browser makes, and an authenticator signs (WebAuthn Level 2, section 5.8.1).
#[derive(Deserialize)]
pub(super) struct ClientData {
    #[serde(rename = "type")]
    kind: String,
    pub(super) challenge: String,
    origin: String,
    #[serde(rename = "crossOrigin", default)]
    is_cross_origin: bool,
}

impl ClientData {
    pub(super) fn parse(json: &[u8]) -> Verified<Self> {
        if json.len() > MAX_CLIENT_DATA_BYTES {
            return Err("the client data is too long");
        }
        serde_json::from_slice(json).map_err(|_| "the client data is malformed")
    }

    pub(super) fn check(&self, site: &RelyingParty, kind: &str) -> Verified<()> {
        if self.kind != kind {
            return Err("the client data is for something else");
        }
        if self.origin != site.origin || self.is_cross_origin {
            return Err("the answer is for another site");
        }
        Ok(())
    }
}

/// The flags and the counter of an answer whose user was present and verified.
struct AuthenticatorData<'a> {
    flags: u8,
    sign_count: u32,
    rest: &'a [u8],
}

impl<'a> AuthenticatorData<'a> {
    fn parse(site: &RelyingParty, bytes: &'a [u8]) -> Verified<Self> {
        let malformed = "the authenticator data is too short";
        let (site_hash, rest) = bytes.split_first_chunk::<32>().ok_or(malformed)?;
        let ([flags], rest) = rest.split_first_chunk::<1>().ok_or(malformed)?;
        let (sign_count, rest) = rest.split_first_chunk::<4>().ok_or(malformed)?;
        if *site_hash != sha256(site.id.as_bytes()) {
            return Err("the passkey is for another site");
        }
        if flags & USER_PRESENT == 0 || flags & USER_VERIFIED == 0 {
            return Err("the authenticator did not verify the user");
        }
        Ok(Self { flags: *flags, sign_count: u32::from_be_bytes(*sign_count), rest })
    }
}

/// A passkey that an authenticator has made.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct NewCredential {
    pub(super) id: Vec<u8>,
    /// In COSE format.
    pub(super) public_key: Vec<u8>,
    pub(super) sign_count: u32,
}

impl NewCredential {
    /// From authenticator data (WebAuthn Level 2, section 6.5.1).
    pub(super) fn parse(site: &RelyingParty, bytes: &[u8]) -> Verified<Self> {
        let data = AuthenticatorData::parse(site, bytes)?;
        if data.flags & HAS_CREDENTIAL == 0 {
            return Err("the authenticator data has no passkey");
        }
        let malformed = "the passkey is too short";
        let (_, rest) = data.rest.split_first_chunk::<AAGUID_BYTES>().ok_or(malformed)?;
        let (length, rest) = rest.split_first_chunk::<2>().ok_or(malformed)?;
        let length = usize::from(u16::from_be_bytes(*length));
        if !(1..=MAX_CREDENTIAL_ID_BYTES).contains(&length) {
            return Err("the passkey has an id of a wrong length");
        }
        let (id, key) = rest.split_at_checked(length).ok_or(malformed)?;
        let (_, extensions) = CredentialKey::parse(key)?;
        if extensions.is_empty() == (data.flags & HAS_EXTENSIONS != 0) {
            return Err("the authenticator data ends with something else");
        }
        let public_key = key.strip_suffix(extensions).ok_or(malformed)?;
        Ok(Self { id: id.to_vec(), public_key: public_key.to_vec(), sign_count: data.sign_count })
    }
}

/// The parts of a public key in COSE format.
enum CredentialKey<'a> {
    Es256 { x: &'a [u8; 32], y: &'a [u8; 32] },
    Ed25519 { x: &'a [u8; 32] },
    Rs256 { modulus: &'a [u8; 256] },
}

impl<'a> CredentialKey<'a> {
    /// Returns what follows the key too.
    fn parse(bytes: &'a [u8]) -> Verified<(Self, &'a [u8])> {
        Self::parse_known(bytes).ok_or("the kind of key is unknown")
    }

    fn parse_known(bytes: &'a [u8]) -> Option<(Self, &'a [u8])> {
        if let Some(rest) = bytes.strip_prefix(ES256_START) {
            let (x, rest) = rest.split_first_chunk()?;
            let (y, rest) = rest.strip_prefix(ES256_MIDDLE)?.split_first_chunk()?;
            return Some((Self::Es256 { x, y }, rest));
        }
        if let Some(rest) = bytes.strip_prefix(ED25519_START) {
            let (x, rest) = rest.split_first_chunk()?;
            return Some((Self::Ed25519 { x }, rest));
        }
        let (modulus, rest) = bytes.strip_prefix(RS256_START)?.split_first_chunk()?;
        Some((Self::Rs256 { modulus }, rest.strip_prefix(RS256_END)?))
    }

    fn verify(&self, message: &[u8], signature: &[u8]) -> Verified<()> {
        let checked = match self {
            Self::Es256 { x, y } => {
                let point = [&[0x04], x.as_slice(), y.as_slice()].concat();
                UnparsedPublicKey::new(&ECDSA_P256_SHA256_ASN1, point).verify(message, signature)
            }
            Self::Ed25519 { x } => UnparsedPublicKey::new(&ED25519, x).verify(message, signature),
            Self::Rs256 { modulus } => RsaPublicKeyComponents { n: modulus.as_slice(), e: RS256_EXPONENT }.verify(
                &RSA_PKCS1_2048_8192_SHA256,
                message,
                signature,
            ),
        };
        checked.map_err(|_| "the signature is wrong")
    }
}

/// Checks what was signed with a public key in COSE format; returns the counter.
pub(super) fn verify_signature(
    site: &RelyingParty,
    public_key: &[u8],
    client_data: &[u8],
    authenticator_data: &[u8],
    signature: &[u8],
) -> Verified<u32> {
    let data = AuthenticatorData::parse(site, authenticator_data)?;
    let (key, _) = CredentialKey::parse(public_key)?;
    key.verify(&[authenticator_data, &sha256(client_data)].concat(), signature)?;
    Ok(data.sign_count)
}

fn sha256(bytes: &[u8]) -> [u8; 32] {
    Sha256::digest(bytes).into()
}

pub(super) fn encode_base64url(bytes: &[u8]) -> String {
    BASE64_URL_SAFE_NO_PAD.encode(bytes)
}

/// Empty if it is malformed, which nothing valid is.
pub(super) fn decode_base64url(text: &str) -> Vec<u8> {
    BASE64_URL_SAFE_NO_PAD.decode(text).unwrap_or_default()
}

#[cfg(test)]
mod tests;
