//! Whom criteria reach: exact numbers on made worlds, and the same for all as for each.

use std::sync::Arc;

use ads::gazetteer::gazetteer;
use ads_delivery::evaluator::CriterionOperator::{Eq, Ne};
use ads_delivery::evaluator::{Evaluator, TargetedAudience, TargetingCriterion};
use base::{PostId, UserId};
use store::ads::options::TargetingOption;

use crate::world::{World, audience, criterion, each_engine};

const DAY_MS: i64 = 86_400_000;

/// Numbers that look random, the same for the same seed.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        let next = self.0.wrapping_mul(6_364_136_223_846_793_005);
        self.0 = next.wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % sides
    }

    fn pick<'a, T>(&mut self, some: &'a [T]) -> &'a T {
        &some[self.roll(some.len())]
    }
}

async fn people(world: &World, count: usize) -> Vec<UserId> {
    let mut all = Vec::new();
    for number in 0..count {
        all.push(world.user(format!("p{number}")).await);
    }
    all
}

fn country(code: &str) -> String {
    gazetteer().find_country(code).unwrap().id.clone()
}

async fn follow(world: &World, source: UserId, target: UserId) {
    world.write(move |tx| network::follows::follow(tx, source, target)).await;
}

const TEXTS: [&str; 6] = [
    "my new cargo bike",
    "cargo bike",
    "bikes and cargo ships",
    "helmet #bicycling today",
    "o comboio chegou tarde outra vez hoje",
    "bicycling in the rain",
];

/// Lets users live somewhere and write; their posts.
async fn random_posts(world: &World, rng: &mut Dice, users: &[UserId]) -> Vec<PostId> {
    let mut posts = Vec::new();
    for user in users {
        let places = ["Lisbon, Portugal", "Porto", "Paris", "nowhere at all", ""];
        world.live_at(*user, places[rng.roll(5)]).await;
        for round in 0..rng.roll(3) {
            // No two posts are the same.
            let text = format!("{} {}", TEXTS[rng.roll(6)], "🚲".repeat(posts.len() + 1));
            let text = if round == 0 && rng.roll(3) == 0 { TEXTS[rng.roll(6)].to_owned() } else { text };
            let message = world.say(*user, &text).await;
            posts.push(message);
        }
    }
    posts
}

/// Lets users like, follow and unfollow.
async fn random_actions(world: &World, rng: &mut Dice, users: &[UserId], posts: &[PostId]) {
    for _ in 0..120 {
        let (user, other, post) = (*rng.pick(users), *rng.pick(users), *rng.pick(posts));
        match rng.roll(4) {
            0 => {
                world.write(move |tx| network::likes::like(tx, user, post)).await;
            }
            1 if user != other => {
                world.write(move |tx| Ok(network::follows::unfollow(tx, user, other)?)).await;
            }
            _ if user != other => follow(world, user, other).await,
            _ => {}
        }
    }
}

fn random_criterion(rng: &mut Dice, users: &[UserId]) -> TargetingCriterion {
    let operator = if rng.roll(5) == 0 { Ne } else { Eq };
    let (kind, value) = match rng.roll(12) {
        0 | 1 => ("FOLLOWERS_OF_USER", rng.pick(users).to_string()),
        2 => ("SIMILAR_TO_FOLLOWERS_OF_USER", rng.pick(users).to_string()),
        3 => ("BROAD_KEYWORD", "bike".to_owned()),
        4 => ("PHRASE_KEYWORD", "cargo bike".to_owned()),
        5 => ("EXACT_KEYWORD", "cargo bike".to_owned()),
        6 => ("UNORDERED_KEYWORD", "bikes cargo".to_owned()),
        7 => ("INTEREST", "17003".to_owned()),
        8 | 9 => ("LOCATION", country(["PT", "FR"][rng.roll(2)])),
        10 => ("LANGUAGE", ["en", "pt"][rng.roll(2)].to_owned()),
        _ => ("GENDER", "1".to_owned()),
    };
    criterion(kind, value, operator)
}

