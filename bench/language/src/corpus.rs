//! Sentences of the language model crates of lingua, and which language uses which script.

use include_dir::Dir;

macro_rules! corpora {
    ($($krate:ident :: $directory:ident => $code:literal,)*) => {
        &[$(Corpus { code: $code, directory: &$krate::$directory },)*]
    };
}

pub struct Corpus {
    /// The API's code; `und` for a language that it has none for.
    pub code: &'static str,
    pub directory: &'static Dir<'static>,
}

impl Corpus {
    pub fn lines(&self, file: &str) -> impl Iterator<Item = &'static str> {
        self.directory.get_file(file).and_then(|file| file.contents_utf8()).unwrap_or_default().lines()
    }
}

pub struct Group {
    pub file: &'static str,
    /// There are 2^`bits` rows.
    pub bits: u32,
    pub corpora: &'static [Corpus],
    /// Languages of which there are only phrases.
    pub phrases_only: &'static [&'static str],
}

pub const GROUPS: &[Group] = &[
    Group {
        file: "latin.model",
        bits: 14,
        phrases_only: &["ht", "hi-Latn"],
        corpora: corpora! {
            lingua_afrikaans_language_model::AFRIKAANS_TESTDATA_DIRECTORY => "af",
            lingua_basque_language_model::BASQUE_TESTDATA_DIRECTORY => "eu",
            lingua_catalan_language_model::CATALAN_TESTDATA_DIRECTORY => "ca",
            lingua_croatian_language_model::CROATIAN_TESTDATA_DIRECTORY => "hr",
            lingua_czech_language_model::CZECH_TESTDATA_DIRECTORY => "cs",
            lingua_danish_language_model::DANISH_TESTDATA_DIRECTORY => "da",
            lingua_dutch_language_model::DUTCH_TESTDATA_DIRECTORY => "nl",
            lingua_english_language_model::ENGLISH_TESTDATA_DIRECTORY => "en",
            lingua_estonian_language_model::ESTONIAN_TESTDATA_DIRECTORY => "et",
            lingua_finnish_language_model::FINNISH_TESTDATA_DIRECTORY => "fi",
            lingua_french_language_model::FRENCH_TESTDATA_DIRECTORY => "fr",
            lingua_german_language_model::GERMAN_TESTDATA_DIRECTORY => "de",
            lingua_hungarian_language_model::HUNGARIAN_TESTDATA_DIRECTORY => "hu",
            lingua_icelandic_language_model::ICELANDIC_TESTDATA_DIRECTORY => "is",
            lingua_indonesian_language_model::INDONESIAN_TESTDATA_DIRECTORY => "in",
            lingua_italian_language_model::ITALIAN_TESTDATA_DIRECTORY => "it",
            lingua_latvian_language_model::LATVIAN_TESTDATA_DIRECTORY => "lv",
            lingua_lithuanian_language_model::LITHUANIAN_TESTDATA_DIRECTORY => "lt",
            lingua_bokmal_language_model::BOKMAL_TESTDATA_DIRECTORY => "no",
            lingua_nynorsk_language_model::NYNORSK_TESTDATA_DIRECTORY => "no",
            lingua_polish_language_model::POLISH_TESTDATA_DIRECTORY => "pl",
            lingua_portuguese_language_model::PORTUGUESE_TESTDATA_DIRECTORY => "pt",
            lingua_romanian_language_model::ROMANIAN_TESTDATA_DIRECTORY => "ro",
            lingua_slovak_language_model::SLOVAK_TESTDATA_DIRECTORY => "sk",
            lingua_slovene_language_model::SLOVENE_TESTDATA_DIRECTORY => "sl",
            lingua_spanish_language_model::SPANISH_TESTDATA_DIRECTORY => "es",
            lingua_swedish_language_model::SWEDISH_TESTDATA_DIRECTORY => "sv",
            lingua_tagalog_language_model::TAGALOG_TESTDATA_DIRECTORY => "tl",
            lingua_turkish_language_model::TURKISH_TESTDATA_DIRECTORY => "tr",
            lingua_vietnamese_language_model::VIETNAMESE_TESTDATA_DIRECTORY => "vi",
            lingua_welsh_language_model::WELSH_TESTDATA_DIRECTORY => "cy",
            lingua_albanian_language_model::ALBANIAN_TESTDATA_DIRECTORY => "und",
            lingua_azerbaijani_language_model::AZERBAIJANI_TESTDATA_DIRECTORY => "und",
            lingua_esperanto_language_model::ESPERANTO_TESTDATA_DIRECTORY => "und",
            lingua_irish_language_model::IRISH_TESTDATA_DIRECTORY => "und",
            lingua_latin_language_model::LATIN_TESTDATA_DIRECTORY => "und",
            lingua_somali_language_model::SOMALI_TESTDATA_DIRECTORY => "und",
            lingua_swahili_language_model::SWAHILI_TESTDATA_DIRECTORY => "und",
        },
    },
    Group {
        file: "cyrillic.model",
        bits: 12,
        phrases_only: &[],
        corpora: corpora! {
            lingua_russian_language_model::RUSSIAN_TESTDATA_DIRECTORY => "ru",
            lingua_ukrainian_language_model::UKRAINIAN_TESTDATA_DIRECTORY => "uk",
            lingua_bulgarian_language_model::BULGARIAN_TESTDATA_DIRECTORY => "bg",
            lingua_serbian_language_model::SERBIAN_TESTDATA_DIRECTORY => "sr",
            lingua_belarusian_language_model::BELARUSIAN_TESTDATA_DIRECTORY => "und",
            lingua_kazakh_language_model::KAZAKH_TESTDATA_DIRECTORY => "und",
            lingua_macedonian_language_model::MACEDONIAN_TESTDATA_DIRECTORY => "und",
            lingua_mongolian_language_model::MONGOLIAN_TESTDATA_DIRECTORY => "und",
        },
    },
    Group {
        file: "arabic.model",
        bits: 12,
        phrases_only: &[],
        corpora: corpora! {
            lingua_arabic_language_model::ARABIC_TESTDATA_DIRECTORY => "ar",
            lingua_persian_language_model::PERSIAN_TESTDATA_DIRECTORY => "fa",
            lingua_urdu_language_model::URDU_TESTDATA_DIRECTORY => "ur",
        },
    },
    Group {
        file: "devanagari.model",
        bits: 12,
        phrases_only: &["ne"],
        corpora: corpora! {
            lingua_hindi_language_model::HINDI_TESTDATA_DIRECTORY => "hi",
            lingua_marathi_language_model::MARATHI_TESTDATA_DIRECTORY => "mr",
        },
    },
];

