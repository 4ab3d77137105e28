//! How many posts a second the index over rules takes, and beside it, over the same rules and
//! posts in the same run, the loop that evaluates every rule and the crate mokaccino.
//!
//! usage: matcher-bench posts.tsv [RULES…]        (posts.tsv: see posts.py)
//!
//! With COLD set, no post was seen when the rules were filed. All times are those that the thread was on a core, so that others on the machine count less.

mod dice;
mod other;
mod posts;
mod rules;

use std::alloc::{GlobalAlloc, Layout, System};
use std::hint::black_box;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use query::{Dialect, Facts, Level, Matcher, Product, Query, Reading, matches, parse};

use dice::Dice;
use posts::Posts;

/// Counts what is allocated: the memory that rules take is what it says, not an estimate.
struct Counted;

static HELD: AtomicUsize = AtomicUsize::new(0);

unsafe impl GlobalAlloc for Counted {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        HELD.fetch_add(layout.size(), Ordering::Relaxed);
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        HELD.fetch_sub(layout.size(), Ordering::Relaxed);
        unsafe { System.dealloc(at, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counted = Counted;

fn main() {
    let mut arguments = std::env::args().skip(1);
    let file = arguments
        .next()
        .expect("usage: matcher-bench posts.tsv [RULES…]");
    let mut sizes: Vec<usize> = arguments
        .map(|size| size.parse().expect("a number"))
        .collect();
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
                black_box(Facts::new(post, Reading::Stream));
            }
        });
        println!(
            "reading a post alone: {:.2} µs",
            micros(spent, posts.all.len())
        );
    }
    for size in sizes {
        run(&posts, size);
    }
}

fn run(posts: &Posts, size: usize) {
    println!("\n## {size} rules");
    let dialect = Dialect::new(Product::Stream, Level::Enterprise);
    let mut dice = Dice(0x5eed);
    let mut writer = rules::Writer::new(posts);
    let mut matcher = Matcher::new();
    let cold = std::env::var_os("COLD").is_some();
    for post in posts.all.iter().filter(|_| !cold) {
        matcher.learn(&Facts::new(post, Reading::Stream));
    }
    let (mut letters, mut parsing, mut adding) = (0, Duration::ZERO, Duration::ZERO);
    let mut kept: Vec<Query> = Vec::new();
    let mut slots = Vec::with_capacity(size);
    let before = HELD.load(Ordering::Relaxed);
    let mut texts = 0;
    for number in 0..size {
        // One that a stop word makes unsound is written anew.
        let query = loop {
            let text = writer.rule(&mut dice);
            let mut query = None;
            parsing += time(|| query = parse(&text, dialect).ok());
            if let Some(query) = query {
                letters += text.chars().count();
                break query;
            }
        };
        adding += time(|| slots.push(matcher.add(number as u64, &query)));
        if size <= 25_000 {
            texts -= HELD.load(Ordering::Relaxed) as isize;
            kept.push(query.clone());
            texts += HELD.load(Ordering::Relaxed) as isize;
        }
    }
    if size <= 25_000 {
        texts += (kept.capacity() * size_of::<Query>()) as isize;
    }
    let held = HELD.load(Ordering::Relaxed) as isize - before as isize - texts;
    println!(
        "rules of {} characters; parse {:.2} µs, add {:.2} µs; {} B a rule allocated ({} B by its own count)",
        letters / size,
        micros(parsing, size),
        micros(adding, size),
        held / size as isize,
        matcher.bytes() / size,
    );
    let (share, found) = posts_per_second(posts, &matcher);
    println!("index: {share:.0} posts/s, {found:.2} matches a post");
    changes(&mut matcher, &mut slots, &mut dice, &mut writer, dialect);
    if !kept.is_empty() {
        every_rule(posts, &kept, share, found);
        other::mokaccino(posts, &kept, share);
    }
}

/// Posts a second with reading them, in the median of seven runs, and matches a post.
fn posts_per_second(posts: &Posts, matcher: &Matcher) -> (f64, f64) {
    let mut found = 0;
    let mut runs: Vec<Duration> = (0..7)
        .map(|_| {
            found = 0;
            time(|| {
                for post in &posts.all {
                    found += matcher.matching(&Facts::new(post, Reading::Stream)).len();
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
    (
        count / runs[runs.len() / 2].as_secs_f64(),
        found as f64 / count,
    )
}

/// Rules that go and come while all others are there.
fn changes(
    matcher: &mut Matcher,
    slots: &mut [query::Slot],
    dice: &mut Dice,
    writer: &mut rules::Writer<'_>,
    dialect: Dialect,
) {
    let rounds = slots.len().min(20_000);
    let fresh: Vec<Query> = std::iter::repeat_with(|| parse(&writer.rule(dice), dialect))
        .flatten()
        .take(rounds)
        .collect();
    let places: Vec<usize> = (0..rounds).map(|_| dice.below(slots.len())).collect();
    let (mut removing, mut adding) = (Duration::ZERO, Duration::ZERO);
    for (query, place) in fresh.iter().zip(places) {
        removing += time(|| {
            black_box(matcher.remove(slots[place]));
        });
        adding += time(|| slots[place] = matcher.add(place as u64, query));
    }
    println!(
        "in place: remove {:.2} µs, add {:.2} µs",
        micros(removing, rounds),
        micros(adding, rounds)
    );
}

fn every_rule(posts: &Posts, rules: &[Query], index: f64, expected: f64) {
    let few = if rules.len() > 5_000 { 200 } else { 2_000 };
    let step = posts.all.len() / few;
    let chosen: Vec<_> = posts.all.iter().step_by(step.max(1)).collect();
    let mut found = 0;
    let spent = time(|| {
        for post in &chosen {
            let facts = Facts::new(post, Reading::Stream);
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

fn micros(spent: Duration, of: usize) -> f64 {
    spent.as_secs_f64() * 1e6 / of as f64
}

fn time(work: impl FnOnce()) -> Duration {
    let before = on_core();
    work();
    on_core() - before
}

/// How long this thread was on a core.
fn on_core() -> Duration {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Duration::new(now.tv_sec as u64, now.tv_nsec as u32)
}
