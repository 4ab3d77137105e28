//! Scores to what extent a text consists of verifiable claims rather than opinions.
//!
//! The score is a deterministic count of lexical signs. It does not judge whether claims are true.

/// Words of opinion, praise or blame.
const OPINION_WORDS: &[&str] = &[
    "absurd",
    "amazing",
    "annoying",
    "awful",
    "bad",
    "beautiful",
    "believe",
    "best",
    "boring",
    "disgusting",
    "dishonest",
    "disgrace",
    "dumb",
    "embarrassing",
    "evil",
    "feel",
    "fool",
    "great",
    "guess",
    "hate",
    "hopefully",
    "horrible",
    "hypocrite",
    "idiot",
    "idiotic",
    "imo",
    "imho",
    "liar",
    "love",
    "maybe",
    "nonsense",
    "obviously",
    "opinion",
    "outrageous",
    "pathetic",
    "perhaps",
    "probably",
    "ridiculous",
    "sad",
    "seems",
    "shame",
    "should",
    "silly",
    "stupid",
    "terrible",
    "think",
    "ugly",
    "wonderful",
    "worst",
    "wrong",
];

/// Words that report facts established by others.
const REPORT_WORDS: &[&str] = &[
    "according",
    "announced",
    "confirmed",
    "court",
    "data",
    "document",
    "documented",
    "dated",
    "evidence",
    "figures",
    "found",
    "law",
    "measured",
    "official",
    "originally",
    "percent",
    "photo",
    "published",
    "record",
    "recorded",
    "records",
    "report",
    "reported",
    "reports",
    "report's",
    "research",
    "said",
    "shows",
    "source",
    "stated",
    "statistics",
    "study",
    "survey",
    "taken",
    "video",
    "wrote",
];

/// Words of the first and second person.
const SPEAKER_WORDS: &[&str] = &["i", "i'm", "me", "my", "we", "our", "you", "your"];

/// The score of a text in thousandths: 0 for opinions only, 1000 for claims only, 500 without signs of either.
///
/// `1000 · (c + 1) / (c + o + 2)`, rounded down. `c` counts URLs (2 each), words with a digit and words of reporting.
/// `o` counts words of opinion (2 each), words of the first or second person, and exclamation marks. The words are
/// English; in other languages only URLs, digits and exclamation marks count.
pub fn score_claims(text: &str) -> i64 {
    let urls = base::text::extract_entities(text).urls;
    let (mut claims, mut opinions) = (0_i64, 0_i64);
    let mut rest = String::with_capacity(text.len());
    let mut end = 0;
    for url in &urls {
        rest.push_str(text.get(end..url.bytes.start).unwrap_or_default());
        rest.push(' ');
        end = url.bytes.end;
        claims += 2;
    }
    rest.push_str(text.get(end..).unwrap_or_default());
    let rest = rest.to_lowercase().replace('\u{2019}', "'");
    let is_word_char = |letter| base::text::is_word_char(letter) || letter == '\'';
    for word in rest.split(|letter| !is_word_char(letter)) {
        let word = word.trim_matches('\'');
        if OPINION_WORDS.contains(&word) {
            opinions += 2;
        } else if SPEAKER_WORDS.contains(&word) {
            opinions += 1;
        } else if REPORT_WORDS.contains(&word) || word.contains(|letter: char| letter.is_numeric()) {
            claims += 1;
        }
    }
    opinions += i64::try_from(rest.matches(['!', '！']).count()).unwrap_or(0);
    1000 * (claims + 1) / (claims + opinions + 2)
}

/// `High` from 667, `Low` below 334, otherwise `Medium`.
pub const fn score_bucket(score: i64) -> &'static str {
    match score {
        667.. => "High",
        334.. => "Medium",
        _ => "Low",
    }
}

#[cfg(test)]
mod tests {
    use super::{score_bucket, score_claims};

    #[test]
    fn claims_and_opinions_are_told_apart() {
        let claim = "The photo was taken in 2019, according to https://example.com/archive";
        let opinion = "I think this is awful and you should feel ashamed!";
        assert_eq!(score_claims(claim), 1000 * 7 / 8);
        assert_eq!(score_bucket(score_claims(claim)), "High");
        assert_eq!(score_claims(opinion), 1000 / 13);
        assert_eq!(score_bucket(score_claims(opinion)), "Low");
        assert_eq!(score_claims(""), 500);
        assert_eq!(score_bucket(500), "Medium");
        assert_eq!(score_claims("日本語だけの文"), 500);
        // What stands in an address is no word.
        assert_eq!(score_claims("https://example.com/i/love/2019"), 750);
    }
}
