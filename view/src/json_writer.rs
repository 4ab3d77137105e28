//! Writes JSON directly into a string.

use std::fmt::Write as _;

use base::{Time, Vocabulary, VocabularyWord};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct RenderOptions {
    pub vocabulary: Vocabulary,
    /// Whether metrics whose names differ are rendered under both names, because the client's vocabulary is
    /// unknown.
    pub both_metric_names: bool,
    /// Whether the client rejects what its models do not have, which come from the newer document (an official SDK).
    pub newer_models: bool,
}

#[derive(Debug)]
pub(crate) struct JsonWriter {
    text: String,
    options: RenderOptions,
}

impl JsonWriter {
    pub(crate) fn new(options: RenderOptions, capacity: usize) -> Self {
        let text = String::with_capacity(capacity);
        Self { text, options }
    }

    pub(crate) const fn vocabulary(&self) -> Vocabulary {
        self.options.vocabulary
    }

    pub(crate) const fn has_newer_models(&self) -> bool {
        self.options.newer_models
    }

    pub(crate) fn finish(self) -> String {
        self.text
    }

    pub(crate) fn write_object(&mut self, inside: impl FnOnce(&mut Self)) {
        self.text.push('{');
        inside(self);
        self.text.push('}');
    }

    pub(crate) fn write_array<T>(&mut self, items: impl IntoIterator<Item = T>, mut each: impl FnMut(&mut Self, T)) {
        self.text.push('[');
        for item in items {
            self.write_separator();
            each(self, item);
        }
        self.text.push(']');
    }

    /// Writes a member with a name that is not ours.
    pub(crate) fn write_text_member(&mut self, name: &str, value: impl FnOnce(&mut Self)) {
        self.write_separator();
        self.write_text(name);
        self.text.push(':');
        value(self);
    }

    /// Writes a member, or nothing if `value` writes nothing.
    pub(crate) fn write_member(&mut self, name: VocabularyWord, value: impl FnOnce(&mut Self)) {
        let before = self.text.len();
        self.write_separator();
        self.text.push('"');
        self.text.push_str(name.name_in(self.options.vocabulary));
        self.text.push_str("\":");
        let empty = self.text.len();
        value(self);
        if self.text.len() == empty {
            self.text.truncate(before);
        }
    }

    /// Writes a member whose name is the same in both vocabularies.
    pub(crate) fn write_plain_member(&mut self, name: &'static str, value: impl FnOnce(&mut Self)) {
        self.write_member(VocabularyWord::same_in_both(name), value);
    }

    /// Writes a metric; under both names if the vocabulary is unknown.
    pub(crate) fn write_count(&mut self, name: VocabularyWord, count: i64) {
        self.write_member(name, |out| out.write_int(count));
        if self.options.both_metric_names && name.post != name.tweet {
            let other = match self.options.vocabulary {
                Vocabulary::Post => name.tweet,
                Vocabulary::Tweet => name.post,
            };
            self.write_member(VocabularyWord::same_in_both(other), |out| out.write_int(count));
        }
    }

    /// Writes a comma unless an object or array has just begun.
    #[inline]
    pub(crate) fn write_separator(&mut self) {
        // No complete value ends like this: strings end with a quotation mark.
        if !matches!(self.text.as_bytes().last(), None | Some(b'{' | b'[')) {
            self.text.push(',');
        }
    }

    /// Writes a string, or nothing if it is empty.
    pub(crate) fn write_nonempty_text(&mut self, text: &str) {
        if !text.is_empty() {
            self.write_text(text);
        }
    }

    /// Writes a string with `&`, `<` and `>` as entities, even if it is empty.
    pub(crate) fn write_html_escaped(&mut self, text: &str) {
        self.text.push('"');
        self.push_escaped(text, true);
        self.text.push('"');
    }

    /// Writes a string, even if it is empty.
    pub(crate) fn write_text(&mut self, text: &str) {
        self.text.push('"');
        self.push_escaped(text, false);
        self.text.push('"');
    }

    fn push_escaped(&mut self, text: &str, html: bool) {
        let mut rest = text;
        while let Some((plain, tail)) = special_position(rest.as_bytes(), html).and_then(|at| rest.split_at_checked(at))
        {
            self.text.push_str(plain);
            let mut letters = tail.chars();
            if let Some(letter) = letters.next() {
                self.push_escape_sequence(letter);
            }
            rest = letters.as_str();
        }
        self.text.push_str(rest);
    }

    fn push_escape_sequence(&mut self, letter: char) {
        match letter {
            '"' => self.text.push_str("\\\""),
            '\\' => self.text.push_str("\\\\"),
            '\n' => self.text.push_str("\\n"),
            '\r' => self.text.push_str("\\r"),
            '\t' => self.text.push_str("\\t"),
            '\u{8}' => self.text.push_str("\\b"),
            '\u{c}' => self.text.push_str("\\f"),
            '&' => self.text.push_str("&amp;"),
            '<' => self.text.push_str("&lt;"),
            '>' => self.text.push_str("&gt;"),
            // Writing to a string cannot fail.
            other => {
                let _ = write!(self.text, "\\u{:04x}", u32::from(other));
            }
        }
    }

    /// Writes a value, or nothing if there is none.
    pub(crate) fn write_option<T>(&mut self, value: Option<T>, write: impl FnOnce(&mut Self, T)) {
        if let Some(value) = value {
            write(self, value);
        }
    }

    pub(crate) fn write_int(&mut self, value: i64) {
        self.text.push_str(itoa::Buffer::new().format(value));
    }

    /// Writes a count that the newer document types as a string, and the older one as an integer.
    pub(crate) fn write_count_text(&mut self, count: i64) {
        if self.options.vocabulary == Vocabulary::Post || self.options.newer_models {
            self.write_id(count);
        } else {
            self.write_int(count);
        }
    }

    /// Writes an id as a string, so that clients lose no digits.
    #[inline]
    pub(crate) fn write_id(&mut self, id: i64) {
        self.text.push('"');
        self.write_int(id);
        self.text.push('"');
    }

    #[inline]
    pub(crate) fn write_bool(&mut self, value: bool) {
        self.text.push_str(if value { "true" } else { "false" });
    }

    pub(crate) fn write_time(&mut self, time: Time) {
        self.text.push('"');
        time.write_iso(&mut self.text);
        self.text.push('"');
    }

    /// Writes stored JSON, or nothing if it is empty.
    pub(crate) fn write_raw(&mut self, json: &str) {
        if json != "{}" && json != "[]" {
            self.text.push_str(json);
        }
    }
}

/// The position of the first byte that must be escaped.
fn special_position(bytes: &[u8], html: bool) -> Option<usize> {
    // Numbers instead of branches, so that the compiler compares the bytes of a chunk at once.
    let equals = |byte: u8, letters: &[u8]| letters.iter().fold(0, |found, letter| found | u8::from(byte == *letter));
    let special = |byte: u8| u8::from(byte < 0x20) | equals(byte, b"\"\\") | (u8::from(html) & equals(byte, b"&<>"));
    let (chunks, _) = bytes.as_chunks::<16>();
    let is_plain = |chunk: &&[u8; 16]| chunk.iter().fold(0, |found, byte| found | special(*byte)) == 0;
    let start = chunks.iter().take_while(is_plain).count() * 16;
    let found = bytes.get(start..)?.iter().position(|byte| special(*byte) != 0)?;
    Some(start + found)
}
