//! The language codes of `lang:`.

/// A code's position in the list, from 1; two codes of one language share it.
pub type LanguageNumber = u8;

const CODES: [&str; 80] = [
    "am", "ar", "hy", "eu", "bn", "bg", "ca", "hr", "cs", "da", "nl", "en", "et", "fi", "fr", "de", "ka", "el", "gu",
    "iw", "hi", "hu", "in", "it", "ja", "kn", "ko", "lv", "lt", "ml", "mr", "no", "fa", "pl", "pt", "ro", "ru", "sr",
    "zh-cn", "sk", "sl", "es", "sv", "ta", "te", "th", "zh-tw", "tr", "uk", "ur", "vi", "bs", "my", "ckb", "ht", "is",
    "hi-latn", "km", "lo", "dv", "ne", "or", "pa", "ps", "sd", "si", "cy", "tl", "bo", "ug", "und", "zh", "qam", "qct",
    "qht", "qme", "qst", "zxx", "art", "af",
];

/// In any case; `he` is `iw` and `id` is `in`.
pub fn parse_language(code: &str) -> Option<LanguageNumber> {
    let code = match code {
        "he" | "HE" => "iw",
        "id" | "ID" => "in",
        other => other,
    };
    let position = CODES.iter().position(|known| known.eq_ignore_ascii_case(code))?;
    LanguageNumber::try_from(position + 1).ok()
}

pub fn language_code(language: LanguageNumber) -> &'static str {
    usize::from(language).checked_sub(1).and_then(|position| CODES.get(position)).copied().unwrap_or("und")
}

/// Whether a query's language includes a post's: `zh` includes both scripts.
pub fn language_matches(queried: LanguageNumber, posted: LanguageNumber) -> bool {
    queried == posted
        || (language_code(queried).starts_with("zh") && language_code(posted) == "zh")
        || (language_code(queried) == "zh" && language_code(posted).starts_with("zh"))
}
