//! Frequent words without meaning of their own, by language.

use std::collections::HashSet;
use std::sync::LazyLock;

/// The words of each language, including those of English, which occurs everywhere.
static ALL: LazyLock<Vec<(&str, HashSet<&str>)>> = LazyLock::new(|| {
    [
        ("en", ENGLISH),
        ("es", SPANISH),
        ("pt", PORTUGUESE),
        ("fr", FRENCH),
        ("de", GERMAN),
        ("it", ITALIAN),
        ("nl", DUTCH),
    ]
    .into_iter()
    .map(|(language, words)| (language, words.iter().chain(ENGLISH).copied().collect()))
    .collect()
});

/// English for unknown languages.
pub(super) fn find_stop_words(language: &str) -> Option<&'static HashSet<&'static str>> {
    let own = ALL.iter().find(|(name, _)| *name == language);
    own.or(ALL.first()).map(|(_, words)| words)
}

const ENGLISH: &[&str] = &[
    "about", "after", "again", "all", "also", "always", "and", "any", "are", "aren", "back", "because", "been",
    "before", "being", "but", "can", "come", "could", "did", "didn", "does", "doesn", "doing", "don", "done", "down",
    "each", "even", "ever", "every", "few", "for", "from", "get", "gets", "getting", "going", "gonna", "got", "had",
    "has", "have", "having", "her", "here", "hers", "him", "his", "how", "into", "isn", "its", "just", "know", "let",
    "like", "lol", "made", "make", "many", "may", "more", "most", "much", "must", "never", "not", "now", "off", "one",
    "only", "other", "our", "out", "over", "own", "really", "said", "same", "say", "see", "she", "should", "some",
    "still", "such", "take", "than", "that", "the", "their", "them", "then", "there", "these", "they", "thing",
    "things", "think", "this", "those", "too", "under", "until", "very", "want", "was", "way", "well", "were", "what",
    "when", "where", "which", "while", "who", "why", "will", "with", "won", "would", "yeah", "yes", "yet", "you",
    "your",
];
const SPANISH: &[&str] = &[
    "algo", "ante", "aquí", "cada", "como", "con", "cual", "cuando", "del", "desde", "donde", "ella", "ellas", "ellos",
    "ero", "era", "esa", "ese", "eso", "esta", "estaba", "están", "este", "esto", "estoy", "está", "fue", "fueron",
    "había", "hace", "han", "hasta", "hay", "las", "les", "los", "más", "mientras", "muy", "mucho", "nada", "nos",
    "nosotros", "otra", "otro", "para", "pero", "por", "porque", "que", "quien", "qué", "ser", "sin", "sobre", "solo",
    "son", "soy", "sus", "también", "tan", "tanto", "tener", "tiene", "todo", "todos", "una", "uno", "unos", "ya",
    "yo",
];
const PORTUGUESE: &[&str] = &[
    "ainda", "ali", "algo", "aqui", "assim", "até", "cada", "com", "como", "das", "dela", "dele", "depois", "dos",
    "ela", "elas", "ele", "eles", "era", "essa", "esse", "esta", "estava", "este", "está", "estão", "foi", "foram",
    "hoje", "isso", "isto", "mais", "mas", "mesmo", "meu", "minha", "muito", "não", "nas", "nem", "nos", "nós", "num",
    "numa", "onde", "ontem", "outra", "outro", "para", "pela", "pelo", "por", "porque", "pra", "quando", "que", "quem",
    "sem", "ser", "seu", "sobre", "sua", "são", "também", "tem", "ter", "toda", "todo", "tudo", "uma", "umas", "uns",
    "você", "vocês",
];
const FRENCH: &[&str] = &[
    "alors", "après", "aussi", "autre", "avec", "avoir", "bien", "car", "ceci", "cela", "celle", "celui", "ces", "cet",
    "cette", "chez", "comme", "dans", "des", "dont", "donc", "elle", "elles", "encore", "est", "était", "être", "eux",
    "fait", "fois", "font", "ici", "ils", "les", "leur", "leurs", "lui", "mais", "mes", "même", "moi", "mon", "nos",
    "notre", "nous", "ont", "par", "pas", "plus", "pour", "pourquoi", "quand", "que", "quel", "quelle", "qui", "quoi",
    "sans", "ses", "son", "sont", "sous", "sur", "tes", "toi", "ton", "tous", "tout", "toute", "très", "trop", "une",
    "vos", "votre", "vous",
];
const GERMAN: &[&str] = &[
    "aber", "alle", "alles", "als", "also", "am", "auch", "auf", "aus", "bei", "bin", "bis", "bist", "da", "damit",
    "dann", "das", "dass", "dem", "den", "denn", "der", "des", "die", "dies", "diese", "dieser", "doch", "dort", "du",
    "durch", "ein", "eine", "einem", "einen", "einer", "eines", "er", "es", "etwas", "für", "gegen", "habe", "haben",
    "hat", "hier", "ich", "ihm", "ihn", "ihr", "ihre", "immer", "ist", "jetzt", "kann", "kein", "keine", "mal", "man",
    "mehr", "mein", "meine", "mich", "mir", "mit", "nach", "nicht", "noch", "nur", "oder", "ohne", "schon", "sehr",
    "sein", "seine", "sich", "sie", "sind", "sondern", "über", "und", "uns", "unter", "viel", "vom", "von", "vor",
    "war", "was", "weil", "wenn", "wer", "wie", "wieder", "wir", "wird", "wurde", "zum", "zur", "zwischen",
];
const ITALIAN: &[&str] = &[
    "alla", "alle", "anche", "ancora", "che", "chi", "come", "con", "cosa", "così", "dal", "dalla", "dei", "del",
    "della", "delle", "dello", "dopo", "dove", "era", "essere", "fare", "fatto", "gli", "hai", "hanno", "loro", "lui",
    "mai", "mentre", "mia", "mio", "molto", "nei", "nel", "nella", "noi", "non", "ogni", "oggi", "per", "perché",
    "però", "più", "poi", "prima", "quale", "quando", "quello", "questa", "questo", "qui", "sei", "sempre", "senza",
    "solo", "sono", "stato", "sua", "sul", "sulla", "suo", "tutti", "tutto", "una", "uno", "voi",
];
const DUTCH: &[&str] = &[
    "aan", "alle", "alles", "als", "ben", "bij", "daar", "dan", "dat", "der", "deze", "die", "dit", "doen", "door",
    "dus", "een", "eens", "en", "geen", "haar", "had", "heb", "hebben", "heeft", "hem", "het", "hier", "hij", "hoe",
    "hun", "ja", "je", "kan", "maar", "meer", "men", "met", "mij", "mijn", "naar", "niet", "niets", "nog", "nu", "ons",
    "ook", "over", "toch", "toen", "tot", "uit", "van", "veel", "voor", "waar", "was", "wat", "weer", "wel", "werd",
    "wie", "wij", "worden", "zal", "zei", "zelf", "zich", "zij", "zijn", "zo", "zonder", "zou",
];
