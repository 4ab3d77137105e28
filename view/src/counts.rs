//! Post counts by time bucket.

use base::{Time, VocabularyWord};

use crate::json_writer::JsonWriter;
use crate::{RenderOptions, ResponsePayload};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CountBucket {
    pub start: Time,
    pub end: Time,
    pub posts: i64,
}

/// Renders all fields of all buckets, in order.
pub fn render_counts(page: &[CountBucket], options: RenderOptions) -> ResponsePayload {
    const POSTS: VocabularyWord = VocabularyWord::new("post_count", "tweet_count");
    let mut out = JsonWriter::new(options, page.len() * 100);
    out.write_array(page, |out, count| {
        out.write_object(|out| {
            out.write_plain_member("end", |out| out.write_time(count.end));
            out.write_plain_member("start", |out| out.write_time(count.start));
            out.write_count(POSTS, count.posts);
        });
    });
    ResponsePayload { data: out.finish(), count: page.len(), ..ResponsePayload::default() }
}
