//! Pages that show what a post looks like, to whoever knows their address, for a while (contract
//! §4.11, §8.4). The address is signed and says all about itself: nothing is stored.

use base::{AppId, Error, Time, UserId};
use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use hmac::{Hmac, KeyInit, Mac};
use serde_json::{Value, json};
use sha2::Sha256;
use store::Tx;
use store::posts::Post;

use crate::desk::Desk;
use crate::request::CONSOLE;
use crate::resources::posts::{self, Seen, TYPES};
use crate::resources::{accounts, promotable_users};

/// A quarter of an hour.
pub const QUARTER: i64 = 15 * 60 * 1000;
/// As long as a notification leads somewhere.
pub const DAY: i64 = 24 * 60 * 60 * 1000;

/// What an address of such a page says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Preview {
    /// `DRAFT`, `PUBLISHED` or `SCHEDULED`.
    pub kind: &'static str,
    /// The post, or what it will be made of.
    pub id: i64,
    /// Whose it is.
    pub account: i64,
    /// The app that asked: its own pages may frame the page.
    pub app: Option<AppId>,
    /// When it ends.
    pub until: Time,
}

impl Preview {
    /// One of a post of the account.
    pub fn of(desk: &Desk<'_, '_>, kind: &str, id: i64, lasts: i64) -> Result<Self, Error> {
        let known = TYPES.iter().copied().find(|known| *known == kind);
        Ok(Self {
            kind: known.unwrap_or("PUBLISHED"),
            id,
            account: desk.account_id()?,
            app: desk.caller.app.filter(|app| *app != CONSOLE),
            until: desk.now().plus_ms(lasts),
        })
    }

    /// The path of the page.
    pub fn path(&self, key: &[u8; 32]) -> String {
        let body = json!([
            self.kind,
            self.id,
            self.account,
            self.app.map(AppId::get),
            self.until.ms(),
        ]);
        let body = BASE64_URL_SAFE_NO_PAD.encode(body.to_string());
        let tag = mac(key, &body).map(|mac| mac.finalize().into_bytes().to_vec());
        let tag = BASE64_URL_SAFE_NO_PAD.encode(tag.unwrap_or_default());
        format!("/preview/{}?t={body}.{tag}", self.id)
    }

    /// Reads the token of an address that was written here and has not ended.
    pub fn open(key: &[u8; 32], id: i64, token: &str, now: Time) -> Option<Self> {
        let (body, tag) = token.split_once('.')?;
        let tag = BASE64_URL_SAFE_NO_PAD.decode(tag).ok()?;
        mac(key, body)?.verify_slice(&tag).ok()?;
        let bytes = BASE64_URL_SAFE_NO_PAD.decode(body).ok()?;
        let parts: Vec<Value> = serde_json::from_slice(&bytes).ok()?;
        let number = |place: usize| parts.get(place).and_then(Value::as_i64);
        let kind = parts.first()?.as_str()?;
        let one = Self {
            kind: TYPES.iter().copied().find(|known| *known == kind)?,
            id: number(1)?,
            account: number(2)?,
            app: number(3).map(AppId::new),
            until: Time::from_ms(number(4)?),
        };
        (one.id == id && now < one.until).then_some(one)
    }

    /// What it shows; none where that is gone.
    pub fn find(&self, tx: &mut Tx<'_>) -> Result<Option<Looks>, Error> {
        let account = accounts::find(tx, self.account)?;
        let Some(account) = account.filter(|account| !account.deleted) else {
            return Ok(None);
        };
        let mut desk = Desk::of_operator(tx, UserId::new(0), account);
        let Some(seen) = posts::of_ids(&mut desk, self.kind, &[self.id])?.pop() else {
            return Ok(None);
        };
        let choices = choices(&mut desk, &seen)?;
        let text = |name: &str| {
            let said = seen.said.as_ref()?;
            said.of.field(name)?;
            Some(said.text(name)).filter(|text| !text.is_empty())
        };
        let calls = match text("video_cta") {
            Some("WATCH_NOW") => "Watch now",
            _ => "Visit site",
        };
        let link = text("video_cta_value").map(|url| (calls.to_owned(), url.to_owned()));
        // What others wrote is seen as the account's own user sees it.
        let viewer = promotable_users::full(&mut desk)?.unwrap_or(seen.post.author_id);
        let post = seen.post;
        Ok(Some(Looks {
            post,
            viewer,
            choices,
            link,
        }))
    }
}

/// What a post looks like, beside what every post says.
#[derive(Clone, Debug)]
pub struct Looks {
    /// The post.
    pub post: Post,
    /// As whom it is looked at.
    pub viewer: UserId,
    /// What the poll of its card lets choose from.
    pub choices: Vec<String>,
    /// What its video calls to: words and address.
    pub link: Option<(String, String)>,
}

fn choices(desk: &mut Desk<'_, '_>, seen: &Seen) -> Result<Vec<String>, Error> {
    let id = seen.post.card_uri.strip_prefix("card://");
    let poll = match id.and_then(|id| id.parse().ok()) {
        Some(id) => store::polls::find_standalone(desk.tx, id)?,
        None => None,
    };
    let options = poll.map(|poll| poll.options).unwrap_or_default();
    Ok(options.into_iter().map(|option| option.label).collect())
}

fn mac(key: &[u8; 32], body: &str) -> Option<Hmac<Sha256>> {
    let mut mac = Hmac::<Sha256>::new_from_slice(key).ok()?;
    mac.update(b"ads preview");
    mac.update(body.as_bytes());
    Some(mac)
}

#[cfg(test)]
mod tests {
    use base::{AppId, Time};

    use super::Preview;

    #[test]
    fn an_address_is_read_as_it_was_written_and_not_otherwise() {
        let one = Preview {
            kind: "DRAFT",
            id: 1 << 60,
            account: 7,
            app: Some(AppId::new(8)),
            until: Time::from_ms(100),
        };
        let key = [7; 32];
        let path = one.path(&key);
        let token = path.split_once("?t=").unwrap().1;
        let before = Time::from_ms(99);
        let open = |key, id, token: &str, now| Preview::open(key, id, token, now);
        assert_eq!(open(&key, 1 << 60, token, before), Some(one));
        assert_eq!(open(&key, 1 << 60, token, Time::from_ms(100)), None);
        assert_eq!(open(&key, 1, token, before), None);
        assert_eq!(open(&[8; 32], 1 << 60, token, before), None);
        for place in 0..token.len() {
            let mut other = token.as_bytes().to_vec();
            other[place] = if other[place] == b'A' { b'B' } else { b'A' };
            let other = String::from_utf8(other).unwrap();
            assert_eq!(open(&key, 1 << 60, &other, before), None, "{other}");
        }
        for token in ["", ".", "x.y", "é.é"] {
            assert_eq!(open(&key, 1 << 60, token, before), None, "{token}");
        }
    }
}
