//! The stylesheet, the logo and the scripts, each under a path with a content hash.

const CSS: &str = "text/css; charset=utf-8";
const SVG: &str = "image/svg+xml";
const JAVASCRIPT: &str = "text/javascript; charset=utf-8";

/// Cacheable forever.
pub struct Asset {
    /// Padded with spaces.
    path: [u8; 30],
    pub content_type: &'static str,
    pub text: &'static str,
}

pub static STYLE: Asset = Asset::new(
    *b"/assets/0000000000000000.css  ",
    CSS,
    concat!(
        include_str!("../style/ground.css"),
        include_str!("../style/frame.css"),
        include_str!("../style/forms.css"),
        include_str!("../style/pieces.css"),
        include_str!("../style/pages.css"),
        include_str!("../style/manager.css"),
        include_str!("../style/console_pages.css"),
        include_str!("../style/members.css"),
    ),
);
pub static MARK: Asset = Asset::new(*b"/assets/0000000000000000.svg  ", SVG, include_str!("../style/mark.svg"));
/// Script of [`crate::LiveStreamPage`].
pub static STREAM_SCRIPT: Asset = Asset::script(include_str!("../style/live.js"));
pub static CONSOLE_SCRIPT: Asset = Asset::script(include_str!("../style/console.js"));
/// Script of [`crate::members::HomePage`].
pub static HOME_SCRIPT: Asset =
    Asset::script(concat!(include_str!("../style/events.js"), include_str!("../style/home.js")));
/// Script of [`crate::members::MessageThreadPage`].
pub static CONVERSATION_SCRIPT: Asset =
    Asset::script(concat!(include_str!("../style/events.js"), include_str!("../style/conversation.js")));
pub static PASSKEY_SCRIPT: Asset = Asset::script(include_str!("../style/passkeys.js"));

static ASSETS: [&Asset; 7] =
    [&STYLE, &MARK, &STREAM_SCRIPT, &CONSOLE_SCRIPT, &HOME_SCRIPT, &CONVERSATION_SCRIPT, &PASSKEY_SCRIPT];

/// Script that advertisers' sites embed, as `text/javascript; charset=utf-8`.
pub const TAG_SCRIPT: &str = include_str!("../style/tag.js");

pub fn find_asset(path: &str) -> Option<&'static Asset> {
    ASSETS.into_iter().find(|asset| asset.path() == path)
}

impl Asset {
    /// The sixteen zeros in `path` become the digest of `text`.
    const fn new(path: [u8; 30], content_type: &'static str, text: &'static str) -> Self {
        Self { path: hashed_file_name(path, text), content_type, text }
    }

    const fn script(text: &'static str) -> Self {
        Self::new(*b"/assets/0000000000000000.js   ", JAVASCRIPT, text)
    }

    pub const fn path(&self) -> &str {
        match std::str::from_utf8(self.path.trim_ascii_end()) {
            Ok(text) => text,
            Err(_) => "/assets/unnamed",
        }
    }
}

/// Replaces the sixteen zeros in `name` with the digest of `content`.
const fn hashed_file_name(mut name: [u8; 30], content: &str) -> [u8; 30] {
    let mut digest = fnv1a_hash(content.as_bytes());
    if let Some((_, mut rest)) = name.split_first_chunk_mut::<8>() {
        let mut left = 16;
        while left > 0 {
            let Some((place, after)) = rest.split_first_mut() else {
                break;
            };
            digest = digest.rotate_left(4);
            let [.., low] = digest.to_be_bytes();
            *place = hex_digit(low & 15);
            rest = after;
            left -= 1;
        }
    }
    name
}

/// FNV-1a: only tells versions of our own files apart.
const fn fnv1a_hash(mut bytes: &[u8]) -> u64 {
    let mut sum: u64 = 0xcbf2_9ce4_8422_2325;
    while let [first, rest @ ..] = bytes {
        sum ^= u64::from_be_bytes([0, 0, 0, 0, 0, 0, 0, *first]);
        sum = sum.wrapping_mul(0x0000_0100_0000_01b3);
        bytes = rest;
    }
    sum
}

const fn hex_digit(digit: u8) -> u8 {
    if digit < 10 { b'0' + digit } else { b'a' + digit - 10 }
}
