//! How much is written with keywords, where and when, and what comes with them.

use base::{Time, UserId};
use network::places::NewPlace;
use network::posts::{NewPost, PostAuthor};
use post_search::insights::{InsightsCountry, InsightsQuery};

use crate::world::{World, each_engine};

const HOUR_MS: i64 = 3_600_000;
const DAY_MS: i64 = 24 * HOUR_MS;

fn wanted(keywords: &[&str], since: Time, until: Time) -> InsightsQuery {
    InsightsQuery {
        keywords: keywords.iter().map(|&text| text.to_owned()).collect(),
        negatives: Vec::new(),
        since,
        until,
        country: None,
        blocked: Vec::new(),
    }
}

async fn volume(world: &World, expected: &InsightsQuery, step_ms: i64) -> Vec<u64> {
    world.insights(expected, step_ms).await.0
}

#[each_engine]
async fn keyword_bucket_counts_the_posts_of_its_time_span(world: World) {
    let (ana, ben) = (world.user("ana".to_owned()).await, world.user("ben".to_owned()).await);
    let begin = world.clock.now();
    world.say(ana, "A cargo bike and another bike").await;
    world.pass(HOUR_MS);
    world.say(ben, "Bikes! #cargobike Café").await;
    let first = world.say(ben, "cargo, then a bike").await;
    world.pass(HOUR_MS);
    world.say(ben, "a helmet for the BIKE").await;
    world.pass(HOUR_MS / 2);
    let end = world.clock.now();
    let of = async |keywords: &[&str], negatives: &[&str]| {
        let mut requested = wanted(keywords, begin, end);
        requested.negatives = negatives.iter().map(|&text| text.to_owned()).collect();
        volume(&world, &requested, HOUR_MS).await
    };
    assert_eq!(of(&["bike"], &[]).await, [1, 1, 1]);
    // A post counts once, however many of the keywords it holds.
    assert_eq!(of(&["bike", "cargo", "another"], &[]).await, [1, 1, 1]);
    assert_eq!(of(&["bike", "bikes"], &[]).await, [1, 2, 1]);
    assert_eq!(of(&["cargo bike"], &[]).await, [1, 0, 0]);
    assert_eq!(of(&["#cargobike"], &[]).await, [0, 1, 0]);
    assert_eq!(of(&["cafe"], &[]).await, [0, 1, 0]);
    assert_eq!(of(&["bike"], &["helmet", "another"]).await, [0, 1, 0]);
    assert_eq!(of(&["bike"], &["#cargobike"]).await, [1, 1, 1]);
    assert_eq!(of(&["the"], &[]).await, [0, 0, 1]);
    assert_eq!(of(&["nothing"], &[]).await, [0, 0, 0]);
    let day = volume(&world, &wanted(&["bike"], begin, end), DAY_MS).await;
    assert_eq!(day, [3]);
    // The first moment is in, the last is not.
    let late = wanted(&["bike"], begin.plus_ms(1), begin.plus_ms(2 * HOUR_MS));
    assert_eq!(volume(&world, &late, HOUR_MS).await, [1, 0]);
    let early = wanted(&["bike"], begin, begin.plus_ms(2 * HOUR_MS + 1));
    assert_eq!(volume(&world, &early, HOUR_MS).await, [1, 1, 1]);

    // Reposts, posts for promotion, and those of protected and suspended authors do not count.
    let share = move |tx: &mut store::Tx<'_>| network::reposts::repost(tx, ana, None, first);
    world.write(share).await;
    assert_eq!(of(&["bike"], &[]).await, [1, 1, 1]);
    world.write(move |tx| identity::account_states::suspend(tx, ana)).await;
    assert_eq!(of(&["bike"], &[]).await, [0, 1, 1]);
    world.write(move |tx| identity::account_states::restore(tx, ana)).await;
    assert_eq!(of(&["bike"], &[]).await, [1, 1, 1]);
}

