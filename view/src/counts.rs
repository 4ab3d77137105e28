//! How many posts a search finds, span by span.

use base::{Time, VocabularyWord};

use crate::json_writer::JsonWriter;
use crate::{RenderOptions, ResponsePayload};

/// The posts of a span of time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CountBucket {
    /// When it begins.
    pub start: Time,
    /// When it ends.
    pub end: Time,
    /// How many there are.
    pub posts: i64,
}

/// Counts in their order; whatever is asked for, they come whole.
pub fn render_counts(page: &[CountBucket], options: RenderOptions) -> ResponsePayload {
    const POSTS: VocabularyWord = VocabularyWord::new("post_count", "tweet_count");
    let mut out = JsonWriter::new(options, page.len() * 100);
    out.write_array(page, |out, count| {
        out.write_object(|out| {
            out.write_member(VocabularyWord::same_in_both("end"), |out| out.write_time(count.end));
            out.write_member(VocabularyWord::same_in_both("start"), |out| out.write_time(count.start));
            out.write_count(POSTS, count.posts);
        });
    });
    ResponsePayload {
        data: out.finish(),
        count: page.len(),
        ..ResponsePayload::default()
    }
}