/// Their script identifies them; only the test uses these.
pub const SINGLE: &[Corpus] = corpora! {
    lingua_armenian_language_model::ARMENIAN_TESTDATA_DIRECTORY => "hy",
    lingua_bengali_language_model::BENGALI_TESTDATA_DIRECTORY => "bn",
    lingua_chinese_language_model::CHINESE_TESTDATA_DIRECTORY => "zh",
    lingua_georgian_language_model::GEORGIAN_TESTDATA_DIRECTORY => "ka",
    lingua_greek_language_model::GREEK_TESTDATA_DIRECTORY => "el",
    lingua_gujarati_language_model::GUJARATI_TESTDATA_DIRECTORY => "gu",
    lingua_hebrew_language_model::HEBREW_TESTDATA_DIRECTORY => "iw",
    lingua_japanese_language_model::JAPANESE_TESTDATA_DIRECTORY => "ja",
    lingua_korean_language_model::KOREAN_TESTDATA_DIRECTORY => "ko",
    lingua_punjabi_language_model::PUNJABI_TESTDATA_DIRECTORY => "pa",
    lingua_tamil_language_model::TAMIL_TESTDATA_DIRECTORY => "ta",
    lingua_telugu_language_model::TELUGU_TESTDATA_DIRECTORY => "te",
    lingua_thai_language_model::THAI_TESTDATA_DIRECTORY => "th",
};
