//! Short links: what each leads to is in its code, so that nothing is stored for them.

use std::fmt;

use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use siphasher::sip::SipHasher24;

use crate::PostId;

/// Bytes of the id and the number.
const BODY_LENGTH: usize = 10;
const CODE_BYTES: usize = BODY_LENGTH + 8;
/// Characters of a code.
pub const CODE_LENGTH: usize = 24;

/// The text that a short link is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkSource {
    Post(PostId),
    /// A message event.
    Message(i64),
}

/// The bit that no id has.
const MESSAGE_BIT: u64 = 1 << 63;

impl LinkSource {
    const fn to_number(self) -> u64 {
        match self {
            Self::Post(id) => id.get().cast_unsigned(),
            Self::Message(id) => id.cast_unsigned() | MESSAGE_BIT,
        }
    }

    const fn from_number(number: u64) -> Self {
        let id = (number & !MESSAGE_BIT).cast_signed();
        if number & MESSAGE_BIT == 0 { Self::Post(PostId::new(id)) } else { Self::Message(id) }
    }
}

/// What a short link leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ShortLinkTarget {
    /// The link with this number in the text, from 0.
    Link(u16),
    /// The page of the post itself, to which a truncated text links.
    Post,
}

impl ShortLinkTarget {
    /// `None` for a link that has no short link because its number is too high.
    pub fn from_position(position: usize) -> Option<Self> {
        u16::try_from(position).ok().filter(|number| *number < u16::MAX).map(Self::Link)
    }

    const fn number(self) -> u16 {
        match self {
            Self::Link(number) => number,
            Self::Post => u16::MAX,
        }
    }
}

/// Encodes short links. Codes contain a keyed digest, so that links of protected posts and of messages
/// cannot be guessed.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct ShortLinkCodec {
    key: [u8; 16],
}

impl ShortLinkCodec {
    /// All nodes share the key.
    pub fn new(key: &[u8; 32]) -> Self {
        let mut own = [0; 16];
        own.copy_from_slice(key.first_chunk::<16>().unwrap_or(&[0; 16]));
        Self { key: own }
    }

    /// A code of [`CODE_LENGTH`] letters, digits, `-` and `_`.
    pub fn encode(&self, source: LinkSource, target: ShortLinkTarget) -> String {
        let mut code = [0; CODE_BYTES];
        let (body, digest) = code.split_at_mut(BODY_LENGTH);
        let (id, number) = body.split_at_mut(8);
        id.copy_from_slice(&source.to_number().to_be_bytes());
        number.copy_from_slice(&target.number().to_be_bytes());
        digest.copy_from_slice(&self.digest(body));
        BASE64_URL_SAFE_NO_PAD.encode(code)
    }

    /// `None` unless this key made the code.
    pub fn decode(&self, code: &str) -> Option<(LinkSource, ShortLinkTarget)> {
        if code.len() != CODE_LENGTH {
            return None;
        }
        let bytes = BASE64_URL_SAFE_NO_PAD.decode(code).ok()?;
        let (body, digest) = bytes.split_at_checked(BODY_LENGTH)?;
        let is_ours: bool = subtle::ConstantTimeEq::ct_eq(digest, &self.digest(body)[..]).into();
        let (id, number) = body.split_first_chunk::<8>().filter(|_| is_ours)?;
        let target = match u16::from_be_bytes(*number.first_chunk::<2>()?) {
            u16::MAX => ShortLinkTarget::Post,
            number => ShortLinkTarget::Link(number),
        };
        Some((LinkSource::from_number(u64::from_be_bytes(*id)), target))
    }

    /// A pseudorandom function of 64 bits suffices: each guess costs a request.
    fn digest(&self, body: &[u8]) -> [u8; 8] {
        SipHasher24::new_with_key(&self.key).hash(body).to_be_bytes()
    }
}

impl fmt::Debug for ShortLinkCodec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ShortLinkCodec").finish_non_exhaustive()
    }
}

/// Where rendered objects link to on this server. The default renders no links to the server, and links as written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct SiteLinks {
    /// The base URL of the platform's own files and pages, without a trailing slash, or empty.
    pub url: &'static str,
    /// What precedes the paths of files and cards, whose requests carry no credentials; like `url`, and in a further
    /// world of a development server with a path that names the world.
    pub files_url: &'static str,
    /// What precedes the code of a short link.
    pub short_link_prefix: &'static str,
    /// `None` if links are rendered as written.
    pub codec: Option<&'static ShortLinkCodec>,
}

impl SiteLinks {
    /// A site without short links.
    pub const fn without_short_links(url: &'static str) -> Self {
        Self { url, files_url: url, short_link_prefix: "", codec: None }
    }

    /// The short link, if the site has them.
    pub fn short_link(&self, source: LinkSource, target: ShortLinkTarget) -> Option<String> {
        Some([self.short_link_prefix, &self.codec?.encode(source, target)].concat())
    }

    /// The page of a post.
    pub fn post_page(&self, post: PostId) -> String {
        format!("{}/i/web/status/{post}", self.url)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{CODE_LENGTH, LinkSource, ShortLinkCodec, ShortLinkTarget};
    use crate::PostId;

    #[test]
    fn a_changed_code_leads_nowhere() {
        let codec = ShortLinkCodec::new(&[7; 32]);
        let code = codec.encode(LinkSource::Post(PostId::new(1 << 60)), ShortLinkTarget::Link(2));
        for index in 0..code.len() {
            let mut changed = code.clone().into_bytes();
            changed[index] = if changed[index] == b'A' { b'B' } else { b'A' };
            assert_eq!(codec.decode(&String::from_utf8(changed).unwrap()), None, "{index}");
        }
        assert_eq!(ShortLinkCodec::new(&[8; 32]).decode(&code), None);
        let cut = code.get(1..).unwrap();
        for code in ["", "é", cut, &format!("{code}A"), &format!("{cut}=")] {
            assert_eq!(codec.decode(code), None, "{code}");
        }
    }

    #[test]
    fn only_so_many_links_have_short_links() {
        assert_eq!(ShortLinkTarget::from_position(65_534), Some(ShortLinkTarget::Link(65_534)));
        assert_eq!(ShortLinkTarget::from_position(65_535), None);
    }

    proptest! {
        #[test]
        fn a_code_says_what_was_encoded(id in 0..i64::MAX, number in 0..u16::MAX, key: [u8; 32]) {
            let codec = ShortLinkCodec::new(&key);
            for target in [ShortLinkTarget::Link(number), ShortLinkTarget::Post] {
                for source in [LinkSource::Post(PostId::new(id)), LinkSource::Message(id)] {
                    let code = codec.encode(source, target);
                    prop_assert_eq!(code.len(), CODE_LENGTH);
                    prop_assert_eq!(codec.decode(&code), Some((source, target)));
                }
            }
        }
    }
}
