//! Cursor pagination: page requests, slices of rows and encrypted page tokens.

use base::Refusal;
use base::cursor::CursorCodec;
use serde_json::{Map, Value, json};
use sha2::Sha256;

const MAX_SORT_KEYS: usize = 3;
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
        Some(Self { values, length: keys.len() })
    }
}

impl From<i64> for SortKeys {
    fn from(key: i64) -> Self {
        Self { values: [key, 0, 0], length: 1 }
    }
}

impl From<(i64, i64)> for SortKeys {
    fn from((first, second): (i64, i64)) -> Self {
        Self { values: [first, second, 0], length: 2 }
    }
}

impl From<[i64; MAX_SORT_KEYS]> for SortKeys {
    fn from(values: [i64; MAX_SORT_KEYS]) -> Self {
        Self { values, length: MAX_SORT_KEYS }
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
    /// The row before the page in its direction, excluded; none for the first page, and backwards for the last one.
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
    /// Refuses a token that was issued for another scope. `token` is the parameter's name and value.
    pub fn parse(
        codec: &CursorCodec,
        scope: &PageTokenScope,
        limit: usize,
        token: Option<(&str, &str)>,
    ) -> Result<Self, Refusal> {
        let scope = scope.digest();
        let (direction, after) = match token {
            None => (PageDirection::Next, None),
            Some((parameter, text)) => {
                let position = codec.decode(&scope, text);
                let (direction, keys) = position
                    .and_then(|position| decode_position(&position))
                    .ok_or_else(|| Refusal::invalid_value(parameter.to_owned(), text))?;
                (direction, Some(keys).filter(|keys| keys.length > 0))
            }
        };
        Ok(Self { limit, direction, after, codec: codec.clone(), scope })
    }

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
        self.codec.encode(&self.scope, &encode_position(direction, keys.into()))
    }

    /// The rows that the token's page had may be gone: the way back begins at the end of the collection.
    pub fn tokens_of_empty_page(&self) -> PageTokens {
        let back = |direction| self.after.map(|_| self.page_token(direction, SortKeys::default()));
        match self.direction {
            PageDirection::Next => PageTokens { previous: back(PageDirection::Previous), next: None },
            PageDirection::Previous => PageTokens { next: back(PageDirection::Next), previous: None },
        }
    }

    /// Cuts the page out of rows fetched with [`Self::fetch_limit`], in the collection's order. The surplus row is
    /// the last, or the first if [`Self::is_backward`].
    pub fn slice_rows<T, K: Into<SortKeys>>(&self, mut rows: Vec<T>, keys: impl Fn(&T) -> K) -> PageSlice<T> {
        if rows.is_empty() {
            return PageSlice { rows, tokens: self.tokens_of_empty_page() };
        }
        let extra = rows.len().saturating_sub(self.limit);
        let more = extra > 0;
        if self.is_backward() {
            rows.drain(..extra);
        } else {
            rows.truncate(self.limit);
        }
        let (has_next, has_previous) = match self.direction {
            PageDirection::Next => (more, self.after.is_some()),
            PageDirection::Previous => (self.after.is_some(), more),
        };
        let token = |row: Option<&T>, direction| row.map(|row| self.page_token(direction, keys(row)));
        let next = if has_next { token(rows.last(), PageDirection::Next) } else { None };
        let previous = if has_previous { token(rows.first(), PageDirection::Previous) } else { None };
        PageSlice { rows, tokens: PageTokens { next, previous } }
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

fn encode_position(direction: PageDirection, keys: SortKeys) -> Vec<u8> {
    let backward = if direction == PageDirection::Previous { BACKWARD_FLAG } else { 0 };
    let mut position = Vec::with_capacity(1 + 8 * MAX_SORT_KEYS);
    position.push(VERSION | backward);
    for key in keys.as_slice() {
        position.extend_from_slice(&key.to_be_bytes());
    }
    position
}

fn decode_position(position: &[u8]) -> Option<(PageDirection, SortKeys)> {
    let (head, keys) = position.split_first()?;
    if head & !BACKWARD_FLAG != VERSION || keys.len() % 8 != 0 {
        return None;
    }
    let keys = keys.as_chunks::<8>().0.iter().map(|key| i64::from_be_bytes(*key));
    let keys = SortKeys::from_slice(&keys.collect::<Vec<_>>())?;
    let direction = if head & BACKWARD_FLAG == 0 { PageDirection::Next } else { PageDirection::Previous };
    Some((direction, keys))
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
