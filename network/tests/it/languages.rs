//! Which codes of `lang:` the text of a post can have.

use network::compose::PostTextDraft;
use query::{language_code, language_matches, parse_language};

/// No text is identified as Bosnian: its posts are `hr`.
const NEVER_IDENTIFIED: &[&str] = &["bs"];

const SAMPLES: &[&str] = &[
    "ዛሬ አየሩ በጣም ጥሩ ነው",
    "الطقس جميل اليوم في المدينة",
    "Այսօր եղանակը շատ լավն է",
    "Gaur eguraldi ona egiten du eta hondartzara goaz",
    "আজ আবহাওয়া খুব ভালো",
    "Времето днес е много хубаво",
    "Avui fa molt bon temps i anem a la platja",
    "Danas je lijepo vrijeme i idemo na plažu",
    "Dnes je krásné počasí a jdeme k vodě",
    "Vejret er dejligt i dag, og vi skal hvile os lidt på stranden",
    "Het weer is mooi vandaag en we gaan naar het strand",
    "The weather is lovely today and we are going to the beach",
    "Täna on ilus ilm ja me läheme randa",
    "Tänään on kaunis sää ja menemme rannalle",
    "Il fait beau aujourd'hui et nous allons à la plage",
    "Das Wetter ist heute schön und wir gehen an den Strand",
    "დღეს კარგი ამინდია",
    "Σήμερα ο καιρός είναι ωραίος",
    "આજે હવામાન ખૂબ સારું છે",
    "מזג האוויר יפה היום",
    "आज मौसम बहुत अच्छा है",
    "Ma szép idő van, és megyünk a strandra",
    "Cuaca hari ini bagus dan kami pergi ke pantai",
    "Oggi è una bella giornata e andiamo in spiaggia",
    "今日は天気がいいですね",
    "ಇಂದು ಹವಾಮಾನ ಚೆನ್ನಾಗಿದೆ",
    "오늘 날씨가 좋네요",
    "Šodien ir jauks laiks, un mēs ejam uz pludmali",
    "Šiandien gražus oras ir mes einame į paplūdimį",
    "ഇന്ന് നല്ല കാലാവസ്ഥയാണ്",
    "आज हवामान खूप छान आहे",
    "Været er fint i dag, og nå skal vi dra til stranda",
    "امروز هوا خیلی خوب است",
    "Dzisiaj jest ładna pogoda i idziemy na plażę",
    "O tempo está bom hoje e vamos à praia",
    "Astăzi este vreme frumoasă și mergem la plajă",
    "Сегодня очень хорошая погода",
    "Данас је лепо време и идемо на море",
    "今天天气很好，我们去公园吧",
    "Dnes je pekné počasie a ideme k vode",
    "Danes je lepo vreme in gremo na plažo",
    "Hoy hace buen tiempo y vamos a la playa",
    "Det är fint väder idag och vi ska till stranden",
    "இன்று வானிலை நன்றாக இருக்கிறது",
    "ఈ రోజు వాతావరణం చాలా బాగుంది",
    "วันนี้อากาศดีมาก",
    "Bugün hava çok güzel ve plaja gidiyoruz",
    "Сьогодні дуже гарна погода",
    "آج موسم بہت اچھا ہے",
    "Hôm nay trời đẹp quá, chúng ta đi chơi nhé các bạn",
    "ဒီနေ့ ရာသီဥတု ကောင်းတယ်",
    "ئەمڕۆ کەشوهەوا زۆر خۆشە",
    "Mwen kontan anpil paske nou pral nan lanmè a jodi a",
    "Veðrið er gott í dag og við förum á ströndina",
    "yaar aaj mausam bahut accha hai",
    "ថ្ងៃនេះអាកាសធាតុល្អណាស់",
    "ມື້ນີ້ອາກາດດີຫຼາຍ",
    "މިއަދު މޫސުން ވަރަށް ރަނގަޅު",
    "आज मौसम धेरै राम्रो छ साथी",
    "ଆଜି ପାଗ ବହୁତ ଭଲ ଅଛି",
    "ਅੱਜ ਮੌਸਮ ਬਹੁਤ ਵਧੀਆ ਹੈ",
    "نن هوا ډېره ښه ده",
    "اڄ موسم ڏاڍي سٺي آهي",
    "අද කාලගුණය ඉතා හොඳයි",
    "Mae'r tywydd yn braf heddiw ac rydyn ni'n mynd i'r traeth",
    "Maganda ang panahon ngayon at pupunta kami sa dalampasigan",
    "དེ་རིང་གནམ་གཤིས་ཡག་པོ་འདུག",
    "بۈگۈن ھاۋا بەك ياخشى",
    "Die weer is vandag mooi en ons gaan strand toe",
    "xqzjk wvbnm",
    "@ana @ben",
    "$TSLA",
    "#rust #programming",
    "https://example.com/ana/status/1/photo/1",
    "ok",
    "https://example.com/news",
    "👍👍",
];

#[test]
fn every_code_of_the_lang_operator_can_be_identified() {
    let identified: Vec<_> = SAMPLES.iter().map(|text| PostTextDraft::parse(text).language()).collect();
    for (code, text) in identified.iter().zip(SAMPLES) {
        assert!(parse_language(code).is_some(), "{code}: {text}");
    }
    let numbers = (1..=u8::MAX).take_while(|number| parse_language(language_code(*number)) == Some(*number));
    for code in numbers.map(language_code).filter(|code| !NEVER_IDENTIFIED.contains(code)) {
        let queried = parse_language(code).unwrap();
        let matches = |found: &&str| language_matches(queried, parse_language(found).unwrap());
        assert!(identified.iter().any(matches), "no sample is {code}: {identified:?}");
    }
}
