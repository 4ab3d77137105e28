//! Pages of a collection: how many, which way, from where; and the tokens that say so.

use base::{Fault, Refusal};
use hmac::{Hmac, KeyInit, Mac};
use serde_json::{Map, Value, json};
use sha2::Sha256;

/// At most so many numbers place a row in its order.
const MOST_KEYS: usize = 3;
const TAG: usize = 12;
const VERSION: u8 = 1;
const BACKWARD: u8 = 0x80;
const ALPHABET: &[u8; 32] = b"0123456789abcdefghijklmnopqrstuv";

/// Which way a walk goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// Further along the order.
    Next,
    /// Back towards the beginning.
    Previous,
}

/// What places a row in its collection's order: a sort key, then what breaks ties.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Keys {
    values: [i64; MOST_KEYS],
    length: usize,
}

impl Keys {
    /// The keys in their order.
    pub fn as_slice(&self) -> &[i64] {
        self.values.get(..self.length).unwrap_or_default()
    }

    /// The first key.
    pub const fn first(&self) -> i64 {
        let [first, ..] = self.values;
        first
    }

    /// The first two keys; zero where there is no second.
    pub const fn pair(&self) -> (i64, i64) {
        let [first, second, ..] = self.values;
        (first, second)
    }

    fn from_slice(keys: &[i64]) -> Option<Self> {
        let mut values = [0; MOST_KEYS];
        values.get_mut(..keys.len())?.copy_from_slice(keys);
        Some(Self { values, length: keys.len() })
    }
}

impl From<i64> for Keys {
    fn from(key: i64) -> Self {
        Self { values: [key, 0, 0], length: 1 }
    }
}

impl From<(i64, i64)> for Keys {
    fn from((first, second): (i64, i64)) -> Self {
        Self { values: [first, second, 0], length: 2 }
    }
}

impl From<[i64; MOST_KEYS]> for Keys {
    fn from(values: [i64; MOST_KEYS]) -> Self {
        Self { values, length: MOST_KEYS }
    }
}

impl<K> From<base::Id<K>> for Keys {
    fn from(id: base::Id<K>) -> Self {
        id.get().into()
    }
}

/// The page that a request asks for.
#[derive(Clone)]
pub struct Page {
    /// How many rows it holds at most.
    pub limit: usize,
    /// Which way it lies from `after`.
    pub direction: Direction,
    /// The row that it begins behind; none for the first page.
    pub after: Option<Keys>,
    sealer: Sealer,
    scope: [u8; 32],
}

/// A page's rows, in the collection's order, and the tokens of its neighbours.
#[derive(Clone, Debug)]
pub struct Cut<T> {
    /// The rows.
    pub rows: Vec<T>,
    /// Leads to the page behind, if there is one.
    pub next_token: Option<String>,
    /// Leads to the page before, if this is not the first.
    pub previous_token: Option<String>,
}

impl Page {
    /// How many rows to fetch: one more than the page holds, to know whether it is the last.
    pub fn fetch(&self) -> i64 {
        i64::try_from(self.limit).map_or(i64::MAX, |limit| limit.saturating_add(1))
    }

    /// Whether the rows before `after` are asked for, rather than those behind it.
    pub fn is_backward(&self) -> bool {
        self.direction == Direction::Previous
    }

    /// The bounds, both excluded, of a collection that is ordered by one falling key: only keys
    /// above the first and below the second. Where [`Page::is_backward`] the rows just above the
    /// first are meant.
    pub fn falling(&self) -> (i64, i64) {
        match (self.direction, self.after) {
            (_, None) => (0, i64::MAX),
            (Direction::Next, Some(keys)) => (0, keys.first()),
            (Direction::Previous, Some(keys)) => (keys.first(), i64::MAX),
        }
    }

    /// Cuts the page out of the rows fetched, which come in the collection's order. The one row
    /// too many is then the last, or the first where [`Page::is_backward`].
    pub fn cut<T, K: Into<Keys>>(&self, mut rows: Vec<T>, keys: impl Fn(&T) -> K) -> Cut<T> {
        let extra = rows.len().saturating_sub(self.limit);
        let more = extra > 0;
        if self.is_backward() {
            rows.drain(..extra);
        } else {
            rows.truncate(self.limit);
        }
        let (behind, before) = match self.direction {
            Direction::Next => (more, self.after.is_some()),
            Direction::Previous => (true, more),
        };
        let token = |row: Option<&T>, direction| {
            row.map(|row| self.sealer.seal(&self.scope, direction, keys(row).into()))
        };
        let next_token = if behind { token(rows.last(), Direction::Next) } else { None };
        let previous_token = if before { token(rows.first(), Direction::Previous) } else { None };
        Cut { rows, next_token, previous_token }
    }
}

impl<T> Cut<T> {
    /// The `meta` member: `result_count` and the tokens there are.
    pub fn meta(&self) -> Map<String, Value> {
        let mut meta = Map::new();
        meta.insert("result_count".to_owned(), json!(self.rows.len()));
        let tokens = [("next_token", &self.next_token), ("previous_token", &self.previous_token)];
        for (name, token) in tokens {
            if let Some(token) = token {
                meta.insert(name.to_owned(), json!(token));
            }
        }
        meta
    }

