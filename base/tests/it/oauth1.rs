//! OAuth 1.0a: published signatures, our own table of parameters, what is refused, and the
//! requests of another implementation.

mod parameters;
mod published;
mod refused;
mod signers;

use base::Secret;
use base::oauth1::{OAuth1Credentials, OAuth1Request, OAuth1Signer, RequestOrigin};

/// The published example's keys.
const CONSUMER_KEY: &str = "xvz1evFS4wEEPTGEFPHBog";
const CONSUMER_SECRET: &str = "kAcSOqF21Fu85e7zjz7ZN2U4ZRhfV3WpwPAoE3Z7kBw";
const TOKEN: &str = "370773112-GmHxMAgYyLbNEtIKZeRNFsMKPR9EyMZeS9weJAEb";
const TOKEN_SECRET: &str = "LswwdoUaIvS8ltyTt5jkRh4J50vUPVVHtR2YPi5kE";
const NONCE: &str = "kYjzVBB8Y0ZFabxSWbWovY3uYSQ2pTgmZeNu2VS4cg";

fn origin(text: &str) -> RequestOrigin {
    RequestOrigin::parse(text).unwrap()
}

fn read(request: &OAuth1Request<'_>) -> OAuth1Credentials {
    OAuth1Credentials::from_request(request).unwrap().expect("a signed request")
}

/// Whether a request holds with the example's secrets.
fn holds(request: &OAuth1Request<'_>, origin: &RequestOrigin) -> bool {
    let origins = std::slice::from_ref(origin);
    let token_secret = Secret::new(TOKEN_SECRET);
    let presented = OAuth1Credentials::from_request(request).ok().flatten();
    let holds =
        |presented: OAuth1Credentials| presented.verify(origins, &Secret::new(CONSUMER_SECRET), Some(&token_secret));
    presented.and_then(holds).is_some()
}

/// The header that signs a request with the example's keys.
fn sign(request: &OAuth1Request<'_>, origin: &RequestOrigin) -> String {
    let signer = OAuth1Signer {
        consumer_key: CONSUMER_KEY,
        consumer_secret: &Secret::new(CONSUMER_SECRET),
        token: Some((TOKEN, &Secret::new(TOKEN_SECRET))),
        nonce: NONCE,
        timestamp: 1_318_622_958,
        extra_parameters: &[],
    };
    signer.sign(request, origin).unwrap()
}
