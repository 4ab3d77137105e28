//! Signed preview pages of posts (contract ads §4.11, §8.4). The URL contains everything; nothing is stored.

use ads_engine::{AccountContext, CONSOLE_APP_ID};
use base::secret::{constant_time_eq, hmac_sha256};
use base::{AppId, Error, SiteLinks, Time, UserId};
use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use serde_json::{Value, json};
use store::Tx;
use store::posts::Post;

use crate::resources::posts::{self, POST_TYPES, PostWithAccountRecord};
use crate::resources::{accounts, promotable_users};

pub const QUARTER_HOUR_MS: i64 = 15 * 60 * 1000;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SignedPreview {
    /// `DRAFT`, `PUBLISHED` or `SCHEDULED`.
    pub kind: &'static str,
    /// The id of the post or composition.
    pub id: i64,
    pub account_id: i64,
    /// The app that requested the preview; its pages may frame the page.
    pub app_id: Option<AppId>,
    pub expires_at: Time,
}

impl SignedPreview {
    /// A preview of a post of the account that expires after `lasts` milliseconds.
    pub fn new(ctx: &AccountContext<'_, '_>, kind: &str, id: i64, lifetime_ms: i64) -> Result<Self, Error> {
        let known = POST_TYPES.iter().copied().find(|known| *known == kind);
        Ok(Self {
            kind: known.unwrap_or("PUBLISHED"),
            id,
            account_id: ctx.account_id()?,
            app_id: ctx.caller.app.filter(|app| *app != CONSOLE_APP_ID),
            expires_at: ctx.now().plus_ms(lifetime_ms),
        })
    }

    pub fn signed_path(&self, key: &[u8; 32]) -> String {
        let body = json!([self.kind, self.id, self.account_id, self.app_id.map(AppId::get), self.expires_at.ms(),]);
        let body = BASE64_URL_SAFE_NO_PAD.encode(body.to_string());
        let tag = BASE64_URL_SAFE_NO_PAD.encode(sign_body(key, &body));
        format!("/preview/{}?t={body}.{tag}", self.id)
    }

    /// Verifies a token; `None` if it is invalid or has expired.
    pub fn verify_token(key: &[u8; 32], id: i64, token: &str, now: Time) -> Option<Self> {
        let (body, tag) = token.split_once('.')?;
        let tag = BASE64_URL_SAFE_NO_PAD.decode(tag).ok()?;
        if !constant_time_eq(&sign_body(key, body), &tag) {
            return None;
        }
        let bytes = BASE64_URL_SAFE_NO_PAD.decode(body).ok()?;
        let parts: Vec<Value> = serde_json::from_slice(&bytes).ok()?;
        let number = |place: usize| parts.get(place).and_then(Value::as_i64);
        let kind = parts.first()?.as_str()?;
        let one = Self {
            kind: POST_TYPES.iter().copied().find(|known| *known == kind)?,
            id: number(1)?,
            account_id: number(2)?,
            app_id: number(3).map(AppId::new),
            expires_at: Time::from_ms(number(4)?),
        };
        (one.id == id && now < one.expires_at).then_some(one)
    }

    /// Loads the content; `None` if it no longer exists.
    pub fn load(&self, tx: &mut Tx<'_>, site: SiteLinks) -> Result<Option<PreviewContent>, Error> {
        let account = accounts::find(tx, self.account_id)?;
        let Some(account) = account.filter(|account| !account.deleted) else {
            return Ok(None);
        };
        let mut ctx = AccountContext::new_for_operator(tx, UserId::new(0), account);
        let Some(content) = posts::find_by_ids(&mut ctx, self.kind, &[self.id])?.pop() else {
            return Ok(None);
        };
        let choices = load_poll_choices(&mut ctx, &content)?;
        let text = |name: &str| {
            let account_record = content.account_record.as_ref()?;
            account_record.resource.field(name)?;
            Some(account_record.text(name)).filter(|text| !text.is_empty())
        };
        let calls = match text("video_cta") {
            Some("WATCH_NOW") => "Watch now",
            _ => "Visit site",
        };
        let link = text("video_cta_value").map(|url| (calls.to_owned(), url.to_owned()));
        // Posts by others are rendered as the account's own user sees them.
        let viewer = promotable_users::find_own_user(&mut ctx)?.unwrap_or(content.post.author_id);
        let site = content.site_links(site);
        let post = content.post;
        Ok(Some(PreviewContent { post, site, viewer, poll_choices: choices, call_to_action: link }))
    }
}

/// What the preview shows in addition to an ordinary post.
#[derive(Clone, Debug)]
pub struct PreviewContent {
    pub post: Post,
    /// Where the post links to.
    pub site: SiteLinks,
    /// The user whose view is rendered.
    pub viewer: UserId,
    pub poll_choices: Vec<String>,
    /// The label and URL of the video's call to action.
    pub call_to_action: Option<(String, String)>,
}

fn load_poll_choices(ctx: &mut AccountContext<'_, '_>, post: &PostWithAccountRecord) -> Result<Vec<String>, Error> {
    let id = post.post.card_uri.strip_prefix("card://");
    let poll = match id.and_then(|id| id.parse().ok()) {
        Some(id) => store::polls::find_standalone(ctx.tx, id)?,
        None => None,
    };
    let options = poll.map(|poll| poll.options).unwrap_or_default();
    Ok(options.into_iter().map(|option| option.label).collect())
}

fn sign_body(key: &[u8; 32], body: &str) -> [u8; 32] {
    hmac_sha256(key, &[b"ads preview", body.as_bytes()])
}

#[cfg(test)]
mod tests {
    use base::{AppId, Time};

    use super::SignedPreview;

    #[test]
    fn an_address_is_read_as_it_was_written_and_not_otherwise() {
        let one = SignedPreview {
            kind: "DRAFT",
            id: 1 << 60,
            account_id: 7,
            app_id: Some(AppId::new(8)),
            expires_at: Time::from_ms(100),
        };
        let key = [7; 32];
        let path = one.signed_path(&key);
        let token = path.split_once("?t=").unwrap().1;
        let before = Time::from_ms(99);
        let open = |key, id, token: &str, now| SignedPreview::verify_token(key, id, token, now);
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
