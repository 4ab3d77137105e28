//! How fast the index takes posts, finds them and counts them.
//!
//!     cargo run --release -p search --example speed [posts]
//!
//! Posts over seven days, 6 to 23 words each by Zipf's law. Times of searches are those of the
//! clock on one thread, and what the thread used of a core (Linux).

#![expect(clippy::expect_used, reason = "a tool that prints, and ends when something fails")]

use std::sync::Arc;
use std::time::{Duration, Instant};

use query::{
    AccessTier, MatchMode, PostFeatures, QueryDialect, QueryProduct, QueryableAuthor, QueryablePerson, QueryablePost,
    UserHandle, parse,
};
use search::{IndexDocument, IndexSnapshot, PostIndex, QueryPlan, SearchLookups, SearchWindow};

const WEEK_MS: i64 = 7 * 86_400_000;
const EPOCH_MS: i64 = 1_288_834_974_657;
const END: i64 = 1_795_000_000_000;
const WORDS: usize = 200_000;
const ROUNDS: usize = 300;

fn main() {
    let count: i64 = std::env::args().nth(1).and_then(|text| text.parse().ok()).unwrap_or(1_000_000);
    let folder = std::env::temp_dir().join(format!("speed-{}", std::process::id()));
    let index = PostIndex::open(&folder).expect("a folder for the index");
    fill(&index, count);
    let snapshot = index.snapshot();
    println!("{} posts, {} MB on disk, {} MB resident", snapshot.len(), size(&folder) >> 20, resident() >> 10);
    for query in QUERIES {
        search(&snapshot, query);
    }
    for query in ["w1", "w1000 OR w1001", "w10 has:links -from:500"] {
        count_week(&snapshot, query);
    }
    let mut written = Vec::new();
    for number in 0..50 {
        let begun = now();
        index.add_documents(&[entry(&mut Dice(number + 1), count + 1, count)], true).expect("added");
        index.commit("m").expect("committed");
        written.push(begun.elapsed());
    }
    let (half, most) = percentiles(&mut written);
    println!("one post added, committed and opened: p50 {half:?}, p99 {most:?}");
    println!("{} MB resident at the end, {} threads", resident() >> 10, threads());
    drop((snapshot, index));
    let _left = std::fs::remove_dir_all(folder);
}

const QUERIES: [&str; 18] = [
    "w1",
    "w20",
    "w500",
    "w20000",
    "nothing_at_all",
    "w1 w500",
    "w1 OR w500",
    "\"w1 w2\"",
    "\"w30 w40\"",
    "from:77",
    "from:77 w1",
    "w1 has:links -is:reply",
    "w1 lang:pt",
    "#t3",
    "w1 -w2 -w3",
    "(w1 OR w2) (w3 OR w4) -w5",
    "w5000 OR w6000 OR w7000 OR w8000 OR w9000",
    "w19999 w18888",
];

fn fill(index: &PostIndex, count: i64) {
    let mut dice = Dice(0x5eed);
    let (begun, used) = (now(), process_time());
    let mut some = Vec::new();
    for number in 0..count {
        some.push(entry(&mut dice, number, count));
        if some.len() == 500 || number + 1 == count {
            index.add_documents(&some, true).expect("added");
            some.clear();
        }
        if number % 20_000 == 19_999 {
            index.commit("m").expect("committed");
        }
    }
    index.commit("m").expect("committed");
    let (took, used) = (begun.elapsed(), process_time().saturating_sub(used));
    let rate = u32::try_from(count).map_or(0.0, f64::from) / took.as_secs_f64();
    println!("{count} posts filed in {took:.1?}, {used:.1?} of cores: {rate:.0} posts/s");
}

fn search(snapshot: &Arc<IndexSnapshot>, text: &str) {
    let plan = plan(text, QueryProduct::RecentSearch);
    let begun = thread_time();
    let (mut times, mut found) = (Vec::new(), 0);
    for _ in 0..ROUNDS {
        let begun = now();
        found = snapshot.newest_hits(&plan, &SearchWindow::ALL, 101).expect("searched").len();
        times.push(begun.elapsed());
    }
    let used = (thread_time().saturating_sub(begun)) / u32::try_from(ROUNDS).unwrap_or(1);
    let (half, most) = percentiles(&mut times);
    println!("{text:>45}: {found:>3} found, p50 {half:>9.1?}, p99 {most:>9.1?}, {used:>9.1?} of a core");
}

