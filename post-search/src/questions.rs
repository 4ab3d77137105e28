//! Answers the questions of nodes that have no index.

use std::num::NonZero;
use std::sync::Arc;
use std::time::{Duration, Instant};

use ::search::protocol::{IndexAnswer, IndexQuestion, languages_above, read_message};
use ::search::{AuthorLanguage, PostIndexReader, QueryPlan};
use base::{Error, Fault, Refusal, clock};
use futures_util::future::BoxFuture;
use serde::Deserialize;
use tokio::time::timeout_at;

use crate::PostSearch;

/// How long a question waits for what the other node must see; less than that node waits.
const QUESTION_TIMEOUT: Duration = Duration::from_millis(2_500);
/// Questions that are answered at a time, for each core.
const QUESTIONS_PER_CORE: usize = 4;
/// How long languages are kept, because a large answer takes several questions.
const LANGUAGES_TTL: Duration = Duration::from_mins(1);

#[derive(Deserialize)]
struct PositionedQuestion {
    /// The log position that must be searchable.
    position: i64,
    question: IndexQuestion<QueryPlan>,
}

/// The languages of authors, when they were counted, and of how many posts each.
pub(super) type CountedLanguages = Option<(Instant, u32, Arc<[AuthorLanguage]>)>;

/// How many questions are answered at a time; others wait, so that they do not take the threads that the index is written
/// with.
pub(super) fn max_concurrent() -> usize {
    std::thread::available_parallelism().map_or(1, NonZero::get).saturating_mul(QUESTIONS_PER_CORE)
}

impl PostSearch {
    /// Answers the question of another node in JSON. Refused as unavailable if the index is not far enough.
    pub fn answer_question(self: Arc<Self>, text: &[u8]) -> BoxFuture<'_, Result<Vec<u8>, Error>> {
        Box::pin(async move {
            let asked: PositionedQuestion = read_message(text)
                .map_err(|error| Refusal::invalid_parameter("question", "", format!("It cannot be read: {error}")))?;
            let deadline = clock::monotonic_now() + QUESTION_TIMEOUT;
            self.wait_until_searchable(asked.position, deadline).await?;
            // A node that asked gives up, but its question is answered to the end.
            let turn = Arc::clone(&self.question_turns).acquire_owned();
            let turn = timeout_at(deadline.into(), turn).await.map_err(|_| Refusal::Unavailable)?;
            let search = Arc::clone(&self);
            let answering = tokio::task::spawn_blocking(move || {
                let _turn = turn;
                let answer = search.answer_from_index(&asked.question)?;
                serde_json::to_vec(&answer).map_err(Fault::context("writing an answer"))
            });
            Ok(answering.await.map_err(Fault::context("answering a question"))??)
        })
    }

    fn answer_from_index(&self, question: &IndexQuestion<QueryPlan>) -> Result<IndexAnswer, Fault> {
        match question {
            IndexQuestion::AuthorLanguages { above, max_posts } => {
                Ok(IndexAnswer::Languages(languages_above(&self.counted_languages(*max_posts)?, *above)))
            }
            other => other.answer(&*self.snapshot()),
        }
    }

    fn counted_languages(&self, max_posts: u32) -> Result<Arc<[AuthorLanguage]>, Fault> {
        let mut kept = self.counted_languages.lock();
        if let Some((counted_at, of, languages)) = &*kept
            && *of == max_posts
            && counted_at.elapsed() < LANGUAGES_TTL
        {
            return Ok(Arc::clone(languages));
        }
        let languages: Arc<[AuthorLanguage]> = self.snapshot().author_languages(max_posts)?.into();
        *kept = Some((clock::monotonic_now(), max_posts, Arc::clone(&languages)));
        Ok(languages)
    }
}
