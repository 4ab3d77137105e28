use super::identify_language;
use super::identify_post_language;
use crate::text::extract_entities;

fn identify(text: &str) -> &'static str {
    identify_post_language(text, &extract_entities(text))
}

#[test]
fn everyday_posts_are_identified() {
    let posts = include_str!("../../../tests/language/everyday.tsv").lines().filter_map(|line| line.split_once('\t'));
    let posts: Vec<(&str, &str)> = posts.collect();
    let wrong: Vec<_> = posts.iter().filter(|(code, text)| identify(text) != *code).collect();
    assert!(wrong.len() * 100 <= posts.len() * 6, "{} of {}: {wrong:?}", wrong.len(), posts.len());
}

/// The share of right answers, by language and length: the mean over languages, in percent.
fn measure_accuracy(is_of_length: fn(usize) -> bool) -> (f64, Vec<(f64, &'static str)>) {
    let sentences = include_str!("../../../tests/language/sentences.tsv").lines();
    let sentences = sentences.filter_map(|line| line.split_once('\t'));
    let mut found: std::collections::BTreeMap<&str, (f64, f64)> = std::collections::BTreeMap::new();
    for (code, text) in sentences.filter(|(_, text)| is_of_length(text.chars().count())) {
        let (right, all) = found.entry(code).or_default();
        *all += 1.0;
        *right += if identify(text) == code { 1.0 } else { 0.0 };
    }
    let mut shares: Vec<_> = found.into_iter().map(|(code, (right, all))| (100.0 * right / all, code)).collect();
    shares.sort_by(|one, other| one.0.total_cmp(&other.0));
    let sum: f64 = shares.iter().map(|(share, _)| share).sum();
    (sum / f64::from(u32::try_from(shares.len()).unwrap()), shares)
}

#[test]
fn most_sentences_of_over_40_characters_are_identified() {
    let (mean, shares) = measure_accuracy(|length| length > 40);
    assert!(mean >= 98.0, "{mean} {shares:?}");
    assert!(shares[0].0 >= 85.0, "{shares:?}");
}

#[test]
fn most_sentences_of_15_to_40_characters_are_identified() {
    let (mean, shares) = measure_accuracy(|length| (15..=40).contains(&length));
    assert!(mean >= 92.0, "{mean} {shares:?}");
    assert!(shares[0].0 >= 50.0, "{shares:?}");
}

#[test]
fn languages_without_a_model_are_identified() {
    for (code, text) in [
        ("ja", "今日は天気がいいですね"),
        ("ja", "東京タワー"),
        ("ja", "駅前広場"),
        ("zh", "今天天气很好，我们去公园吧"),
        ("zh", "今天天氣很好，我們去公園吧"),
        ("ko", "오늘 날씨가 좋네요"),
        ("am", "ዛሬ አየሩ በጣም ጥሩ ነው"),
        ("hy", "Այսօր եղանակը շատ լավն է"),
        ("bn", "আজ আবহাওয়া খুব ভালো"),
        ("my", "ဒီနေ့ ရာသီဥတု ကောင်းတယ်"),
        ("bo", "དེ་རིང་གནམ་གཤིས་ཡག་པོ་འདུག"),
        ("dv", "މިއަދު މޫސުން ވަރަށް ރަނގަޅު"),
        ("el", "Σήμερα ο καιρός είναι ωραίος"),
        ("gu", "આજે હવામાન ખૂબ સારું છે"),
        ("iw", "מזג האוויר יפה היום"),
        ("ka", "დღეს კარგი ამინდია"),
        ("km", "ថ្ងៃនេះអាកាសធាតុល្អណាស់"),
        ("kn", "ಇಂದು ಹವಾಮಾನ ಚೆನ್ನಾಗಿದೆ"),
        ("lo", "ມື້ນີ້ອາກາດດີຫຼາຍ"),
        ("ml", "ഇന്ന് നല്ല കാലാവസ്ഥയാണ്"),
        ("or", "ଆଜି ପାଗ ବହୁତ ଭଲ ଅଛି"),
        ("pa", "ਅੱਜ ਮੌਸਮ ਬਹੁਤ ਵਧੀਆ ਹੈ"),
        ("si", "අද කාලගුණය ඉතා හොඳයි"),
        ("ta", "இன்று வானிலை நன்றாக இருக்கிறது"),
        ("te", "ఈ రోజు వాతావరణం చాలా బాగుంది"),
        ("th", "วันนี้อากาศดีมาก"),
        ("ckb", "ئەمڕۆ کەشوهەوا زۆر خۆشە"),
        ("ps", "نن هوا ډېره ښه ده"),
        ("sd", "اڄ موسم ڏاڍي سٺي آهي"),
        ("ug", "بۈگۈن ھاۋا بەك ياخشى"),
    ] {
        assert_eq!(identify(text), code, "{text}");
    }
}

#[test]
fn languages_with_few_training_texts_are_identified() {
    for (code, text) in [
        ("ht", "Bonjou zanmi mwen yo, nou kontan wè nou jodi a"),
        ("ht", "Mwen pa konnen kote li ye"),
        ("hi-Latn", "yaar aaj office nahi jana hai mujhe"),
        ("hi-Latn", "tum kya kar rahe ho bhai"),
        ("ne", "आज काठमाडौंमा धेरै चिसो छ साथी"),
        ("hi", "आज मौसम बहुत अच्छा है"),
        ("mr", "आज हवामान खूप छान आहे"),
        ("ru", "Сегодня очень хорошая погода"),
        ("uk", "Сьогодні дуже гарна погода"),
        ("bg", "Времето днес е хубаво"),
        ("sr", "Данас је лепо време"),
        ("ar", "الطقس جميل اليوم"),
        ("fa", "امروز هوا خیلی خوب است"),
        ("ur", "آج موسم بہت اچھا ہے"),
    ] {
        assert_eq!(identify(text), code, "{text}");
    }
}

#[test]
fn entities_do_not_count() {
    let text = "Read this: https://example.com/es/noticias #hola @pedro it is worth your time";
    assert_eq!(identify(text), "en");
    assert_eq!(identify("#Buenos #dias https://example.com/los/perros"), "qht");
}

#[test]
fn posts_without_a_language_have_codes_for_what_they_contain() {
    for (code, text) in [
        ("qht", "#rust #programming"),
        ("qht", "#rust."),
        ("qam", "@ana @ben"),
        ("qct", "$TSLA $AAPL"),
        ("qme", "https://example.com/ana/status/1/photo/1"),
        ("qme", "pic.example.com/abc"),
        ("zxx", "https://example.com/hello/world"),
        ("zxx", ""),
        ("zxx", "  "),
        ("qst", "ok"),
        ("qst", "lol"),
        ("qst", "日"),
        ("qst", "@ana ok!"),
        ("art", "👍👍👍"),
        ("und", "123 456"),
        ("und", "@ana #rust"),
        ("und", "!!!"),
        ("und", "xqzjk wvbnm"),
    ] {
        assert_eq!(identify(text), code, "{text}");
        assert_eq!(identify_language(text), "und", "{text}");
    }
}
