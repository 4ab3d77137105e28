//! How fast estimates, serving and keyword insights are over many users and posts.
//!
//!     cargo run --release -p ads-delivery --example reach [users] [posts]
//!
//! Users live in one of fifty countries, each follows ten of them all by Zipf's law, posts over seven
//! days have 6 to 23 words by Zipf's law and one like each. Times are those of the clock.

#![expect(clippy::expect_used, clippy::unwrap_used, reason = "a tool that prints, and ends when something fails")]

use std::sync::Arc;
use std::time::Duration;

use ads::gazetteer::gazetteer;
use ads_delivery::evaluator::{CriterionOperator, Evaluator, TargetedAudience, TargetingCriterion};
use base::encryption::{Keyring, MasterKey};
use base::{Clock, Rng, Time, UserId};
use post_search::PostSearch;
use post_search::insights::{self, InsightsQuery};
use store::{DatabaseLocation, Store, StoreOptions, Tx};

const WEEK_MS: i64 = 7 * 86_400_000;
const NOW_MS: i64 = 1_795_000_000_000;
const WORDS: usize = 200_000;
const ROUNDS: usize = 50;

#[tokio::main]
async fn main() {
    let mut numbers = std::env::args().skip(1).filter_map(|text| text.parse().ok());
    let users: i64 = numbers.next().unwrap_or(1_000_000);
    let posts: i64 = numbers.next().unwrap_or(1_000_000);
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("locum.db");
    let clock = Clock::frozen_at(Time::from_ms(NOW_MS));
    let options = || StoreOptions {
        location: DatabaseLocation::File(file.clone()),
        data_dir: folder.path().to_owned(),
        connections: 4,
        node: 0,
        purpose: store::NodePurpose::Server(store::NodeRoles::ALL),
        migrate: true,
        clock: clock.clone(),
        rng: Rng::Os,
        keyring: Keyring::new(MasterKey::generate(&Rng::from_seed(1)).unwrap(), Vec::new()),
    };
    drop(Store::open(options()).await.expect("a store"));
    let begun = base::clock::monotonic_now();
    fill(&file, users, posts);
    println!("{users} users, {posts} posts: filled in {:.1?}", begun.elapsed());
    let store = Arc::new(Store::open(options()).await.expect("a store"));
    let search = PostSearch::open(&folder.path().join("search")).expect("an index");
    let begun = base::clock::monotonic_now();
    search.drain_log(&store).await.expect("indexed");
    println!("indexed in {:.1?}", begun.elapsed());
    let evaluator = Evaluator::new(Some(Arc::clone(&search).into()));
    reach(&store, &evaluator, users).await;
    for (keyword, place) in [("w5", None), ("w200", None), ("w5000", None), ("w200", Some("PT"))] {
        look(&store, &evaluator, keyword, place).await;
    }
}

async fn reach(store: &Store, evaluator: &Arc<Evaluator>, users: i64) {
    let code = |number: usize| {
        let all = gazetteer().all();
        all.get(number).map(|spot| spot.id.clone()).unwrap_or_default()
    };
    let one = |kind: &str, value: String, operator| TargetingCriterion { kind: kind.to_owned(), value, operator };
    let user = |number: i64| ((number << 22) + 1).to_string();
    let criteria = vec![
        one("FOLLOWERS_OF_USER", user(1), CriterionOperator::Eq),
        one("FOLLOWERS_OF_USER", user(2), CriterionOperator::Eq),
        one("FOLLOWERS_OF_USER", user(3), CriterionOperator::Eq),
        one("PHRASE_KEYWORD", "w300".to_owned(), CriterionOperator::Eq),
        one("BROAD_KEYWORD", "w400 w3".to_owned(), CriterionOperator::Eq),
        one("LOCATION", code(0), CriterionOperator::Eq),
        one("LOCATION", code(1), CriterionOperator::Eq),
        one("LOCATION", code(2), CriterionOperator::Eq),
        one("LANGUAGE", "en".to_owned(), CriterionOperator::Eq),
        one("PHRASE_KEYWORD", "w500".to_owned(), CriterionOperator::Ne),
    ];
    let audience = TargetedAudience { criteria, ..TargetedAudience::default() };
    let (mut first, mut times, mut count) = (Duration::ZERO, Vec::new(), 0);
    for round in 0..ROUNDS {
        let (evaluator, audience) = (Arc::clone(evaluator), audience.clone());
        let read = move |tx: &mut Tx<'_>| {
            let begun = base::clock::monotonic_now();
            let count = evaluator.estimate(tx, &audience)?.count;
            Ok((count, begun.elapsed()))
        };
        let (found, took) = store.read(read).await.expect("estimated");
        count = found;
        if round == 0 {
            first = took;
        } else {
            times.push(took);
        }
    }
    let (half, most) = percentiles(&mut times);
    println!("ten criteria reach {count}: first {first:.1?}, then p50 {half:.1?}, p99 {most:.1?}");
    let mut times = Vec::new();
    for round in 0..ROUNDS {
        let (evaluator, audience) = (Arc::clone(evaluator), audience.clone());
        let viewer = UserId::new(((i64::try_from(round).unwrap_or(0) * 7 % users) << 22) + 1);
        let read = move |tx: &mut Tx<'_>| {
            let begun = base::clock::monotonic_now();
            evaluator.refresh(tx)?;
            evaluator.filter_reached(tx, &audience, vec![Some(viewer)])?;
            Ok(begun.elapsed())
        };
        times.push(store.read(read).await.expect("looked at"));
    }
    let (half, most) = percentiles(&mut times);
    println!("one viewer: p50 {half:.1?}, p99 {most:.1?}");
}

