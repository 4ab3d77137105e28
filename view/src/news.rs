//! News story fields and responses.

use base::VocabularyWord;
use store::news_stories::NewsStoryDetails;

use crate::field_schema::{JsonFieldType, JsonMember};
use crate::json_writer::JsonWriter;
use crate::object::{ObjectField, ObjectKind, RenderedObject};
use crate::{RenderRequest, ResponsePayload};

pub fn render_stories(request: &RenderRequest, page: &[NewsStoryDetails]) -> ResponsePayload {
    ResponsePayload::from_objects::<NewsStoryDetails>(request, page.iter(), 1024)
}

/// Renders the result of a lookup by id; `data` is an object.
pub fn render_story(request: &RenderRequest, story: &NewsStoryDetails) -> ResponsePayload {
    render_stories(request, std::slice::from_ref(story)).into_single()
}

const TEXT_LIST: JsonFieldType = JsonFieldType::List(&JsonFieldType::Text);

const CONTEXTS: &[JsonMember] = &[
    JsonMember::new("topics", TEXT_LIST),
    JsonMember::new(
        "entities",
        JsonFieldType::Object(&[
            JsonMember::new("events", TEXT_LIST),
            JsonMember::new("organizations", TEXT_LIST),
            JsonMember::new("people", TEXT_LIST),
            JsonMember::new("places", TEXT_LIST),
            JsonMember::new("products", TEXT_LIST),
        ]),
    ),
    JsonMember::new("finance", JsonFieldType::Object(&[JsonMember::new("tickers", TEXT_LIST)])),
    JsonMember::new("sports", JsonFieldType::Object(&[JsonMember::new("teams", TEXT_LIST)])),
];

const CLUSTER_POST: JsonFieldType = JsonFieldType::Object(&[JsonMember::new("post_id", JsonFieldType::Id)]);

type NewsField = ObjectField<NewsStoryDetails>;

impl RenderedObject for NewsStoryDetails {
    type Context<'a> = &'a Self;

    const NAME: VocabularyWord = VocabularyWord::same_in_both("News");
    const FIELDS_PARAM: VocabularyWord = VocabularyWord::same_in_both("news.fields");
    const FIELDS: &'static [ObjectField<Self>] = FIELDS;
}

impl ObjectKind {
    pub const NEWS: Self = NewsStoryDetails::KIND;
}

const FIELDS: &[NewsField] = &[
    NewsField::default_field("id", JsonFieldType::Id, "Id of the story.")
        .tweet_name("rest_id")
        .writer(|out, told| out.write_id(told.id)),
    NewsField::default_field("name", JsonFieldType::Text, "Its headline.")
        .writer(|out, told| out.write_nonempty_text(&told.name)),
    NewsField::requested_field("category", JsonFieldType::Text, "Its category.")
        .writer(|out, told| out.write_nonempty_text(&told.category)),
    NewsField::requested_field(
        "cluster_posts_results",
        JsonFieldType::List(&CLUSTER_POST),
        "Posts that it is made from.",
    )
    .writer(|out, told| {
        out.write_array(&told.post_ids, |out, id| {
            out.write_object(|out| out.write_plain_member("post_id", |out| out.write_id(id.get())));
        });
    }),
    NewsField::requested_field("contexts", JsonFieldType::Object(CONTEXTS), "What it is about.").writer(write_contexts),
    NewsField::requested_field("disclaimer", JsonFieldType::Text, "A word of caution.")
        .writer(|out, told| out.write_nonempty_text(&told.disclaimer)),
    NewsField::requested_field("hook", JsonFieldType::Text, "Its first sentence.")
        .writer(|out, told| out.write_nonempty_text(&told.hook)),
    NewsField::requested_field("keywords", TEXT_LIST, "Its keywords.")
        .writer(|out, told| write_keywords(out, &told.keywords)),
    NewsField::requested_field("summary", JsonFieldType::Text, "What happened.")
        .writer(|out, told| out.write_nonempty_text(&told.summary)),
    NewsField::requested_field("updated_at", JsonFieldType::Time, "When it last changed.")
        .tweet_name("last_updated_at_ms")
        .writer(|out, told| out.write_time(told.updated_at)),
];

/// The newer document, and with it the official SDK, types them as an object of unknown members: keywords with their
/// rank.
fn write_keywords(out: &mut JsonWriter, keywords: &[String]) {
    if !out.has_newer_models() {
        return write_texts(out, keywords);
    }
    out.write_object(|out| {
        for (keyword, rank) in keywords.iter().zip(1..) {
            out.write_text_member(keyword, |out| out.write_int(rank));
        }
    });
}

fn write_texts(out: &mut JsonWriter, names: &[String]) {
    out.write_array(names, |out, name| out.write_nonempty_text(name));
}

/// Writes only contexts derived from posts: events, organizations, places, products and teams are not
/// extracted.
fn write_contexts(out: &mut JsonWriter, story: &NewsStoryDetails) {
    let list = |out: &mut JsonWriter, name: &'static str, all: &[String]| {
        if !all.is_empty() {
            out.write_member(VocabularyWord::same_in_both(name), |out| write_texts(out, all));
        }
    };
    out.write_object(|out| {
        list(out, "topics", &story.topics);
        if !story.mentioned_usernames.is_empty() {
            out.write_plain_member("entities", |out| {
                out.write_object(|out| list(out, "people", &story.mentioned_usernames));
            });
        }
        if !story.tickers.is_empty() {
            out.write_plain_member("finance", |out| {
                out.write_object(|out| list(out, "tickers", &story.tickers));
            });
        }
    });
}
