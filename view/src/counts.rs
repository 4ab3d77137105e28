//! How many posts a search finds, span by span.

use base::{Time, VocabularyWord};

use crate::out::Out;
use crate::{Answer, Spoken};

/// The posts of a span of time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Count {
    /// When it begins.
    pub start: Time,
    /// When it ends.
    pub end: Time,
    /// How many there are.
    pub posts: i64,
}

/// Counts in their order; whatever is asked for, they come whole.
pub fn counts(page: &[Count], spoken: Spoken) -> Answer {
    const POSTS: VocabularyWord = VocabularyWord::new("post_count", "tweet_count");
    let mut out = Out::new(spoken, page.len() * 100);
    out.array(page, |out, count| {
        out.object(|out| {
            out.member(VocabularyWord::same_in_both("end"), |out| {
                out.time(count.end)
            });
            out.member(VocabularyWord::same_in_both("start"), |out| {
                out.time(count.start)
            });
            out.count(POSTS, count.posts);
        });
    });
    Answer {
        data: out.finish(),
        count: page.len(),
        ..Answer::default()
    }
}