async fn look(store: &Store, evaluator: &Arc<Evaluator>, keyword: &str, place: Option<&str>) {
    let (mut volumes, mut related, mut count, mut told) = (Vec::new(), Vec::new(), 0, 0);
    for round in 0..10 {
        let evaluator = Arc::clone(evaluator);
        let (keyword, place) = (keyword.to_owned(), place.map(str::to_owned));
        let read = move |tx: &mut Tx<'_>| {
            let country = match &place {
                Some(code) => Some(insights::InsightsCountry {
                    code: code.clone(),
                    residents: evaluator.users_in_country(tx, &gazetteer().find_country(code).unwrap().id)?,
                }),
                None => None,
            };
            let wanted = InsightsQuery {
                keywords: vec![keyword.clone()],
                negatives: vec!["w7".to_owned()],
                since: Time::from_ms(NOW_MS - WEEK_MS),
                until: Time::from_ms(NOW_MS),
                country,
                // Never the same question.
                blocked: vec![format!("b{round}")],
            };
            let snapshot = evaluator.search_index()?;
            let begun = base::clock::monotonic_now();
            let volume = insights::count_volume(tx, &*snapshot, &wanted, 3_600_000)?;
            let counted = begun.elapsed();
            let related = evaluator.insights.find_related_keywords(tx, &*snapshot, &wanted)?;
            let total: u64 = volume.iter().sum();
            Ok((total, counted, related.len(), begun.elapsed()))
        };
        let (total, counted, found, all) = store.read(read).await.expect("looked into");
        volumes.push(counted);
        related.push(all);
        (count, told) = (total, found);
    }
    let ((volume, _), (half, most)) = (percentiles(&mut volumes), percentiles(&mut related));
    let place = place.unwrap_or("anywhere");
    println!(
        "{keyword} {place}: {count} posts, volume p50 {volume:.1?}; with {told} related keywords \
         p50 {half:.1?}, most {most:.1?}"
    );
}

fn fill(file: &std::path::Path, users: i64, posts: i64) {
    let mut dice = Dice(0x5eed);
    let mut conn = rusqlite::Connection::open(file).expect("the file");
    conn.execute_batch("PRAGMA synchronous = OFF").expect("set");
    let tx = conn.transaction().expect("a transaction");
    let names: Vec<&str> = gazetteer().all().iter().take(50).map(|spot| spot.name).collect();
    let user = |number: i64| (number << 22) + 1;
    {
        let mut add = tx
            .prepare(
                "INSERT INTO users (id, username, handle, name, created_at, location) \
                 VALUES (?1, ?2, ?2, ?2, ?3, ?4)",
            )
            .unwrap();
        let mut follow =
            tx.prepare("INSERT OR IGNORE INTO follow (source_id, target_id, id) VALUES (?1, ?2, ?3)").unwrap();
        let recent = base::id::first_snowflake_at(Time::from_ms(NOW_MS - WEEK_MS));
        for number in 1..=users {
            let home = names.get(dice.below(names.len())).copied().unwrap_or_default();
            let values = (user(number), format!("u{number}"), NOW_MS, home);
            add.execute(values).unwrap();
            for _ in 0..10 {
                let other = i64::try_from(dice.zipf(WORDS)).unwrap_or(1);
                let id = recent + number * 10;
                follow.execute((user(number), user(other), id)).unwrap();
            }
        }
        let mut post = tx
            .prepare(
                "INSERT INTO post (id, author_id, created_at, text, lang, conversation_id) \
                 VALUES (?1, ?2, ?3, ?4, ?5, ?1)",
            )
            .unwrap();
        let mut like = tx.prepare("INSERT INTO post_like (user_id, post_id, id) VALUES (?1, ?2, ?2)").unwrap();
        for number in 0..posts {
            let at = NOW_MS - WEEK_MS + WEEK_MS / posts.max(1) * number;
            let id = base::id::first_snowflake_at(Time::from_ms(at)) + number % 4_096;
            let count = 6 + dice.below(18);
            let words: Vec<String> = (0..count).map(|_| format!("w{}", dice.zipf(WORDS))).collect();
            let someone = |dice: &mut Dice| {
                let number = dice.below(usize::try_from(users).unwrap_or(1));
                user(1 + i64::try_from(number).unwrap_or(0))
            };
            let lang = if dice.below(20) == 0 { "pt" } else { "en" };
            post.execute((id, someone(&mut dice), at, words.join(" "), lang)).unwrap();
            like.execute((someone(&mut dice), id)).unwrap();
        }
    }
    tx.commit().expect("committed");
    conn.execute_batch("ANALYZE").expect("counted");
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

    /// A rank: each as often as one over it.
    #[expect(
        clippy::as_conversions,
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "chance"
    )]
    fn zipf(&mut self, ranks: usize) -> usize {
        let part = self.next() as f64 / (1_u64 << 53) as f64;
        (ranks as f64).powf(part) as usize
    }
}

fn percentiles(times: &mut [Duration]) -> (Duration, Duration) {
    times.sort_unstable();
    let at = |part: usize| {
        let place = times.len() * part / 100;
        times.get(place).copied().unwrap_or_default()
    };
    (at(50), at(99))
}
