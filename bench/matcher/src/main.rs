//! How many posts per second the index over rules matches, compared with a loop that evaluates
//! every rule and with the mokaccino crate, over the same rules and posts in the same run.
//!
//! usage: matcher-bench posts.tsv [RULES…]        (posts.tsv: see posts.py)
//!
//! With COLD set, no post was counted before the rules are added. All times are CPU times of the
//! thread, which other processes affect less.

mod dice;
mod other;
mod posts;
mod rules;

use std::alloc::{GlobalAlloc, Layout, System};
use std::hint::black_box;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use query::{AccessTier, MatchMode, Matcher, ParsedQuery, PostFeatures, QueryDialect, QueryProduct, matches, parse};

use dice::Dice;
use posts::Posts;

/// Counts allocated bytes, to measure the memory of rules instead of estimating it.
struct CountingAllocator;

static ALLOCATED: AtomicUsize = AtomicUsize::new(0);

unsafe impl GlobalAlloc for CountingAllocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATED.fetch_add(layout.size(), Ordering::Relaxed);
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        ALLOCATED.fetch_sub(layout.size(), Ordering::Relaxed);
        unsafe { System.dealloc(at, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

fn main() {
    let mut arguments = std::env::args().skip(1);
    let file = arguments.next().expect("usage: matcher-bench posts.tsv [RULES…]");
    let mut sizes: Vec<usize> = arguments.map(|size| size.parse().expect("a number")).collect();
    if sizes.is_empty() {
        sizes = vec![1_000, 25_000, 1_000_000];
    }
    let posts = Posts::read(&file);
    println!(
        "{} posts of {} characters in the mean",
        posts.all.len(),
        posts.mean_length()
    );
    for _ in 0..2 {
        let spent = time(|| {
            for post in &posts.all {
                black_box(PostFeatures::new(post, MatchMode::Stream));
            }
        });
        println!("reading a post alone: {:.2} µs", micros(spent, posts.all.len()));
    }
    for size in sizes {
        run(&posts, size);
    }
}

fn run(posts: &Posts, size: usize) {
    println!("\n## {size} rules");
    let dialect = QueryDialect::new(QueryProduct::Stream, AccessTier::Enterprise);
    let mut dice = Dice(0x5eed);
    let mut writer = rules::Writer::new(posts);
    let mut matcher = Matcher::new();
    let cold = std::env::var_os("COLD").is_some();
    for post in posts.all.iter().filter(|_| !cold) {
        matcher.record_frequencies(&PostFeatures::new(post, MatchMode::Stream));
    }
    let (mut letters, mut parsing, mut adding) = (0, Duration::ZERO, Duration::ZERO);
    let mut queries: Vec<ParsedQuery> = Vec::new();
    let mut slots = Vec::with_capacity(size);
    let before = ALLOCATED.load(Ordering::Relaxed);
    let mut texts = 0;
    for number in 0..size {
        // A rule that a stop word makes invalid is generated again.
        let query = loop {
            let text = writer.rule(&mut dice);
            let mut query = None;
            parsing += time(|| query = parse(&text, dialect).ok());
            if let Some(query) = query {
                letters += text.chars().count();
                break query;
            }
        };
        adding += time(|| slots.push(matcher.add_rule(number as u64, &query)));
        if size <= 25_000 {
            texts -= ALLOCATED.load(Ordering::Relaxed) as isize;
            queries.push(query.clone());
            texts += ALLOCATED.load(Ordering::Relaxed) as isize;
        }
    }
    if size <= 25_000 {
        texts += (queries.capacity() * size_of::<ParsedQuery>()) as isize;
    }
    let allocated = ALLOCATED.load(Ordering::Relaxed) as isize - before as isize - texts;
    println!(
        "rules of {} characters; parse {:.2} µs, add {:.2} µs; {} B a rule allocated ({} B by its own count)",
        letters / size,
        micros(parsing, size),
        micros(adding, size),
        allocated / size as isize,
        matcher.memory_bytes() / size,
    );
    let (share, found) = posts_per_second(posts, &matcher);
    println!("index: {share:.0} posts/s, {found:.2} matches a post");
    changes(&mut matcher, &mut slots, &mut dice, &mut writer, dialect);
    if !queries.is_empty() {
        every_rule(posts, &queries, share, found);
        other::mokaccino(posts, &queries, share);
    }
}

/// Posts per second including the extraction of their features (median of seven runs), and matches
/// per post.
fn posts_per_second(posts: &Posts, matcher: &Matcher) -> (f64, f64) {
    let mut found = 0;
    let mut runs: Vec<Duration> = (0..7)
        .map(|_| {
            found = 0;
            time(|| {
                for post in &posts.all {
                    found += matcher
                        .matching_rules(&PostFeatures::new(post, MatchMode::Stream))
                        .len();
                }
            })
        })
        .collect();
    runs.sort();
    let count = posts.all.len() as f64;
    println!(
        "  runs: {}",
        runs.iter()
            .map(|run| format!("{:.0}", count / run.as_secs_f64()))
            .collect::<Vec<_>>()
            .join(" ")
    );
    (count / runs[runs.len() / 2].as_secs_f64(), found as f64 / count)
}

/// Replaces rules while all others are present.
fn changes(
    matcher: &mut Matcher,
    slots: &mut [query::RuleSlot],
    dice: &mut Dice,
    writer: &mut rules::Writer<'_>,
    dialect: QueryDialect,
) {
    let rounds = slots.len().min(20_000);
    let fresh: Vec<ParsedQuery> = std::iter::repeat_with(|| parse(&writer.rule(dice), dialect))
        .flatten()
        .take(rounds)
        .collect();
    let places: Vec<usize> = (0..rounds).map(|_| dice.below(slots.len())).collect();
    let (mut removing, mut adding) = (Duration::ZERO, Duration::ZERO);
    for (query, place) in fresh.iter().zip(places) {
        removing += time(|| {
            black_box(matcher.remove_rule(slots[place]));
        });
        adding += time(|| slots[place] = matcher.add_rule(place as u64, query));
    }
    println!(
        "in place: remove {:.2} µs, add {:.2} µs",
        micros(removing, rounds),
        micros(adding, rounds)
    );
}

fn every_rule(posts: &Posts, rules: &[ParsedQuery], index: f64, expected: f64) {
    let few = if rules.len() > 5_000 { 200 } else { 2_000 };
    let step = posts.all.len() / few;
    let chosen: Vec<_> = posts.all.iter().step_by(step.max(1)).collect();
    let mut found = 0;
    let spent = time(|| {
        for post in &chosen {
            let facts = PostFeatures::new(post, MatchMode::Stream);
            found += rules.iter().filter(|rule| matches(rule, &facts)).count();
        }
    });
    let rate = chosen.len() as f64 / spent.as_secs_f64();
    println!(
        "every rule evaluated: {rate:.1} posts/s ({:.2} matches a post of a sample, {expected:.2} of all): the index is {:.0}×",
        found as f64 / chosen.len() as f64,
        index / rate
    );
}

fn micros(spent: Duration, count: usize) -> f64 {
    spent.as_secs_f64() * 1e6 / count as f64
}

fn time(work: impl FnOnce()) -> Duration {
    let before = cpu_time();
    work();
    cpu_time() - before
}

/// The CPU time of this thread.
fn cpu_time() -> Duration {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Duration::new(now.tv_sec as u64, now.tv_nsec as u32)
}
