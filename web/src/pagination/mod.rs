//! Cursor pagination: page requests, slices of rows and encrypted page tokens.

mod base32;

use base::{Fault, Refusal};
use hmac::{Hmac, KeyInit, Mac};
use serde_json::{Map, Value, json};
use sha2::Sha256;

const MAX_SORT_KEYS: usize = 3;
const TAG_LENGTH: usize = 12;
const VERSION: u8 = 1;
const BACKWARD_FLAG: u8 = 0x80;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PageDirection {
    Next,
    Previous,
}

/// A row's position in its collection: the sort key, then tie breakers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SortKeys {
    values: [i64; MAX_SORT_KEYS],
    length: usize,
}

impl SortKeys {
    pub fn as_slice(&self) -> &[i64] {
        self.values.get(..self.length).unwrap_or_default()
    }

    pub const fn first(&self) -> i64 {
        let [first, ..] = self.values;
        first
    }

    /// Zero where there is no second key.
    pub const fn first_two(&self) -> (i64, i64) {
        let [first, second, ..] = self.values;
        (first, second)
    }

    fn from_slice(keys: &[i64]) -> Option<Self> {
        let mut values = [0; MAX_SORT_KEYS];
        values.get_mut(..keys.len())?.copy_from_slice(keys);
        Some(Self {
            values,
            length: keys.len(),
        })
    }
}

impl From<i64> for SortKeys {
    fn from(key: i64) -> Self {
        Self {
            values: [key, 0, 0],
            length: 1,
        }
    }
}

impl From<(i64, i64)> for SortKeys {
    fn from((first, second): (i64, i64)) -> Self {
        Self {
            values: [first, second, 0],
            length: 2,
        }
    }
}

impl From<[i64; MAX_SORT_KEYS]> for SortKeys {
    fn from(values: [i64; MAX_SORT_KEYS]) -> Self {
        Self {
            values,
            length: MAX_SORT_KEYS,
        }
    }
}

impl<K> From<base::Id<K>> for SortKeys {
    fn from(id: base::Id<K>) -> Self {
        id.get().into()
    }
}

#[derive(Clone)]
pub struct PageRequest {
    pub limit: usize,
    pub direction: PageDirection,
    /// The row before the page in its direction, excluded; none for the first page.
    pub after: Option<SortKeys>,
    codec: CursorCodec,
    scope: [u8; 32],
}

#[derive(Clone, Debug)]
pub struct PageSlice<T> {
    /// In the collection's order.
    pub rows: Vec<T>,
    pub tokens: PageTokens,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PageTokens {
    pub next: Option<String>,
    pub previous: Option<String>,
}

impl PageRequest {
    /// One more than `limit`, to detect whether there are further rows.
    pub fn fetch_limit(&self) -> i64 {
        i64::try_from(self.limit).map_or(i64::MAX, |limit| limit.saturating_add(1))
    }

    pub fn is_backward(&self) -> bool {
        self.direction == PageDirection::Previous
    }

    /// The bounds, both excluded, of a collection ordered by one descending key. If [`Self::is_backward`], the page
    /// is the rows just above the lower bound.
    pub fn descending_bounds(&self) -> (i64, i64) {
        match (self.direction, self.after) {
            (_, None) => (0, i64::MAX),
            (PageDirection::Next, Some(keys)) => (0, keys.first()),
            (PageDirection::Previous, Some(keys)) => (keys.first(), i64::MAX),
        }
    }

    /// The token of the page next to a row with these keys.
    pub fn page_token(&self, direction: PageDirection, keys: impl Into<SortKeys>) -> String {
        self.codec.encode_token(&self.scope, direction, keys.into())
    }

    /// Cuts the page out of rows fetched with [`Self::fetch_limit`], in the collection's order. The surplus row is
    /// the last, or the first if [`Self::is_backward`].
    pub fn slice_rows<T, K: Into<SortKeys>>(&self, mut rows: Vec<T>, keys: impl Fn(&T) -> K) -> PageSlice<T> {
        let extra = rows.len().saturating_sub(self.limit);
        let more = extra > 0;
        if self.is_backward() {
            rows.drain(..extra);
        } else {
            rows.truncate(self.limit);
        }
        let (has_next, has_previous) = match self.direction {
            PageDirection::Next => (more, self.after.is_some()),
            PageDirection::Previous => (true, more),
        };
        let token = |row: Option<&T>, direction| {
            row.map(|row| self.codec.encode_token(&self.scope, direction, keys(row).into()))
        };
        let next = if has_next {
            token(rows.last(), PageDirection::Next)
        } else {
            None
        };
        let previous = if has_previous {
            token(rows.first(), PageDirection::Previous)
        } else {
            None
        };
        PageSlice {
            rows,
            tokens: PageTokens { next, previous },
        }
    }
}

impl PageTokens {
    /// The `meta` member: `result_count` and the tokens.
    pub fn to_meta(&self, count: usize) -> Map<String, Value> {
        let mut meta = Map::new();
        meta.insert("result_count".to_owned(), json!(count));
        for (name, token) in [("next_token", &self.next), ("previous_token", &self.previous)] {
            if let Some(token) = token {
                meta.insert(name.to_owned(), json!(token));
            }
        }
        meta
    }
}

/// Encrypts and authenticates page tokens. The tag covers operation, filters, viewer and position, and doubles as
/// the nonce.
#[derive(Clone)]
pub struct CursorCodec {
    tags: Hmac<Sha256>,
    pads: Hmac<Sha256>,
}

impl CursorCodec {
    pub fn new(key: &[u8; 32]) -> Result<Self, Fault> {
        let derive = |purpose: &[u8]| {
            let mut mac = new_hmac(key)?;
            mac.update(purpose);
            let derived: [u8; 32] = mac.finalize().into_bytes().into();
            new_hmac(&derived)
        };
        Ok(Self {
            tags: derive(b"page tag")?,
            pads: derive(b"page pad")?,
        })
    }

