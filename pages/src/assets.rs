//! The stylesheet, the logo and the script, each under a path with a content hash.

/// Served at [`STYLE_PATH`] as `text/css; charset=utf-8`, cacheable forever.
pub const STYLE: &str = concat!(
    include_str!("../style/ground.css"),
    include_str!("../style/frame.css"),
    include_str!("../style/forms.css"),
    include_str!("../style/pieces.css"),
    include_str!("../style/pages.css"),
    include_str!("../style/manager.css"),
    include_str!("../style/console_pages.css"),
    include_str!("../style/members.css"),
);

pub const STYLE_PATH: &str = asset_path(&STYLE_NAME);

/// Served at [`MARK_PATH`] as `image/svg+xml`, cacheable forever.
pub const MARK: &str = include_str!("../style/mark.svg");

pub const MARK_PATH: &str = asset_path(&MARK_NAME);

/// Script of [`crate::LiveStreamPage`], served at [`SCRIPT_PATH`] as `text/javascript; charset=utf-8`, cacheable
/// forever.
pub const SCRIPT: &str = include_str!("../style/live.js");

/// Script of the console's pages, served at [`CONSOLE_SCRIPT_PATH`] as [`SCRIPT`] is.
pub const CONSOLE_SCRIPT: &str = include_str!("../style/console.js");

/// Script of [`crate::members::HomePage`], served at [`HOME_SCRIPT_PATH`] as [`SCRIPT`] is.
pub const HOME_SCRIPT: &str = include_str!("../style/home.js");

/// Script of [`crate::members::MessageThreadPage`], served at [`CONVERSATION_SCRIPT_PATH`] as [`SCRIPT`] is.
pub const CONVERSATION_SCRIPT: &str = include_str!("../style/conversation.js");

/// Script of the pages with passkeys, served at [`PASSKEY_SCRIPT_PATH`] as [`SCRIPT`] is.
pub const PASSKEY_SCRIPT: &str = include_str!("../style/passkeys.js");

/// Script that advertisers' sites embed, as `text/javascript; charset=utf-8`.
pub const TAG_SCRIPT: &str = include_str!("../style/tag.js");

pub const SCRIPT_PATH: &str = asset_path(&SCRIPT_NAME);

pub const CONSOLE_SCRIPT_PATH: &str = asset_path(&CONSOLE_SCRIPT_NAME);

pub const HOME_SCRIPT_PATH: &str = asset_path(&HOME_SCRIPT_NAME);

pub const CONVERSATION_SCRIPT_PATH: &str = asset_path(&CONVERSATION_SCRIPT_NAME);

pub const PASSKEY_SCRIPT_PATH: &str = asset_path(&PASSKEY_SCRIPT_NAME);

const SCRIPT_NAME: [u8; 30] = hashed_file_name(*b"/assets/0000000000000000.js   ", SCRIPT);
const CONSOLE_SCRIPT_NAME: [u8; 30] = hashed_file_name(*b"/assets/0000000000000000.js   ", CONSOLE_SCRIPT);
const HOME_SCRIPT_NAME: [u8; 30] = hashed_file_name(*b"/assets/0000000000000000.js   ", HOME_SCRIPT);
const CONVERSATION_SCRIPT_NAME: [u8; 30] = hashed_file_name(*b"/assets/0000000000000000.js   ", CONVERSATION_SCRIPT);
const PASSKEY_SCRIPT_NAME: [u8; 30] = hashed_file_name(*b"/assets/0000000000000000.js   ", PASSKEY_SCRIPT);
const STYLE_NAME: [u8; 30] = hashed_file_name(*b"/assets/0000000000000000.css  ", STYLE);
const MARK_NAME: [u8; 30] = hashed_file_name(*b"/assets/0000000000000000.svg  ", MARK);

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

const fn asset_path(name: &'static [u8; 30]) -> &'static str {
    match std::str::from_utf8(name.trim_ascii_end()) {
        Ok(text) => text,
        Err(_) => "/assets/unnamed",
    }
}
