//! Scripts, and letters that tell languages of one script apart.

/// A script that several languages share, or the code of the only language that uses it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Script {
    Latin,
    Cyrillic,
    Arabic,
    Devanagari,
    Han,
    Kana,
    Single(&'static str),
}

/// Ranges of letters in ascending order. Codes are the API's: Hebrew is `iw`.
const BLOCKS: &[(char, char, Script)] = &[
    ('A', '\u{24f}', Script::Latin),
    ('\u{370}', '\u{3ff}', Script::Single("el")),
    ('\u{400}', '\u{52f}', Script::Cyrillic),
    ('\u{530}', '\u{58f}', Script::Single("hy")),
    ('\u{590}', '\u{5ff}', Script::Single("iw")),
    ('\u{600}', '\u{6ff}', Script::Arabic),
    ('\u{750}', '\u{77f}', Script::Arabic),
    ('\u{780}', '\u{7bf}', Script::Single("dv")),
    ('\u{8a0}', '\u{8ff}', Script::Arabic),
    ('\u{900}', '\u{97f}', Script::Devanagari),
    ('\u{980}', '\u{9ff}', Script::Single("bn")),
    ('\u{a00}', '\u{a7f}', Script::Single("pa")),
    ('\u{a80}', '\u{aff}', Script::Single("gu")),
    ('\u{b00}', '\u{b7f}', Script::Single("or")),
    ('\u{b80}', '\u{bff}', Script::Single("ta")),
    ('\u{c00}', '\u{c7f}', Script::Single("te")),
    ('\u{c80}', '\u{cff}', Script::Single("kn")),
    ('\u{d00}', '\u{d7f}', Script::Single("ml")),
    ('\u{d80}', '\u{dff}', Script::Single("si")),
    ('\u{e00}', '\u{e7f}', Script::Single("th")),
    ('\u{e80}', '\u{eff}', Script::Single("lo")),
    ('\u{f00}', '\u{fff}', Script::Single("bo")),
    ('\u{1000}', '\u{109f}', Script::Single("my")),
    ('\u{10a0}', '\u{10ff}', Script::Single("ka")),
    ('\u{1100}', '\u{11ff}', Script::Single("ko")),
    ('\u{1200}', '\u{139f}', Script::Single("am")),
    ('\u{1780}', '\u{17ff}', Script::Single("km")),
    ('\u{1e00}', '\u{1eff}', Script::Latin),
    ('\u{1f00}', '\u{1fff}', Script::Single("el")),
    ('\u{3040}', '\u{30ff}', Script::Kana),
    ('\u{3130}', '\u{318f}', Script::Single("ko")),
    ('\u{31f0}', '\u{31ff}', Script::Kana),
    ('\u{3400}', '\u{9fff}', Script::Han),
    ('\u{ac00}', '\u{d7af}', Script::Single("ko")),
    ('\u{f900}', '\u{faff}', Script::Han),
    ('\u{fb50}', '\u{fdff}', Script::Arabic),
    ('\u{fe70}', '\u{feff}', Script::Arabic),
    ('\u{ff66}', '\u{ff9d}', Script::Kana),
    ('\u{20000}', '\u{3ffff}', Script::Han),
];

/// Letters that identify a language among those that share the Arabic script; the first match counts.
const ARABIC_LETTERS: &[(&[char], &str)] = &[
    (&['ڭ', 'ۇ', 'ۈ', 'ۋ'], "ug"),
    (&['ڵ', 'ۆ', 'ێ', 'ڕ'], "ckb"),
    (&['ښ', 'ځ', 'څ', 'ډ', 'ړ', 'ې', 'ۍ', 'ټ', 'ګ'], "ps"),
    (&['ٻ', 'ڀ', 'ٺ', 'ٽ', 'ٿ', 'ڄ', 'ڃ', 'ڇ', 'ڊ', 'ڌ', 'ڍ', 'ڏ', 'ڙ', 'ڦ', 'ڪ', 'ڱ', 'ڳ', 'ڻ'], "sd"),
];
/// Kanji that Chinese writes differently, of the most frequent ones.
const JAPANESE_KANJI: &[char] = &[
    '円', '気', '駅', '図', '売', '広', '県', '応', '実', '覚', '単', '帰', '発', '対', '変', '読', '検', '済', '証',
    '歳', '毎', '権', '労', '働', '辺', '込', '枠', '畑', '峠', '鉄', '徳', '歩', '戻', '涙', '様', '黒', '桜', '沢',
    '渋', '浜', '竜', '転', '軽', '価', '団', '囲', '圧', '塩', '悪', '戦', '択', '拝', '楽', '歯', '渉', '総', '緑',
    '縄', '脳', '薬', '観', '訳', '豊', '郷', '釈', '銭', '関', '雑', '霊', '顔', '験', '髪',
];
pub(super) fn letter_script(letter: char) -> Option<Script> {
    let after = BLOCKS.partition_point(|(_, last, _)| *last < letter);
    let (first, _, script) = BLOCKS.get(after)?;
    (*first <= letter).then_some(*script)
}

/// Languages without a model that have letters of their own.
pub(super) fn arabic_script_language(text: &str) -> Option<&'static str> {
    let own = ARABIC_LETTERS.iter().find(|(letters, _)| text.contains(*letters));
    own.map(|(_, language)| *language)
}

/// For a text without kana.
pub(super) fn han_language(text: &str) -> &'static str {
    if text.contains(JAPANESE_KANJI) { "ja" } else { "zh" }
}

#[cfg(test)]
mod tests {
    use super::BLOCKS;

    #[test]
    fn blocks_ascend() {
        assert!(BLOCKS.iter().all(|(first, last, _)| first <= last));
        assert!(BLOCKS.windows(2).all(|pair| pair[0].1 < pair[1].0));
    }
}