    /// The same page of what `f` makes of each row.
    pub fn map<U>(self, f: impl FnMut(T) -> U) -> Cut<U> {
        let Self { rows, next_token, previous_token } = self;
        Cut { rows: rows.into_iter().map(f).collect(), next_token, previous_token }
    }
}

/// Seals and opens page tokens. The tag is made over operation, filters, viewer and place, and
/// doubles as the nonce that hides the place.
#[derive(Clone)]
pub struct Sealer {
    tags: Hmac<Sha256>,
    pads: Hmac<Sha256>,
}

impl Sealer {
    /// A sealer with a key of its own.
    pub fn new(key: &[u8; 32]) -> Result<Self, Fault> {
        let make = |purpose: &[u8]| {
            let mut maker = keyed(key)?;
            maker.update(purpose);
            let derived: [u8; 32] = maker.finalize().into_bytes().into();
            keyed(&derived)
        };
        Ok(Self { tags: make(b"page tag")?, pads: make(b"page pad")? })
    }

    /// The page that a request asks for. `scope` is all that a token is bound to.
    pub fn page(
        &self,
        scope: &Scope,
        limit: usize,
        token: Option<(&str, &str)>,
    ) -> Result<Page, Refusal> {
        let scope = scope.digest();
        let (direction, after) = match token {
            None => (Direction::Next, None),
            Some((parameter, text)) => {
                let (direction, keys) = self
                    .open(&scope, text)
                    .ok_or_else(|| Refusal::not_valid(parameter.to_owned(), text))?;
                (direction, Some(keys))
            }
        };
        Ok(Page { limit, direction, after, sealer: self.clone(), scope })
    }

    fn seal(&self, scope: &[u8; 32], direction: Direction, keys: Keys) -> String {
        let mut plain = Vec::with_capacity(1 + 8 * MOST_KEYS);
        plain.push(VERSION | if direction == Direction::Previous { BACKWARD } else { 0 });
        for key in keys.as_slice() {
            plain.extend_from_slice(&key.to_be_bytes());
        }
        let tag = self.tag(scope, &plain);
        self.pad(&tag, &mut plain);
        encode(&[&tag[..], &plain].concat())
    }

    fn open(&self, scope: &[u8; 32], text: &str) -> Option<(Direction, Keys)> {
        let bytes = decode(text)?;
        let (tag, shut) = bytes.split_first_chunk::<TAG>()?;
        let mut plain = shut.to_vec();
        if plain.len() > 1 + 8 * MOST_KEYS {
            return None;
        }
        self.pad(tag, &mut plain);
        if !base::secret::same(&self.tag(scope, &plain), tag) {
            return None;
        }
        let (head, keys) = plain.split_first()?;
        if head & !BACKWARD != VERSION || keys.len() % 8 != 0 {
            return None;
        }
        let keys = keys.as_chunks::<8>().0.iter().map(|key| i64::from_be_bytes(*key));
        let keys = Keys::from_slice(&keys.collect::<Vec<_>>())?;
        let backward = head & BACKWARD != 0;
        Some((if backward { Direction::Previous } else { Direction::Next }, keys))
    }

    fn tag(&self, scope: &[u8; 32], plain: &[u8]) -> [u8; TAG] {
        let mut mac = self.tags.clone();
        mac.update(scope);
        mac.update(plain);
        let whole: [u8; 32] = mac.finalize().into_bytes().into();
        whole.first_chunk().copied().unwrap_or_default()
    }

    fn pad(&self, tag: &[u8; TAG], bytes: &mut [u8]) {
        let mut mac = self.pads.clone();
        mac.update(tag);
        let pad: [u8; 32] = mac.finalize().into_bytes().into();
        for (byte, pad) in bytes.iter_mut().zip(pad) {
            *byte ^= pad;
        }
    }
}

fn keyed(key: &[u8; 32]) -> Result<Hmac<Sha256>, Fault> {
    Hmac::<Sha256>::new_from_slice(key).map_err(Fault::when("keying the page tokens"))
}

/// What a token is bound to: operation, filters, viewer.
#[derive(Clone, Debug, Default)]
pub struct Scope(Vec<u8>);

impl Scope {
    /// Everything of one operation.
    pub fn of(operation: &str) -> Self {
        Self(Vec::with_capacity(96)).and(operation.as_bytes())
    }