    /// Refuses a token that was issued for another scope.
    pub fn decode_page_request(
        &self,
        scope: &PageTokenScope,
        limit: usize,
        token: Option<(&str, &str)>,
    ) -> Result<PageRequest, Refusal> {
        let scope = scope.digest();
        let (direction, after) = match token {
            None => (PageDirection::Next, None),
            Some((parameter, text)) => {
                let (direction, keys) = self
                    .decode_token(&scope, text)
                    .ok_or_else(|| Refusal::invalid_value(parameter.to_owned(), text))?;
                (direction, Some(keys))
            }
        };
        Ok(PageRequest {
            limit,
            direction,
            after,
            codec: self.clone(),
            scope,
        })
    }

    fn encode_token(&self, scope: &[u8; 32], direction: PageDirection, keys: SortKeys) -> String {
        let mut plain = Vec::with_capacity(1 + 8 * MAX_SORT_KEYS);
        plain.push(
            VERSION
                | if direction == PageDirection::Previous {
                    BACKWARD_FLAG
                } else {
                    0
                },
        );
        for key in keys.as_slice() {
            plain.extend_from_slice(&key.to_be_bytes());
        }
        let tag = self.compute_tag(scope, &plain);
        self.apply_pad(&tag, &mut plain);
        base32::encode(&[&tag[..], &plain].concat())
    }

    fn decode_token(&self, scope: &[u8; 32], token: &str) -> Option<(PageDirection, SortKeys)> {
        let bytes = base32::decode(token)?;
        let (tag, ciphertext) = bytes.split_first_chunk::<TAG_LENGTH>()?;
        let mut plain = ciphertext.to_vec();
        if plain.len() > 1 + 8 * MAX_SORT_KEYS {
            return None;
        }
        self.apply_pad(tag, &mut plain);
        if !base::secret::constant_time_eq(&self.compute_tag(scope, &plain), tag) {
            return None;
        }
        let (head, keys) = plain.split_first()?;
        if head & !BACKWARD_FLAG != VERSION || keys.len() % 8 != 0 {
            return None;
        }
        let keys = keys.as_chunks::<8>().0.iter().map(|key| i64::from_be_bytes(*key));
        let keys = SortKeys::from_slice(&keys.collect::<Vec<_>>())?;
        let backward = head & BACKWARD_FLAG != 0;
        Some((
            if backward {
                PageDirection::Previous
            } else {
                PageDirection::Next
            },
            keys,
        ))
    }

    fn compute_tag(&self, scope: &[u8; 32], plain: &[u8]) -> [u8; TAG_LENGTH] {
        let mut mac = self.tags.clone();
        mac.update(scope);
        mac.update(plain);
        let whole: [u8; 32] = mac.finalize().into_bytes().into();
        whole.first_chunk().copied().unwrap_or_default()
    }

    fn apply_pad(&self, tag: &[u8; TAG_LENGTH], bytes: &mut [u8]) {
        let mut mac = self.pads.clone();
        mac.update(tag);
        let pad: [u8; 32] = mac.finalize().into_bytes().into();
        for (byte, pad) in bytes.iter_mut().zip(pad) {
            *byte ^= pad;
        }
    }
}

fn new_hmac(key: &[u8; 32]) -> Result<Hmac<Sha256>, Fault> {
    Hmac::<Sha256>::new_from_slice(key).map_err(Fault::context("keying the page tokens"))
}

/// What a token is bound to: operation, filters and viewer.
#[derive(Clone, Debug, Default)]
pub struct PageTokenScope(Vec<u8>);

impl PageTokenScope {
    pub fn new(operation: &str) -> Self {
        Self(Vec::with_capacity(96)).add_fact(operation.as_bytes())
    }

    #[must_use]
    pub fn add_fact(mut self, fact: impl AsRef<[u8]>) -> Self {
        let fact = fact.as_ref();
        // The length before each fact keeps `ab, c` apart from `a, bc`.
        let length = u64::try_from(fact.len()).unwrap_or(u64::MAX);
        self.0.extend_from_slice(&length.to_be_bytes());
        self.0.extend_from_slice(fact);
        self
    }

    fn digest(&self) -> [u8; 32] {
        use sha2::Digest;
        Sha256::digest(&self.0).into()
    }
}

#[cfg(test)]
mod tests;
