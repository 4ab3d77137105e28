//! News stories: their fields, and answers of them.

use base::VocabularyWord;
use store::news_stories::NewsStoryDetails;

use crate::out::Out;
use crate::shown::{Json, Member, Shown, Write};
use crate::{Answer, Object, Spoken, Wants};

/// A page of stories, in their order.
pub fn stories(page: &[NewsStoryDetails], wants: &Wants, spoken: Spoken) -> Answer {
    let mask = wants.of_included(Object::News);
    Answer::of_rows(spoken, page, 1024, |out, told| {
        out.record(FIELDS, mask, |out, write| {
            if let Write::News(write) = write {
                write(out, told);
            }
        });
    })
}

/// One story that was asked for; `data` is an object.
pub fn story(told: &NewsStoryDetails, wants: &Wants, spoken: Spoken) -> Answer {
    stories(std::slice::from_ref(told), wants, spoken).single()
}

const TEXTS: Json = Json::List(&Json::Text);

const CONTEXTS: &[Member] = &[
    Member::new("topics", TEXTS),
    Member::new(
        "entities",
        Json::Object(&[
            Member::new("events", TEXTS),
            Member::new("organizations", TEXTS),
            Member::new("people", TEXTS),
            Member::new("places", TEXTS),
            Member::new("products", TEXTS),
        ]),
    ),
    Member::new("finance", Json::Object(&[Member::new("tickers", TEXTS)])),
    Member::new("sports", Json::Object(&[Member::new("teams", TEXTS)])),
];

const CLUSTER_POST: Json = Json::Object(&[Member::new("post_id", Json::Id)]);

pub(crate) const FIELDS: &[Shown] = &[
    Shown::always("id", Json::Id, "Id of the story.")
        .tweet("rest_id")
        .news(|out, told| out.id(told.id)),
    Shown::always("name", Json::Text, "Its headline.").news(|out, told| out.text(&told.name)),
    Shown::asked("category", Json::Text, "Its category.")
        .news(|out, told| out.text(&told.category)),
    Shown::asked(
        "cluster_posts_results",
        Json::List(&CLUSTER_POST),
        "Posts that it is made from.",
    )
    .news(|out, told| {
        out.array(&told.post_ids, |out, id| {
            out.object(|out| {
                out.member(VocabularyWord::same_in_both("post_id"), |out| {
                    out.id(id.get())
                })
            });
        });
    }),
    Shown::asked("contexts", Json::Object(CONTEXTS), "What it is about.").news(contexts),
    Shown::asked("disclaimer", Json::Text, "A word of caution.")
        .news(|out, told| out.text(&told.disclaimer)),
    Shown::asked("hook", Json::Text, "Its first sentence.").news(|out, told| out.text(&told.hook)),
    Shown::asked("keywords", TEXTS, "Its keywords.").news(|out, told| names(out, &told.keywords)),
    Shown::asked("summary", Json::Text, "What happened.").news(|out, told| out.text(&told.summary)),
    Shown::asked("updated_at", Json::Time, "When it last changed.")
        .tweet("last_updated_at_ms")
        .news(|out, told| out.time(told.updated_at)),
];

fn names(out: &mut Out, names: &[String]) {
    out.array(names, |out, name| out.text(name));
}

/// What no post tells is left out: nobody names events, organizations, places, products or teams.
fn contexts(out: &mut Out, told: &NewsStoryDetails) {
    let list = |out: &mut Out, name: &'static str, all: &[String]| {
        if !all.is_empty() {
            out.member(VocabularyWord::same_in_both(name), |out| names(out, all));
        }
    };
    out.object(|out| {
        list(out, "topics", &told.topics);
        if !told.mentioned_usernames.is_empty() {
            out.member(VocabularyWord::same_in_both("entities"), |out| {
                out.object(|out| list(out, "people", &told.mentioned_usernames));
            });
        }
        if !told.tickers.is_empty() {
            out.member(VocabularyWord::same_in_both("finance"), |out| {
                out.object(|out| list(out, "tickers", &told.tickers));
            });
        }
    });
}