/// Changes something that estimates must follow.
async fn random_change(world: &World, rng: &mut Dice, users: &[UserId], round: usize, (user, other): (UserId, UserId)) {
    match round % 6 {
        0 if user != other => follow(world, user, other).await,
        1 if user != other => {
            world.write(move |tx| Ok(network::follows::unfollow(tx, user, other)?)).await;
        }
        2 => {
            world.live_at(user, ["Lisboa", "Lyon", ""][rng.roll(3)]).await;
        }
        3 => world.pass(601_000),
        4 if user != users[0] => {
            let first = users[0];
            world.write(move |tx| network::blocks::block(tx, user, first)).await;
        }
        _ => {}
    }
}

/// An evaluator without a cache has the same estimate.
async fn assert_same_without_cache(world: &World, audience: TargetedAudience) {
    let fresh = Evaluator::new(None);
    let cached = world.estimate(&audience).await;
    let requested = audience.clone();
    let again = move |tx: &mut store::Tx<'_>| fresh.estimate(tx, &requested);
    assert_eq!(world.store.read(again).await.unwrap(), cached, "{audience:?}");
}

async fn assert_reached(world: &World, users: &[UserId], expected: &[UserId], criteria: Vec<TargetingCriterion>) {
    let all = audience(criteria);
    let found = world.admitted(&all, users).await;
    assert_eq!(found, expected, "{all:?}");
    let count = world.estimate(&all).await.count;
    assert_eq!(count, u64::try_from(expected.len()).unwrap(), "{all:?}");
}

fn one(kind: &str, value: &str) -> Vec<TargetingCriterion> {
    vec![criterion(kind, value, Eq)]
}

/// Ten users, of whom the second to the fourth follow the first.
async fn followers(world: &World) -> (Vec<UserId>, TargetingCriterion) {
    let users = people(world, 10).await;
    for source in &users[1..4] {
        follow(world, *source, users[0]).await;
    }
    let followers = criterion("FOLLOWERS_OF_USER", users[0], Eq);
    (users, followers)
}

#[each_engine]
async fn estimate_counts_the_users_whom_the_evaluator_admits(world: World) {
    let mut rng = Dice(7);
    let users = people(&world, 30).await;
    let posts = random_posts(&world, &mut rng, &users).await;
    random_actions(&world, &mut rng, &users, &posts).await;
    let (mut reached, mut some) = (0, 0);
    for round in 0..60 {
        let mut all = TargetedAudience { advertiser: Some(users[0]), ..TargetedAudience::default() };
        for _ in 0..=rng.roll(4) {
            all.criteria.push(random_criterion(&mut rng, &users));
        }
        let estimate = world.estimate(&all).await;
        let admitted = world.admitted(&all, &users).await;
        let count = u64::try_from(admitted.len()).unwrap();
        assert_eq!(estimate.count, count, "{all:?}");
        reached += estimate.count;
        some += u64::from(estimate.count > 0 && count < 30);
        // The world goes on between the questions; what is kept must follow.
        let (user, other) = (*rng.pick(&users), *rng.pick(&users));
        random_change(&world, &mut rng, &users, round, (user, other)).await;
        let plain = TargetedAudience { criteria: vec![criterion("FOLLOWERS_OF_USER", other, Eq)], ..all };
        assert_same_without_cache(&world, plain).await;
    }
    assert!(some > 15 && reached > 100, "{some} {reached}");
}

#[each_engine]
async fn criteria_of_followers_and_places_are_combined_and_excluded(world: World) {
    let (users, followers) = followers(&world).await;
    let is = async |expected: &[UserId], all: Vec<TargetingCriterion>| {
        assert_reached(&world, &users, expected, all).await;
    };
    let [_, b, c, d, e, ..] = users[..] else { panic!() };
    is(&users, Vec::new()).await;
    is(&[b, c, d], vec![followers.clone()]).await;
    // Primary criteria join; others narrow; what is denied is taken away.
    world.live_at(b, "Lisbon, Portugal").await;
    world.live_at(e, "Portugal").await;
    world.live_at(c, "Paris").await;
    let place = |code: &str, operator| criterion("LOCATION", country(code), operator);
    is(&[b], vec![followers.clone(), place("PT", Eq)]).await;
    is(&[c, d], vec![followers.clone(), place("PT", Ne)]).await;
    let either = vec![followers.clone(), place("PT", Eq), place("FR", Eq)];
    is(&[b, c], either).await;
    let lisbon = gazetteer().all().iter().find(|spot| spot.name == "Lisbon");
    is(&[b], one("LOCATION", &lisbon.unwrap().id)).await;
    world.live_at(b, "Faro").await;
    is(&[], one("LOCATION", &lisbon.unwrap().id)).await;
}

