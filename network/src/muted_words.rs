//! Words, phrases and hashtags that a member does not want to read in the home timeline and in notifications. The API
//! knows nothing of them, so its answers contain all posts.

use std::collections::HashSet;

use base::text::{contains_phrase, is_word_char, remove_decoration};
use base::{Error, Fault, PostId, Refusal, UserId};
use query::words::is_unspaced;
use store::muted_words::{self, MutedWord};
use store::posts::{self, Post};
use store::{Tx, users};

pub const MAX_MUTED_WORDS: i64 = 200;
/// Characters.
pub const MAX_PHRASE_LENGTH: usize = 140;

/// What a reader has muted, at one time.
#[derive(Clone, Debug, Default)]
pub struct MutedWordFilter {
    reader: Option<UserId>,
    phrases: Vec<String>,
}

impl MutedWordFilter {
    pub fn load(tx: &mut Tx<'_>, reader: UserId) -> Result<Self, Fault> {
        let phrases = list(tx, reader)?.into_iter().map(|word| word.phrase);
        Ok(Self { reader: Some(reader), phrases: phrases.collect() })
    }

    pub const fn is_empty(&self) -> bool {
        self.phrases.is_empty()
    }

    /// Whether it hides a post. One's own posts are never hidden.
    pub fn hides(&self, post: &Post) -> bool {
        !self.is_empty() && self.reader != Some(post.author_id) && self.matches(&post.text)
    }

    fn matches(&self, text: &str) -> bool {
        let text = normalize_phrase(text);
        self.phrases.iter().any(|phrase| contains_phrase(&text, phrase, is_hashtag_char))
    }

    /// Those of some posts that it hides.
    pub fn find_hidden(&self, tx: &mut Tx<'_>, ids: &[PostId]) -> Result<HashSet<PostId>, Fault> {
        if self.is_empty() || ids.is_empty() {
            return Ok(HashSet::new());
        }
        let posts = posts::find_by_ids(tx, ids)?;
        Ok(posts.iter().filter(|post| self.hides(post)).map(|post| post.id).collect())
    }
}

/// Those that are muted now, by phrase.
pub fn list(tx: &mut Tx<'_>, user: UserId) -> Result<Vec<MutedWord>, Fault> {
    muted_words::list_by_user(tx, user, MAX_MUTED_WORDS)
}

/// Mutes a phrase for a time in milliseconds, or for good; again from now on if it is muted already.
pub fn mute_word(tx: &mut Tx<'_>, user: UserId, phrase: &str, duration_ms: Option<i64>) -> Result<(), Error> {
    users::lock(tx, user)?;
    let phrase = normalize_phrase(phrase);
    if !(1..=MAX_PHRASE_LENGTH).contains(&phrase.chars().count()) || !phrase.contains(char::is_alphanumeric) {
        let message = format!("Enter a word, phrase or hashtag of at most {MAX_PHRASE_LENGTH} characters.");
        return Err(Refusal::invalid_parameter("word", phrase, message).into());
    }
    muted_words::delete_phrase(tx, user, &phrase)?;
    let known = i64::try_from(list(tx, user)?.len()).unwrap_or(i64::MAX);
    if known >= MAX_MUTED_WORDS {
        let message = format!("You have muted {MAX_MUTED_WORDS} words, which is the limit. Remove some first.");
        return Err(Refusal::invalid_parameter("word", phrase, message).into());
    }
    let id = tx.next_id::<()>().get();
    let expires_at = duration_ms.map(|ms| tx.now().plus_ms(ms));
    Ok(muted_words::insert(tx, &MutedWord { id, user_id: user, phrase, expires_at })?)
}

/// Returns false if the user has muted nothing with this id.
pub fn unmute_word(tx: &mut Tx<'_>, user: UserId, id: i64) -> Result<bool, Fault> {
    muted_words::delete(tx, user, id)
}

/// In lower case, with single spaces.
fn normalize_phrase(text: &str) -> String {
    let lower = remove_decoration(&text.to_lowercase());
    lower.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// As in hashtags, of which the underscore is a part. In scripts without spaces, a phrase may be anywhere.
fn is_hashtag_char(letter: char) -> bool {
    (is_word_char(letter) || letter == '_') && !is_unspaced(letter)
}

#[cfg(test)]
mod tests {
    use super::{MutedWordFilter, normalize_phrase};

    #[test]
    fn phrase_hides_whole_words_in_any_case() {
        let hides = |phrase: &str, text: &str| {
            MutedWordFilter { reader: None, phrases: vec![normalize_phrase(phrase)] }.matches(text)
        };
        for (phrase, text) in [
            ("spoiler", "No SPOILER, please"),
            ("Spoiler", "#spoiler"),
            ("#finale", "The #Finale!"),
            ("new  episode", "a new\nepisode"),
            ("école", "L\u{2019}E\u{301}COLE"),
            ("c++", "I like C++."),
            ("spoiler", "spoiler\u{336}"),
            ("東京", "明日は東京へ行く"),
            ("การพนัน", "เว็บการพนันออนไลน์"),
        ] {
            assert!(hides(phrase, text), "{phrase} in {text}");
        }
        for (phrase, text) in [
            ("spoil", "spoiler"),
            ("art", "party start"),
            ("कम", "कम्प्यूटर"),
            ("#finale", "finale"),
            ("#finale", "#finale_2"),
            ("new episode", "new old episode"),
        ] {
            assert!(!hides(phrase, text), "{phrase} in {text}");
        }
    }
}
