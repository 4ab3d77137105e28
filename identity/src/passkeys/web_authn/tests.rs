use super::{
    CredentialKey, ED25519_START, ES256_MIDDLE, ES256_START, NewCredential, RS256_END, RS256_START, RelyingParty,
    decode_base64url, sha256,
};

/// A key of OpenSSL, and its signature of `a message`.
const RSA_MODULUS: &str = "6263ON6-\
     jELiZmUL_AyaVow0kwNz3BN0lV3zxAiRyKUHKZvBUOvB44keBIiOjaIKcqwMl1a3Ztc4c1zBudE4HLG_l0H827LJZ94CDYN-\
     rM8oMX-aQCwBJbdY6gkyypKxTN6fC0JKNsW6CeWsk0g-\
     q0PAfCAen3uuBZSVegW6rTfY33ZOm3gsXi0frpv9BQg_Vln2fjZ1Up5VMrrSDqVee9APPHA-\
     eCjkUymlFwmjFzgpK5IDAGi3pl-0zws5EWY92Ct8ZWM0R2vZE7eP9xkeGyf1DM0flTStCEgUqeseWPjdNpnai-\
     zYXw1m_La2KxKvktNyaHhUkNZIcG7C-uz3Yw";
const RSA_SIGNATURE: &str = "QFH8Ll9U0tbEfq31lJJxm_ZSBXgo9oVUp83ZOeBoakyurOPp2knrneHIPv3sqkiIW0CCJbxXQhoLGcBUdyksV-\
     g6I85MtkO2ySxYhC9DjewkGL5hB5dFEzuWjt_Ra56ueF-S1egiEZWfLMrvZxS1X9_27rRDxV7WRH1jC-n-\
     QmbC5fHjX-C65MNFtv9wQ3SsoJgwlYlSjPwCCxpbO4NhxccH22F0ISuNHcxz5ZW-\
     JFOnBHfGJzj4ilaJdkRFSet6fqzI8jZmeMB8eBQlMOzb959AbtxaaL2cz6nXqBYxS3zDhTHoRITHoRoG-\
     vmu_VFx01td8V5u56rhRy0sgd5k4A";

fn site() -> RelyingParty {
    RelyingParty::from_url("https://social.example").unwrap()
}

fn es256_key() -> Vec<u8> {
    [ES256_START, &[7; 32], ES256_MIDDLE, &[8; 32]].concat()
}

/// Of a new passkey whose id has two bytes.
fn authenticator_data(flags: u8, key: &[u8], end: &[u8]) -> Vec<u8> {
    let site_hash = sha256(b"social.example");
    [&site_hash[..], &[flags, 0, 0, 0, 9], &[0; 16], &[0, 2, 1, 2], key, end].concat()
}

#[test]
fn passkeys_need_tls_and_a_domain() {
    for (url, expected) in [
        ("https://social.example", Some(("social.example", "https://social.example"))),
        ("https://Social.Example:443/", Some(("social.example", "https://social.example"))),
        ("https://social.example:8443/path", Some(("social.example", "https://social.example:8443"))),
        ("https://intranet", Some(("intranet", "https://intranet"))),
        ("http://localhost:8080", Some(("localhost", "http://localhost:8080"))),
        ("http://api.localhost", Some(("api.localhost", "http://api.localhost"))),
        ("http://social.example", None),
        ("https://192.0.2.1", None),
        ("https://[2001:db8::1]", None),
        ("http://127.0.0.1:8080", None),
        ("https://", None),
        ("ftp://localhost", None),
        ("social.example", None),
    ] {
        let found = RelyingParty::from_url(url);
        let found = found.as_ref().map(|site| (site.id.as_str(), site.origin.as_str()));
        assert_eq!(found, expected, "{url}");
    }
}

#[test]
fn new_passkey_is_read_with_its_key_and_counter() {
    let (ed25519, modulus) = ([ED25519_START, &[7; 32]].concat(), decode_base64url(RSA_MODULUS));
    let rs256 = [RS256_START, &modulus, RS256_END].concat();
    for key in [es256_key(), ed25519, rs256] {
        for (flags, end) in [(0x45, &b""[..]), (0xc5, b"\xa1extension")] {
            let found = NewCredential::parse(&site(), &authenticator_data(flags, &key, end)).unwrap();
            assert_eq!((found.id, found.public_key, found.sign_count), (vec![1, 2], key.clone(), 9));
        }
    }
}

#[test]
fn new_passkey_of_another_form_is_refused() {
    let key = es256_key();
    let good = authenticator_data(0x45, &key, b"");
    for length in 0..good.len() {
        let cut = good.get(..length).unwrap();
        assert!(NewCredential::parse(&site(), cut).is_err(), "{length} bytes");
    }
    let mut without_id = good.clone();
    without_id.splice(53..57, [0, 0]);
    let mut of_p384 = key.clone();
    of_p384[6] = 2;
    let other_site = RelyingParty::from_url("https://other.example").unwrap();
    for (case, data) in [
        ("not present", authenticator_data(0x44, &key, b"")),
        ("not verified", authenticator_data(0x41, &key, b"")),
        ("no credential", authenticator_data(0x05, &key, b"")),
        ("unannounced end", authenticator_data(0x45, &key, b"\xa0")),
        ("no extensions", authenticator_data(0xc5, &key, b"")),
        ("no id", without_id),
        ("another curve", authenticator_data(0x45, &of_p384, b"")),
    ] {
        assert!(NewCredential::parse(&site(), &data).is_err(), "{case}");
    }
    assert!(NewCredential::parse(&other_site, &good).is_err());
    assert!(NewCredential::parse(&site(), &good).is_ok());
}

#[test]
fn signature_of_an_rsa_key_is_verified() {
    let (modulus, signature) = (decode_base64url(RSA_MODULUS), decode_base64url(RSA_SIGNATURE));
    let key = [RS256_START, &modulus, RS256_END].concat();
    let (key, rest) = CredentialKey::parse(&key).unwrap();
    assert!(rest.is_empty());
    assert_eq!(key.verify(b"a message", &signature), Ok(()));
    assert!(key.verify(b"A message", &signature).is_err());
    assert!(key.verify(b"a message", signature.get(1..).unwrap()).is_err());
}
