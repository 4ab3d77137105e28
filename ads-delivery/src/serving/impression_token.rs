//! Signed impression tokens: given to serving clients with an ad and returned in reports. A token contains the
//! whole impression; nothing is stored until it is reported.

use base::Time;
use base::secret::{constant_time_eq, hmac_sha256};
use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use serde_json::{Value, json};
use store::ledger::{AdEntity, Placement, ViewerTraits};

/// How long an impression may be reported.
const VIEW_WINDOW_MS: i64 = 3_600_000;
/// How long engagements may be reported.
const ENGAGEMENT_WINDOW_MS: i64 = 86_400_000;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AdImpression {
    pub id: i64,
    pub line_item_id: i64,
    pub creative: AdEntity,
    /// The creative's id.
    pub creative_id: i64,
    /// The id of the promoted post or user; 0 if there is none.
    pub subject: i64,
    pub viewer: i64,
    pub placement: Placement,
    pub viewer_traits: ViewerTraits,
    /// The auction's price in micros of the account's currency.
    pub price: i64,
    pub requested_at: Time,
}

impl AdImpression {
    pub const fn viewable_until(&self) -> Time {
        self.requested_at.plus_ms(VIEW_WINDOW_MS)
    }

    pub const fn engageable_until(&self) -> Time {
        self.requested_at.plus_ms(ENGAGEMENT_WINDOW_MS)
    }

    pub fn encode(&self, key: &[u8; 32]) -> String {
        let traits = &self.viewer_traits;
        let body = json!([
            self.id,
            self.line_item_id,
            self.creative.to_number(),
            self.creative_id,
            self.subject,
            self.viewer,
            self.placement.to_number(),
            self.price,
            self.requested_at.ms(),
            traits.platform,
            traits.country,
            traits.metro,
            traits.age,
            traits.gender,
        ]);
        let body = BASE64_URL_SAFE_NO_PAD.encode(body.to_string());
        let tag = BASE64_URL_SAFE_NO_PAD.encode(sign_body(key, &body));
        format!("{body}.{tag}")
    }

    /// Decodes a token; `None` if it was not issued here.
    pub fn decode(key: &[u8; 32], token: &str) -> Option<Self> {
        let (body, tag) = token.split_once('.')?;
        let tag = BASE64_URL_SAFE_NO_PAD.decode(tag).ok()?;
        if !constant_time_eq(&sign_body(key, body), &tag) {
            return None;
        }
        let bytes = BASE64_URL_SAFE_NO_PAD.decode(body).ok()?;
        let parts: Vec<Value> = serde_json::from_slice(&bytes).ok()?;
        let number = |place: usize| parts.get(place).and_then(Value::as_i64);
        let text = |place: usize| {
            let text = parts.get(place).and_then(Value::as_str);
            text.unwrap_or_default().to_owned()
        };
        Some(Self {
            id: number(0)?,
            line_item_id: number(1)?,
            creative: AdEntity::from_number(number(2)?)?,
            creative_id: number(3)?,
            subject: number(4)?,
            viewer: number(5)?,
            placement: Placement::from_number(number(6)?)?,
            price: number(7)?,
            requested_at: Time::from_ms(number(8)?),
            viewer_traits: ViewerTraits {
                platform: number(9),
                country: text(10),
                metro: text(11),
                age: number(12),
                gender: number(13),
            },
        })
    }
}

fn sign_body(key: &[u8; 32], body: &str) -> [u8; 32] {
    hmac_sha256(key, &[b"ads impression", body.as_bytes()])
}

#[cfg(test)]
mod tests {
    use base::Time;
    use store::ledger::{AdEntity, Placement, ViewerTraits};

    use super::AdImpression;

    #[test]
    fn a_token_is_read_as_it_was_written_and_not_otherwise() {
        let one = AdImpression {
            id: 1 << 60,
            line_item_id: 7,
            creative: AdEntity::PromotedPost,
            creative_id: 8,
            subject: 9,
            viewer: -5,
            placement: Placement::Timeline,
            viewer_traits: ViewerTraits { country: "PT".to_owned(), age: Some(25), ..ViewerTraits::default() },
            price: 10_000,
            requested_at: Time::from_ms(5),
        };
        let key = [7; 32];
        let token = one.encode(&key);
        assert_eq!(AdImpression::decode(&key, &token), Some(one));
        assert_eq!(AdImpression::decode(&[8; 32], &token), None);
        let (body, tag) = token.split_once('.').unwrap();
        for text in ["", ".", body, &format!("{body}A.{tag}"), &format!("{body}.")] {
            assert_eq!(AdImpression::decode(&key, text), None, "{text}");
        }
    }
}
