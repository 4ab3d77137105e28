//! Posts and queries by chance, of few words, so that they often meet.

use std::collections::HashSet;
use std::sync::Arc;

use query::{
    ContextAnnotation, GeoArea, MatchMode, ParsedQuery, PostFeatures, QueryableAuthor, QueryableLink, QueryablePerson,
    QueryablePlace, QueryablePost, UserHandle,
};
use search::{IndexDocument, SearchLookups};

/// A sequence of numbers as good as chance, always the same.
pub(crate) struct Dice(pub(crate) u64);

impl Dice {
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 11).unwrap() % bound
    }

    pub(crate) fn of<T: Copy>(&mut self, list: &[T]) -> T {
        list[self.below(list.len())]
    }

    pub(crate) fn one_in(&mut self, bound: usize) -> bool {
        self.below(bound) == 0
    }
}

pub(crate) const WORDS: [&str; 24] = [
    "tea",
    "Coffee",
    "café",
    "cafe",
    "the",
    "rain",
    "RAIN!",
    "東京",
    "東京タワー",
    "京都",
    "new",
    "york",
    "😀",
    "👍🏽",
    "naïve",
    "don't",
    "x",
    "über",
    "Straße",
    "ภาษาไทย",
    "한국어",
    "e\u{301}t\u{e9}",
    "https://t.co/abc",
    "no-one",
];
pub(crate) const TAGS: [&str; 5] = ["Rain", "café", "news", "東京", "x1"];
pub(crate) const PEOPLE: [(i64, &str); 5] = [(100, "Ana"), (200, "bob_b"), (300, "cy"), (400, "500"), (500, "dee")];
pub(crate) const LISTED: [(i64, &[i64]); 2] = [(77, &[100, 300]), (78, &[])];
const LANGUAGES: [&str; 6] = ["en", "pt", "zh", "zh-CN", "und", "ja"];
const LINKS: [&str; 3] =
    ["https://news.example.com/solar-power?utm=1", "https://tea.example/rain", "https://example.com/"];

/// When the posts begin; one a minute.
pub(crate) const START: i64 = 1_790_000_000_000;
pub(crate) const STEP: i64 = 60_000;

fn handle((id, username): (i64, &'static str)) -> UserHandle<'static> {
    UserHandle { id, username }
}

fn person(who: (i64, &'static str)) -> QueryablePerson<'static> {
    QueryablePerson { handle: handle(who), affiliations: &[] }
}

fn leak<T>(list: Vec<T>) -> &'static [T] {
    Vec::leak(list)
}

fn author(dice: &mut Dice) -> QueryableAuthor<'static> {
    let who = dice.of(&PEOPLE);
    let lists = LISTED.iter().filter(|(_, members)| members.contains(&who.0));
    QueryableAuthor {
        person: person(who),
        verified: who.0 == 100,
        lists: leak(lists.map(|(list, _)| *list).collect()),
        ..QueryableAuthor::default()
    }
}

fn place(dice: &mut Dice) -> QueryablePlace<'static> {
    let boulder = QueryablePlace {
        id: "01a9a39529b27f36",
        full_name: "Boulder, CO",
        country: "US",
        area: Some(GeoArea { west: -105.30, south: 39.96, east: -105.18, north: 40.09 }),
    };
    let york = QueryablePlace { id: "ny1", full_name: "New York, NY", country: "us", area: None };
    dice.of(&[boulder, york])
}

pub(crate) fn text(dice: &mut Dice) -> &'static str {
    let words: Vec<&str> = (0..dice.below(9)).map(|_| dice.of(&WORDS)).collect();
    String::leak(words.join(" "))
}

