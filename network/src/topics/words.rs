//! Topics, words and sentences of a text.

use std::collections::BTreeSet;

use base::text::{extract_entities, is_mark, is_word_char, split_words};

/// Topics per post.
const MAX_TOPICS: usize = 8;
/// Characters of a topic or search word.
const MAX_LENGTH: usize = 60;

/// Frequent words without meaning of their own.
const STOP_WORDS: &[&str] = &[
    "about", "after", "again", "all", "also", "and", "any", "are", "because", "been", "before", "but", "can", "could",
    "did", "does", "down", "each", "even", "every", "few", "for", "from", "had", "has", "have", "her", "here", "him",
    "his", "how", "into", "its", "just", "like", "made", "many", "more", "most", "much", "not", "now", "off", "one",
    "only", "other", "our", "out", "over", "own", "said", "same", "she", "some", "such", "than", "that", "the",
    "their", "them", "then", "there", "these", "they", "this", "those", "too", "under", "until", "very", "was", "were",
    "what", "when", "where", "which", "while", "who", "why", "will", "with", "would", "you", "your",
];

/// Replaces every URL by a space.
fn strip_urls(text: &str) -> String {
    let mut rest = String::with_capacity(text.len());
    let mut end = 0;
    for url in &extract_entities(text).urls {
        rest.push_str(text.get(end..url.bytes.start).unwrap_or_default());
        rest.push(' ');
        end = url.bytes.end;
    }
    rest.push_str(text.get(end..).unwrap_or_default());
    rest
}

/// In order, lower case.
fn lowercase_words(text: &str) -> impl Iterator<Item = String> {
    split_words(text).map(|word| word.to_lowercase().chars().take(MAX_LENGTH).collect())
}

/// Words that are neither short nor frequent.
pub(crate) fn significant_words(text: &str) -> BTreeSet<String> {
    let all = lowercase_words(&strip_urls(text)).collect::<Vec<_>>().into_iter();
    all.filter(|word| word.chars().count() >= 3 || !word.is_ascii())
        .filter(|word| !STOP_WORDS.contains(&word.as_str()))
        .collect()
}

/// Pairs of adjacent capitalized words, as written.
fn capitalized_pairs(text: &str) -> Vec<String> {
    let text = strip_urls(text);
    let is_name = |word: &&str| {
        let mut letters = word.chars();
        letters.next().is_some_and(char::is_uppercase)
            && word.chars().count() >= 3
            && word.chars().all(|letter| letter.is_alphabetic() || is_mark(letter))
            && !STOP_WORDS.contains(&word.to_lowercase().as_str())
    };
    let mut found = Vec::new();
    let mut previous: Option<&str> = None;
    for piece in text.split_whitespace() {
        let word = piece.trim_end_matches(|letter| !is_word_char(letter));
        let name = Some(word).filter(is_name);
        if let (Some(first), Some(second)) = (previous, name) {
            found.push(format!("{first} {second}"));
        }
        // Pairs do not span punctuation.
        previous = name.filter(|_| word.len() == piece.len());
    }
    found
}

/// `#hashtag` in lower case, `$CASHTAG` in upper case, `two words` in lower case.
pub fn extract_topics(text: &str) -> BTreeSet<String> {
    extract_spelled_topics(text).into_iter().map(|(topic, _)| topic).take(MAX_TOPICS).collect()
}

/// A topic as written in a text.
pub fn find_topic_spelling(text: &str, topic: &str) -> Option<String> {
    let mut all = extract_spelled_topics(text).into_iter();
    all.find_map(|(known, spelled)| (known == topic).then_some(spelled))
}

fn extract_spelled_topics(text: &str) -> Vec<(String, String)> {
    let found = extract_entities(text);
    let tags = found.hashtags.iter();
    let tags = tags.map(|tag| (format!("#{}", tag.text.to_lowercase()), format!("#{}", tag.text)));
    let cashtags = found.cashtags.iter().map(|tag| {
        let name = format!("${}", tag.text.to_uppercase());
        (name.clone(), name)
    });
    let pairs = capitalized_pairs(text);
    let pairs = pairs.into_iter().map(|pair| (pair.to_lowercase(), pair));
    let all = tags.chain(cashtags).chain(pairs);
    all.filter(|(topic, _)| topic.chars().count() <= MAX_LENGTH).collect()
}

/// Without URLs and with single spaces.
pub(crate) fn split_sentences(text: &str) -> Vec<String> {
    let text = strip_urls(text);
    let mut all = Vec::new();
    for line in text.lines() {
        let mut sentence = String::new();
        for word in line.split_whitespace() {
            if !sentence.is_empty() {
                sentence.push(' ');
            }
            sentence.push_str(word);
            if word.ends_with(['.', '!', '?', '…', '。', '！', '？']) {
                all.push(std::mem::take(&mut sentence));
            }
        }
        all.push(sentence);
    }
    all.retain(|sentence| sentence.chars().any(char::is_alphanumeric));
    all
}

#[cfg(test)]
mod tests {
    use super::{extract_topics, find_topic_spelling, significant_words, split_sentences};

    #[test]
    fn topics_are_tags_and_names() {
        let text = "The Tokyo Marathon, Won Today by $abc #RunFast https://a.com/Some/Name";
        let topics: Vec<String> = extract_topics(text).into_iter().collect();
        assert_eq!(topics, ["#runfast", "$ABC", "tokyo marathon", "won today"]);
        assert_eq!(find_topic_spelling(text, "#runfast").as_deref(), Some("#RunFast"));
        assert_eq!(find_topic_spelling(text, "tokyo marathon").as_deref(), Some("Tokyo Marathon"));
        assert_eq!(find_topic_spelling(text, "#other"), None);
        assert!(extract_topics("Hello. World Is wide").is_empty());
    }

    #[test]
    fn sentences_and_words_have_no_addresses() {
        let text = "It rained.  All day! https://a.com/x.y\nAnd now";
        assert_eq!(split_sentences(text), ["It rained.", "All day!", "And now"]);
        let words: Vec<String> = significant_words(text).into_iter().collect();
        assert_eq!(words, ["day", "rained"]);
        assert!(significant_words("हिन्दी में").contains("हिन्दी"));
    }
}