fn count_week(snapshot: &Arc<IndexSnapshot>, text: &str) {
    let plan = plan(text, QueryProduct::RecentCounts);
    let (mut times, mut total) = (Vec::new(), 0);
    let hour = |at: i64| usize::try_from((at - (END - WEEK_MS)) / 3_600_000).ok();
    for _ in 0..50 {
        let mut hours = vec![0_u64; 170];
        let begun = now();
        snapshot.count_by_time(&plan, &SearchWindow::ALL, hour, &mut hours).expect("counted");
        times.push(begun.elapsed());
        total = hours.iter().sum();
    }
    let (half, most) = percentiles(&mut times);
    println!("{text:>45}: {total} counted by the hour, p50 {half:.1?}, p99 {most:.1?}");
}

fn plan(text: &str, product: QueryProduct) -> QueryPlan {
    let query = parse(text, QueryDialect::new(product, AccessTier::Enterprise)).expect("a query");
    let mut known = SearchLookups::default();
    for name in query.user_names() {
        let id = name.parse().unwrap_or(0);
        known.people.insert(name.to_owned(), vec![id]);
    }
    QueryPlan::new(&query, &known)
}

fn entry(dice: &mut Dice, number: i64, of: i64) -> IndexDocument {
    let words: Vec<String> = (0..6 + dice.below(18)).map(|_| format!("w{}", dice.zipf())).collect();
    let text = words.join(" ");
    let at = END - WEEK_MS + WEEK_MS / of.max(1) * number;
    let id = ((at - EPOCH_MS) << 22) + i64::try_from(dice.below(4_096)).unwrap_or(0);
    let author = 1 + i64::try_from(dice.below(10_000)).unwrap_or(0);
    let handle = UserHandle { id: author, username: "someone" };
    let person = QueryablePerson { handle, affiliations: &[] };
    let tag = format!("t{}", dice.below(500));
    let link = [query::QueryableLink {
        url: "https://t.co/x",
        expanded: "https://example.com/a/b",
        ..query::QueryableLink::default()
    }];
    let post = QueryablePost {
        id,
        conversation: id,
        author: QueryableAuthor { person, ..QueryableAuthor::default() },
        text: &text,
        lang: if dice.below(20) == 0 { "pt" } else { "en" },
        hashtags: if dice.below(5) == 0 { &[&*tag] } else { &[] },
        links: if dice.below(5) == 0 { &link } else { &[] },
        reply_to: (dice.below(3) == 0).then_some((id - 1, person)),
        ..QueryablePost::default()
    };
    IndexDocument { id, created_at_ms: at, author, keys: PostFeatures::new(&post, MatchMode::Search).index_keys() }
}

/// A sequence of numbers as good as chance, always the same.
struct Dice(u64);

impl Dice {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 >> 11
    }

    fn below(&mut self, bound: usize) -> usize {
        usize::try_from(self.next()).unwrap_or(0) % bound
    }

    /// The rank of a word: each as often as one over its rank.
    #[expect(
        clippy::as_conversions,
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "chance"
    )]
    fn zipf(&mut self) -> usize {
        let part = self.next() as f64 / (1_u64 << 53) as f64;
        (WORDS as f64).powf(part) as usize
    }
}

fn percentiles(times: &mut [Duration]) -> (Duration, Duration) {
    times.sort_unstable();
    let at = |part: usize| times.get(times.len() * part / 100).copied().unwrap_or_default();
    (at(50), at(99))
}

fn now() -> Instant {
    base::clock::monotonic_now()
}

fn thread_time() -> Duration {
    let stat = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let nanos = stat.split(' ').next().and_then(|first| first.parse().ok());
    Duration::from_nanos(nanos.unwrap_or(0))
}

fn process_time() -> Duration {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
    let ticks = |place: usize| fields.get(place).and_then(|text| text.parse::<u64>().ok()).unwrap_or(0);
    Duration::from_millis((ticks(11) + ticks(12)) * 10)
}

fn resident() -> u64 {
    status("VmRSS:")
}

fn threads() -> u64 {
    status("Threads:")
}

fn status(name: &str) -> u64 {
    let text = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix(name));
    let number = line.and_then(|line| line.split_whitespace().next());
    number.and_then(|number| number.parse().ok()).unwrap_or(0)
}

fn size(folder: &std::path::Path) -> u64 {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    entries
        .map(|entry| match entry.metadata() {
            Ok(meta) if meta.is_dir() => size(&entry.path()),
            Ok(meta) => meta.len(),
            Err(_) => 0,
        })
        .sum()
}
