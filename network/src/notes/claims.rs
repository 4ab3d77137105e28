//! How far a text is claims that can be checked rather than opinions.
//!
//! A plain count of signs, the same for the same text on every day and machine. No model judges:
//! the measure knows what a sentence looks like, not whether it is true.

/// Words of someone's own view, or of praise and blame.
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

/// Words that lead to what someone else has established.
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

/// Words of the first and second person: someone speaks rather than reports.
const SPEAKER_WORDS: &[&str] = &["i", "i'm", "me", "my", "we", "our", "you", "your"];

/// The score of a text in thousandths: 0 nothing but opinions, 1000 nothing but claims, 500 when
/// nothing tells.
///
/// `1000 · (c + 1) / (c + o + 2)`, rounded down. `c` counts an address (2 each), a word with a
/// digit in it, a word of reporting. `o` counts a word of opinion (2 each), a word of the first
/// or second person, an exclamation mark. The words are English ones; of a text in another
/// language only addresses, figures and exclamation marks tell.
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
    let inside = |letter: char| letter.is_alphanumeric() || letter == '\'';
    for word in rest.split(|letter| !inside(letter)) {
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

/// The bucket of a score: `High` from 667, `Low` below 334, `Medium` between.
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