/// A post by chance.
pub(crate) fn post(dice: &mut Dice, id: i64) -> QueryablePost<'static> {
    let mut post = QueryablePost {
        id,
        author: author(dice),
        text: text(dice),
        lang: dice.of(&LANGUAGES),
        conversation: if dice.one_in(4) { 1 + i64::try_from(dice.below(9)).unwrap() } else { id },
        likes: u64::try_from(dice.below(4)).unwrap(),
        images: dice.one_in(6),
        video: dice.one_in(9),
        ..QueryablePost::default()
    };
    if dice.one_in(3) {
        post.hashtags = leak((0..=dice.below(2)).map(|_| dice.of(&TAGS)).collect());
    }
    if dice.one_in(8) {
        post.cashtags = &["ACME"];
    }
    if dice.one_in(4) {
        post.mentions = leak(vec![handle(dice.of(&PEOPLE))]);
    }
    if dice.one_in(4) {
        let expanded = dice.of(&LINKS);
        post.links = leak(vec![QueryableLink { url: "https://t.co/abc", expanded, ..QueryableLink::default() }]);
    }
    if dice.one_in(3) {
        let answered = 1 + i64::try_from(dice.below(9)).unwrap();
        post.reply_to = Some((answered, person(dice.of(&PEOPLE))));
    }
    if dice.one_in(6) {
        post.quote_of = Some(1 + i64::try_from(dice.below(9)).unwrap());
    }
    if dice.one_in(9) {
        post.place = Some(place(dice));
    }
    if dice.one_in(9) {
        post.point = Some(dice.of(&[(-105.27, 40.01), (-105.9, 40.5), (2.35, 48.85)]));
    }
    if dice.one_in(9) {
        post.annotations = &[
            ContextAnnotation { domain: Some(10), entity: 799, name: "Tea Party" },
            ContextAnnotation { domain: None, entity: 3, name: "New York" },
        ];
    }
    post
}

/// What a store would tell of names and lists.
pub(crate) fn known(query: &ParsedQuery, people: &[(i64, &str)]) -> SearchLookups {
    let mut known = SearchLookups::default();
    for name in query.user_names() {
        let called =
            people.iter().filter(|(id, username)| username.eq_ignore_ascii_case(name) || name.parse() == Ok(*id));
        let ids: Vec<i64> = called.map(|(id, _)| *id).collect();
        known.people.insert(name.to_owned(), ids);
    }
    for list in query.list_ids() {
        let members = LISTED.iter().find(|(id, _)| *id == list);
        let members: HashSet<i64> = members.map_or(&[][..], |(_, of)| of).iter().copied().collect();
        known.lists.insert(list, Arc::new(members));
    }
    known
}

/// A post as the index takes it.
pub(crate) fn entry(post: &QueryablePost<'_>) -> IndexDocument {
    IndexDocument {
        id: post.id,
        created_at_ms: START + post.id * STEP,
        author: post.author.person.handle.id,
        keys: PostFeatures::new(post, MatchMode::Search).index_keys(),
    }
}

pub(crate) const ATOMS: [&str; 50] = [
    "tea",
    "coffee",
    "cafe",
    "CAFÉ",
    "rain",
    "東京",
    "京",
    "タワー",
    "york",
    "😀",
    "👍🏽",
    "naive",
    "don't",
    "uber",
    "strasse",
    "ภาษา",
    "한국어",
    "ete",
    "no-one",
    "\"new york\"",
    "\"tea coffee\"",
    "\"the rain\"",
    "\"cafe cafe tea\"",
    "#rain",
    "#cafe",
    "#東京",
    "@ana",
    "@500",
    "$acme",
    "from:ana",
    "from:500",
    "from:BOB_B",
    "to:cy",
    "to:400",
    "url:\"solar power\"",
    "url:tea",
    "context:10.799",
    "context:10.*",
    "context:*.799",
    "entity:\"tea party\"",
    "entity:york",
    "conversation_id:5",
    "in_reply_to_tweet_id:3",
    "quotes_of_tweet_id:4",
    "list:77",
    "place:\"new york\"",
    "place_country:US",
    "point_radius:[-105.27 40.01 20km]",
    "bounding_box:[-105.5 39.9 -105.1 40.2]",
    "min_likes:2",
];
pub(crate) const NARROW: [&str; 12] = [
    "has:links",
    "has:media",
    "has:hashtags",
    "has:mentions",
    "has:geo",
    "has:images",
    "is:reply",
    "is:quote",
    "is:verified",
    "lang:en",
    "lang:zh-cn",
    "lang:zh",
];

/// A query by chance; most of them can be read.
pub(crate) fn query(dice: &mut Dice) -> String {
    let mut parts = Vec::new();
    for _ in 0..=dice.below(3) {
        let minus = if dice.one_in(4) { "-" } else { "" };
        let part = match dice.below(7) {
            6 => format!("conversation_id:{}", 1 + dice.below(9)),
            0 => dice.of(&NARROW).to_owned(),
            1 => format!("({} OR {})", dice.of(&ATOMS), dice.of(&ATOMS)),
            2 => format!("({} {})", dice.of(&ATOMS), dice.of(&NARROW)),
            3 => format!("{} OR {}", dice.of(&ATOMS), dice.of(&ATOMS)),
            _ => dice.of(&ATOMS).to_owned(),
        };
        parts.push(if part.contains(" OR ") && !part.starts_with('(') { part } else { format!("{minus}{part}") });
    }
    parts.join(" ")
}