#[each_engine]
async fn keywords_reach_users_who_write_or_like_them(world: World) {
    let (users, followers) = followers(&world).await;
    let is = async |expected: &[UserId], all: Vec<TargetingCriterion>| {
        assert_reached(&world, &users, expected, all).await;
    };
    let [_, b, c, d, e, f, ..] = users[..] else { panic!() };
    let post = world.say(e, "Two cargo bikes, one helmet").await;
    world.say(f, "cargo bike").await;
    world.write(move |tx| network::likes::like(tx, d, post)).await;
    is(&[d, e, f], one("BROAD_KEYWORD", "bike")).await;
    is(&[f], one("BROAD_KEYWORD", "+bike")).await;
    is(&[f], one("PHRASE_KEYWORD", "Cargo Bike")).await;
    is(&[f], one("EXACT_KEYWORD", "cargo bike")).await;
    is(&[], one("EXACT_KEYWORD", "cargo")).await;
    is(&[d, e], one("UNORDERED_KEYWORD", "helmet cargo")).await;
    is(&[d, e], one("PHRASE_KEYWORD", "one helmet")).await;
    let both = vec![followers.clone(), criterion("PHRASE_KEYWORD", "helmet", Eq)];
    is(&[b, c, d, e], both).await;
    let without = vec![followers.clone(), criterion("PHRASE_KEYWORD", "helmet", Ne)];
    is(&[b, c], without).await;
}

#[each_engine]
async fn interest_and_language_reach_users_by_their_posts_and_follows(world: World) {
    let (users, _) = followers(&world).await;
    let is = async |expected: &[UserId], all: Vec<TargetingCriterion>| {
        assert_reached(&world, &users, expected, all).await;
    };
    let [_, _, c, _, e, f, ..] = users[..] else { panic!() };
    world.say(e, "Two cargo bikes, one helmet").await;
    // An interest needs two posts, or one follow of an account that stands for it.
    world.say(e, "More about cargo, and cargo again").await;
    is(&[], one("INTEREST", "17003")).await;
    let details = format!(r#"{{"keywords":["cargo"],"users":["{c}"]}}"#);
    let choice = TargetingOption {
        kind: "INTEREST".to_owned(),
        value: "17003".to_owned(),
        name: "Sports/Bicycling".to_owned(),
        details,
    };
    follow(&world, users[8], c).await;
    world.write(move |tx| Ok(store::ads::options::upsert(tx, &choice)?)).await;
    is(&[e, users[8]], one("INTEREST", "17003")).await;

    // The language of most posts.
    world.say(f, "O comboio da manhã chegou outra vez muito atrasado").await;
    world.say(f, "Não há pão fresco na padaria da esquina hoje").await;
    is(&[f], one("LANGUAGE", "pt")).await;
}

#[each_engine]
async fn criterion_without_data_is_ignored_and_named(world: World) {
    let (_, followers) = followers(&world).await;
    let unknown = audience(vec![followers.clone(), criterion("GENDER", "1", Eq)]);
    let estimate = world.estimate(&unknown).await;
    assert_eq!(estimate.count, 3);
    assert_eq!(estimate.ignored_types.into_iter().collect::<Vec<_>>(), ["GENDER"]);
}

#[each_engine]
async fn blocking_suspended_and_inactive_users_are_not_reached(world: World) {
    let (users, followers) = followers(&world).await;
    let is = async |expected: &[UserId], all: Vec<TargetingCriterion>| {
        assert_reached(&world, &users, expected, all).await;
    };
    let [_, b, c, d, .., last] = users[..] else { panic!() };
    world.write(move |tx| network::blocks::block(tx, b, last)).await;
    let blocked =
        TargetedAudience { advertiser: Some(last), criteria: vec![followers.clone()], ..TargetedAudience::default() };
    assert_eq!(world.estimate(&blocked).await.count, 2);
    world.write(move |tx| identity::account_states::suspend(tx, c)).await;
    is(&[b, d], vec![followers.clone()]).await;
    world.write(move |tx| identity::account_states::restore(tx, c)).await;
    is(&[b, c, d], vec![followers.clone()]).await;
    world.pass(91 * DAY_MS);
    is(&[], vec![followers.clone()]).await;
    world.say(d, "Back again").await;
    is(&[d], vec![followers]).await;
}

#[each_engine]
async fn anonymous_viewer_is_reached_only_without_criteria(world: World) {
    let users = people(&world, 1).await;
    world.live_at(users[0], "Lisbon, Portugal").await;
    let (open, closed) = (audience(Vec::new()), audience(vec![criterion("LOCATION", country("PT"), Eq)]));
    let evaluator = Arc::clone(&world.evaluator);
    let read = move |tx: &mut store::Tx<'_>| {
        evaluator.refresh(tx)?;
        let reached = evaluator.filter_reached(tx, &open, vec![None])?;
        Ok((reached, evaluator.filter_reached(tx, &closed, vec![None])?))
    };
    assert_eq!(world.store.read(read).await.unwrap(), (vec![None], vec![]));
}

