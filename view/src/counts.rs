//! Post counts by time bucket.

use base::{Time, VocabularyWord};

use crate::field_schema::JsonFieldType;
use crate::json_writer::JsonWriter;
use crate::object::{ObjectField, ObjectKind, RenderedObject};
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

type CountField = ObjectField<CountBucket>;

impl RenderedObject for CountBucket {
    type Context<'a> = &'a Self;

    const NAME: VocabularyWord = VocabularyWord::same_in_both("SearchCount");
    const FIELDS_PARAM: VocabularyWord = VocabularyWord::same_in_both("search_count.fields");
    const FIELDS: &'static [ObjectField<Self>] = FIELDS;
}

impl ObjectKind {
    pub const SEARCH_COUNT: Self = CountBucket::KIND;
}

// Without writers: responses contain all fields, whatever is requested.
const FIELDS: &[CountField] = &[
    CountField::default_field("start", JsonFieldType::Time, "When the bucket begins."),
    CountField::default_field("end", JsonFieldType::Time, "When it ends."),
    CountField::default_field("post_count", JsonFieldType::Int, "Posts in it.").tweet_name("tweet_count"),
];