    /// This scope, narrowed by one more fact.
    #[must_use]
    pub fn and(mut self, fact: impl AsRef<[u8]>) -> Self {
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

fn encode(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len() * 8 / 5 + 1);
    let (mut held, mut bits) = (0_u32, 0_u32);
    let mut push = |five: u32| {
        let place = usize::try_from(five & 31).unwrap_or(0);
        text.extend(ALPHABET.get(place).map(|letter| char::from(*letter)));
    };
    for byte in bytes {
        held = (held << 8 | u32::from(*byte)) & 0xfff;
        bits += 8;
        while bits >= 5 {
            bits -= 5;
            push(held >> bits);
        }
    }
    if bits > 0 {
        push(held << (5 - bits));
    }
    text
}

/// Reads only what [`encode`] writes: spare bits must be zero.
fn decode(text: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(text.len() * 5 / 8);
    let (mut held, mut bits) = (0_u32, 0_u32);
    for letter in text.bytes() {
        let five = match letter {
            b'0'..=b'9' => letter - b'0',
            b'a'..=b'v' => letter - b'a' + 10,
            _ => return None,
        };
        held = (held << 5 | u32::from(five)) & 0xfff;
        bits += 5;
        if bits >= 8 {
            bits -= 8;
            bytes.push(u8::try_from(held >> bits & 0xff).ok()?);
        }
    }
    let spare = held & ((1 << bits) - 1);
    (bits < 5 && spare == 0).then_some(bytes)
}

#[cfg(test)]
mod tests {
    use super::{Direction, Keys, Page, Scope, Sealer, decode, encode};

    fn sealer() -> Sealer {
        Sealer::new(&[7; 32]).unwrap()
    }

    fn scope(viewer: &str) -> Scope {
        Scope::of("usersFollowers").and("12").and(viewer)
    }

    fn page(token: Option<&str>) -> Page {
        let token = token.map(|token| ("pagination_token", token));
        sealer().page(&scope("me"), 3, token).unwrap()
    }

    fn fetch(all: &[i64], page: &Page) -> Vec<i64> {
        let (above, below) = page.falling();
        let mut rows: Vec<i64> = all.iter().copied().filter(|n| above < *n && *n < below).collect();
        let most = usize::try_from(page.fetch()).unwrap();
        if page.is_backward() {
            rows.drain(..rows.len().saturating_sub(most));
        } else {
            rows.truncate(most);
        }
        rows
    }

    #[test]
    fn a_walk_visits_every_row_once_there_and_back() {
        let all: Vec<i64> = (1..=10).rev().collect();
        let (mut seen, mut token, mut back) = (Vec::new(), None, None);
        loop {
            let page = page(token.as_deref());
            let cut = page.cut(fetch(&all, &page), |n| *n);
            assert_eq!(cut.previous_token.is_some(), !seen.is_empty());
            seen.extend_from_slice(&cut.rows);
            back = cut.previous_token.or(back);
            token = cut.next_token;
            if token.is_none() {
                break;
            }
        }
        assert_eq!(seen, all);
        let mut pages = Vec::new();
        while let Some(token) = back {
            let page = page(Some(&token));
            let cut = page.cut(fetch(&all, &page), |n| *n);
            assert!(cut.next_token.is_some());
            pages.push(cut.rows);
            back = cut.previous_token;
        }
        assert_eq!(pages, [vec![4, 3, 2], vec![7, 6, 5], vec![10, 9, 8]]);
    }

    #[test]
    fn a_changed_token_is_refused() {
        let token = page(None).cut(vec![9, 8, 7, 6], |n| *n).next_token.unwrap();
        assert!(token.len() >= 16);
        assert!(token.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'v').contains(&b)));
        for place in 0..token.len() {
            for letter in "0a9v".chars() {
                let mut other = token.clone();
                other.replace_range(place..=place, &letter.to_string());
                let read = sealer().page(&scope("me"), 3, Some(("pagination_token", &other)));
                assert_eq!(read.is_ok(), other == token, "{other}");
            }
            let cut = &token[..place];
            assert!(sealer().page(&scope("me"), 3, Some(("pagination_token", cut))).is_err());
        }
    }

    #[test]
    fn a_token_serves_only_its_own_walk() {
        let token = page(None).cut(vec![9, 8, 7, 6], |n| *n).next_token.unwrap();
        let token = Some(("next_token", token.as_str()));
        assert!(sealer().page(&scope("me"), 50, token).is_ok(), "another size is the same walk");
        assert!(sealer().page(&scope("you"), 3, token).is_err());
        assert!(sealer().page(&Scope::of("usersFollowing").and("12").and("me"), 3, token).is_err());
        let other = Sealer::new(&[8; 32]).unwrap();
        let refused = other.page(&scope("me"), 3, token).err().unwrap();
        assert!(format!("{refused:?}").contains("The `next_token` query parameter value ["));
    }

    #[test]
    fn what_is_encoded_is_read_back() {
        for length in 0..40_u8 {
            let bytes: Vec<u8> = (0..length).map(|n| n.wrapping_mul(37) ^ 0x5a).collect();
            assert_eq!(decode(&encode(&bytes)), Some(bytes));
        }
        assert_eq!(decode("01"), None, "spare bits");
        let keys = Keys::from((i64::MIN, i64::MAX));
        assert_eq!((keys.as_slice().len(), keys.pair()), (2, (i64::MIN, i64::MAX)));
    }
}