#[each_engine]
async fn platform_and_similar_followers_criteria_reach_their_users(world: World) {
    let users = people(&world, 30).await;
    for (user, agent) in [
        (users[1], "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0)"),
        (users[2], "Mozilla/5.0 (Linux; Android 15)"),
        (users[3], "Mozilla/5.0 (X11; Linux x86_64)"),
    ] {
        world.sign_in(user, agent).await;
    }
    let platforms = |values: &[&str]| {
        let all = values.iter();
        audience(all.map(|value| criterion("PLATFORM", value, Eq)).collect())
    };
    assert_eq!(world.admitted(&platforms(&["0", "4"]), &users).await, [users[1], users[3]]);
    // Five follow both the brand and the club; five more follow only the club.
    let (brand, club, other) = (users[0], users[29], users[28]);
    for user in &users[1..6] {
        follow(&world, *user, brand).await;
        follow(&world, *user, club).await;
    }
    for user in &users[6..11] {
        follow(&world, *user, club).await;
    }
    for user in &users[11..28] {
        follow(&world, *user, other).await;
    }
    let similar = audience(vec![criterion("SIMILAR_TO_FOLLOWERS_OF_USER", brand, Eq)]);
    assert_eq!(world.admitted(&similar, &users).await, users[6..11].to_vec());
}

async fn protect(world: &World, user: UserId) {
    let protect = move |tx: &mut store::Tx<'_>| {
        let user = store::users::find_by_id(tx, user)?.unwrap();
        Ok(store::users::update(tx, &store::users::User { protected: true, ..user })?)
    };
    world.write(protect).await;
}

#[each_engine]
async fn suggestions_tell_nothing_of_follows_that_are_not_public(world: World) {
    let users = people(&world, 40).await;
    let (brand, secret, hidden, gone, open, viewer) = (users[0], users[1], users[2], users[3], users[4], users[5]);
    for (followers, account) in [(6..11, secret), (11..16, hidden), (16..21, gone), (21..26, open)] {
        for user in &users[followers] {
            follow(&world, *user, brand).await;
            follow(&world, *user, account).await;
        }
    }
    for user in &users[6..11] {
        protect(&world, *user).await;
    }
    for user in users[11..16].iter().copied() {
        world.write(move |tx| network::blocks::block(tx, user, viewer)).await;
    }
    for user in users[16..21].iter().copied() {
        world.write(move |tx| identity::account_states::suspend(tx, user)).await;
    }
    let suggested = async |of: UserId| {
        let evaluator = Arc::clone(&world.evaluator);
        let read = move |tx: &mut store::Tx<'_>| evaluator.commonly_followed_accounts(tx, &[of.get()], viewer.get());
        world.store.read(read).await.unwrap()
    };
    assert_eq!(suggested(brand).await, [open.get()]);
    protect(&world, brand).await;
    assert!(suggested(brand).await.is_empty(), "nobody else sees who follows a protected account");
}