#[each_engine]
async fn keyword_country_is_that_of_the_place_or_of_the_author(world: World) {
    let mut users = Vec::new();
    for (name, home) in [("ana", "Lisboa"), ("ben", "Portugal"), ("cem", "Paris"), ("dee", "")] {
        let user = world.user(name.to_owned()).await;
        world.live_at(user, home).await;
        users.push(user);
    }
    let place = |id: &str, code: &str| NewPlace {
        id: id.to_owned(),
        name: format!("Somewhere in {code}"),
        country_code: code.to_owned(),
        kind: "city".to_owned(),
        ..NewPlace::default()
    };
    let (here, there) = (place("00000000000000aa", "PT"), place("00000000000000bb", "FR"));
    world
        .write(move |tx| {
            network::places::create(tx, &here)?;
            network::places::create(tx, &there)
        })
        .await;
    let begin = world.clock.now();
    for user in &users {
        world.say(*user, "my bike").await;
    }
    // From there, whoever writes.
    let from = async |user: UserId, id: &'static str, text: &'static str| {
        let by = PostAuthor { user_id: user, app_id: None, self_serve: false };
        let new = NewPost { text: text.to_owned(), place_id: id.to_owned(), ..NewPost::default() };
        world.write(move |tx| network::posts::create(tx, &by, &new)).await;
    };
    from(users[3], "00000000000000aa", "a bike by the river").await;
    from(users[0], "00000000000000bb", "bike tour abroad").await;
    world.pass(1_000);
    let end = world.clock.now();
    let count = async |code: &str| {
        let mut requested = wanted(&["bike"], begin, end);
        requested.country = Some(InsightsCountry { code: code.to_owned(), residents: world.people_of(code).await });
        volume(&world, &requested, DAY_MS).await
    };
    assert_eq!(count("PT").await, [3]);
    assert_eq!(count("FR").await, [2]);
    assert_eq!(count("ES").await, [0]);
    world.live_at(users[3], "Madrid, Spain").await;
    assert_eq!(count("ES").await, [1]);
    assert_eq!(volume(&world, &wanted(&["bike"], begin, end), DAY_MS).await, [6]);
}

/// Twelve users, of whom half write of coffee and the others of trains; the first of them repeats a term.
async fn coffee_drinkers(world: &World) -> Vec<UserId> {
    let mut users = Vec::new();
    for number in 0..12 {
        users.push(world.user(format!("u{number}")).await);
    }
    for (number, user) in users.iter().enumerate() {
        let text = match number % 4 {
            0 => format!("espresso machine and grinder, morning coffee {number}"),
            1 => format!("coffee with an espresso machine #latte {number}"),
            2 => format!("weather is rainy, train is late {number}"),
            _ => format!("train and weather news again {number}"),
        };
        world.say(*user, &text).await;
    }
    for number in 0..8 {
        let text = format!("coffee spamword spamword buy {number}");
        world.say(users[0], &text).await;
    }
    world.pass(60_000);
    users
}

#[each_engine]
async fn related_keywords_are_those_that_most_users_write_with_it(world: World) {
    let begin = world.clock.now();
    coffee_drinkers(&world).await;
    let requested = wanted(&["coffee"], begin, world.clock.now());
    let (_, related) = world.insights(&requested, DAY_MS).await;
    let place = |term: &str| related.iter().position(|other| other == term);
    assert!(related.len() <= 30);
    assert!(place("espresso machine").is_some() || place("espresso") < Some(2));
    let spam = place("spamword");
    assert!(spam.is_none() || place("espresso") < spam, "{related:?}");
    assert!(place("#latte").is_some(), "{related:?}");
    assert_eq!(place("coffee"), None);
    assert_eq!(place("and"), None);
    assert!(related.iter().all(|term| !term.contains("coffee")));
    let mut distinct = related.clone();
    distinct.sort_unstable();
    distinct.dedup();
    assert_eq!(distinct.len(), related.len());

    // What is denied or blocked does not come.
    let mut other = requested.clone();
    other.negatives = vec!["latte".to_owned()];
    other.blocked = vec!["grinder".to_owned()];
    let (_, fewer) = world.insights(&other, DAY_MS).await;
    assert!(fewer.iter().all(|term| !term.contains("latte") && !term.contains("grinder")));
}

#[each_engine]
async fn related_keywords_are_cached_for_five_minutes_and_counts_are_not(world: World) {
    let begin = world.clock.now();
    let users = coffee_drinkers(&world).await;
    let requested = wanted(&["coffee"], begin, world.clock.now());
    let (_, related) = world.insights(&requested, DAY_MS).await;
    for (number, user) in users.iter().enumerate() {
        world.say(*user, &format!("coffee and croissants {number}")).await;
    }
    world.pass(1);
    let later = InsightsQuery { until: world.clock.now(), ..requested.clone() };
    let (volume, same) = world.insights(&later, DAY_MS).await;
    assert_eq!(same, related);
    assert_eq!(volume, [26]);
    world.pass(300_000);
    let (_, anew) = world.insights(&later, DAY_MS).await;
    assert_eq!(anew.first().map(String::as_str), Some("croissants"), "{anew:?}");
    // Where nothing is written there is nothing to tell but what trends.
    let nothing = wanted(&["zzzz"], begin, world.clock.now());
    assert_eq!(world.insights(&nothing, DAY_MS).await, (vec![0], Vec::new()));
}
