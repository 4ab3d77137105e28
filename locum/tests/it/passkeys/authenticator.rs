//! An authenticator in software, with one passkey.

use std::rc::Rc;

use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use ring::digest::{SHA256, digest};
use ring::rand::{SecureRandom, SystemRandom};
use ring::signature::{ECDSA_P256_SHA256_ASN1_SIGNING, EcdsaKeyPair, Ed25519KeyPair, KeyPair};
use serde_json::json;

use crate::harness::TestServer;

pub(super) const PRESENT: u8 = 0x01;
pub(super) const VERIFIED: u8 = 0x04;
const HAS_CREDENTIAL: u8 = 0x40;

enum SigningKey {
    Es256(EcdsaKeyPair),
    Ed25519(Ed25519KeyPair),
}

/// What is public here is what the authenticator and the browser say, which may be wrong.
#[derive(Clone)]
pub(crate) struct SoftwarePasskey {
    key: Rc<SigningKey>,
    pub(super) id: Vec<u8>,
    /// In base64url.
    pub(super) user_handle: String,
    pub(super) sign_count: u32,
    pub(super) flags: u8,
    /// The host that the browser says.
    pub(super) site: String,
    pub(super) origin: String,
    /// Instead of `webauthn.create` and `webauthn.get`.
    pub(super) kind: Option<&'static str>,
}

impl SoftwarePasskey {
    pub(crate) fn es256(server: &TestServer) -> Self {
        let (random, algorithm) = (SystemRandom::new(), &ECDSA_P256_SHA256_ASN1_SIGNING);
        let document = EcdsaKeyPair::generate_pkcs8(algorithm, &random).unwrap();
        let key = EcdsaKeyPair::from_pkcs8(algorithm, document.as_ref(), &random).unwrap();
        Self::new(server, SigningKey::Es256(key))
    }

    pub(super) fn ed25519(server: &TestServer) -> Self {
        let document = Ed25519KeyPair::generate_pkcs8(&SystemRandom::new()).unwrap();
        Self::new(server, SigningKey::Ed25519(Ed25519KeyPair::from_pkcs8(document.as_ref()).unwrap()))
    }

    fn new(server: &TestServer, key: SigningKey) -> Self {
        let mut id = vec![0; 32];
        SystemRandom::new().fill(&mut id).unwrap();
        Self {
            key: Rc::new(key),
            id,
            user_handle: String::new(),
            sign_count: 0,
            flags: PRESENT | VERIFIED,
            site: "localhost".to_owned(),
            origin: server.url.clone(),
            kind: None,
        }
    }

    fn cose_key(&self) -> Vec<u8> {
        match self.key.as_ref() {
            SigningKey::Es256(pair) => {
                let (x, y) = pair.public_key().as_ref()[1..].split_at(32);
                [b"\xa5\x01\x02\x03\x26\x20\x01\x21\x58\x20", x, b"\x22\x58\x20", y].concat()
            }
            SigningKey::Ed25519(pair) => {
                [b"\xa4\x01\x01\x03\x27\x20\x06\x21\x58\x20", pair.public_key().as_ref()].concat()
            }
        }
    }

    fn sign(&self, message: &[u8]) -> Vec<u8> {
        match self.key.as_ref() {
            SigningKey::Es256(pair) => pair.sign(&SystemRandom::new(), message).unwrap().as_ref().to_vec(),
            SigningKey::Ed25519(pair) => pair.sign(message).as_ref().to_vec(),
        }
    }

    fn client_data(&self, kind: &str, challenge: &str) -> Vec<u8> {
        let kind = self.kind.unwrap_or(kind);
        let data = json!({"type": kind, "challenge": challenge, "origin": self.origin, "crossOrigin": false});
        data.to_string().into_bytes()
    }

    fn authenticator_data(&self, flags: u8) -> Vec<u8> {
        let site_hash = digest(&SHA256, self.site.as_bytes());
        [site_hash.as_ref(), &[flags], &self.sign_count.to_be_bytes()].concat()
    }

    /// Client data and authenticator data of the new passkey.
    pub(super) fn registration(&self, challenge: &str) -> (String, String) {
        let mut data = self.authenticator_data(self.flags | HAS_CREDENTIAL);
        data.extend([0; 16]);
        data.extend(u16::try_from(self.id.len()).unwrap().to_be_bytes());
        data.extend(&self.id);
        data.extend(self.cose_key());
        (encode(&self.client_data("webauthn.create", challenge)), encode(&data))
    }

    /// The fields of the form that signs in.
    pub(super) fn assertion(&self, challenge: &str) -> [(String, String); 5] {
        let (client_data, data) = (self.client_data("webauthn.get", challenge), self.authenticator_data(self.flags));
        let signature = self.sign(&[&data, digest(&SHA256, &client_data).as_ref()].concat());
        [
            ("credential", encode(&self.id)),
            ("client_data", encode(&client_data)),
            ("authenticator_data", encode(&data)),
            ("signature", encode(&signature)),
            ("user_handle", self.user_handle.clone()),
        ]
        .map(|(name, value)| (name.to_owned(), value))
    }
}

fn encode(bytes: &[u8]) -> String {
    BASE64_URL_SAFE_NO_PAD.encode(bytes)
}
