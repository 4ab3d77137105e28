//! The schema of the index, and the encoding of words.

use tantivy::Index;
use tantivy::schema::{FAST, Field, INDEXED, IndexRecordOption, Schema, TextFieldIndexing, TextOptions};
use tantivy::tokenizer::{Token, TokenStream, Tokenizer};

/// Incremented with every change of the schema, the encoding or the choice of posts; an index of another format is
/// rebuilt.
pub(crate) const FORMAT: u32 = 4;

#[derive(Clone, Copy, Debug)]
pub(crate) struct IndexFields {
    /// Words with positions: text, links, places and entities, distinguished by their hashes.
    pub(crate) words: Field,
    pub(crate) features: Field,
    pub(crate) id: Field,
    /// The post's time, in milliseconds since 1970.
    pub(crate) at: Field,
    pub(crate) author: Field,
    /// The bits of `is:` and `has:`, above them the language and whether the post is the first of
    /// its conversation.
    pub(crate) flags: Field,
}

/// The position of the language in `flags`: eight bits.
pub(crate) const LANGUAGE_SHIFT: u32 = 16;
/// The position in `flags` of the bit for the first post of a conversation.
pub(crate) const ROOT_SHIFT: u32 = 24;

pub(crate) fn build_schema() -> (Schema, IndexFields) {
    let mut builder = Schema::builder();
    let words = TextFieldIndexing::default()
        .set_tokenizer(WORDS_TOKENIZER)
        .set_fieldnorms(false)
        .set_index_option(IndexRecordOption::WithFreqsAndPositions);
    let fields = IndexFields {
        words: builder.add_text_field("words", TextOptions::default().set_indexing_options(words)),
        features: builder.add_u64_field("marks", INDEXED),
        id: builder.add_i64_field("id", INDEXED | FAST),
        at: builder.add_i64_field("at", FAST),
        author: builder.add_i64_field("author", FAST),
        flags: builder.add_u64_field("flags", FAST),
    };
    (builder.build(), fields)
}

pub(crate) fn register_tokenizer(index: &Index) {
    index.tokenizers().register(WORDS_TOKENIZER, HashedWordTokenizer::default());
}

const WORDS_TOKENIZER: &str = "hashed";
/// Characters of a word in the index: 48 bits of its hash, six per character.
const CHARS_PER_WORD: usize = 8;

/// Appends a word's hash as characters.
pub(crate) fn encode_word(word: u64, out: &mut String) {
    let mut rest = word;
    for _ in 0..CHARS_PER_WORD {
        // Any 64 characters would do; these start at `?`.
        let six_bits = u8::try_from(rest & 63).unwrap_or(0);
        out.push(char::from(b'?' + six_bits));
        rest >>= 6;
    }
}

/// Splits a run of encoded words.
#[derive(Clone, Default)]
struct HashedWordTokenizer {
    token: Token,
}

struct HashedWordStream<'a> {
    rest: &'a str,
    token: &'a mut Token,
}

impl Tokenizer for HashedWordTokenizer {
    type TokenStream<'a> = HashedWordStream<'a>;

    fn token_stream<'a>(&'a mut self, text: &'a str) -> HashedWordStream<'a> {
        self.token.reset();
        HashedWordStream { rest: text, token: &mut self.token }
    }
}

impl TokenStream for HashedWordStream<'_> {
    fn advance(&mut self) -> bool {
        self.token.position = self.token.position.wrapping_add(1);
        self.token.text.clear();
        match self.rest.split_at_checked(CHARS_PER_WORD) {
            Some((word, rest)) => {
                self.token.text.push_str(word);
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    fn token(&self) -> &Token {
        self.token
    }

    fn token_mut(&mut self) -> &mut Token {
        self.token
    }
}
