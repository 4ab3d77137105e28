//! Whom advertising reaches by what they told of themselves, and by what they signed in with.

use ads_delivery::evaluator::CriterionOperator::{Eq, Gte};
use ads_delivery::evaluator::TargetedAudience;
use base::UserId;
use network::audit::AuditActor;
use network::private_profiles::{PrivateProfileChanges, update};

use crate::world::{World, audience, criterion, each_engine};

const DAY_MS: i64 = 86_400_000;

async fn tell(world: &World, user: UserId, born_on: &'static str, gender: &'static str) {
    let response =
        PrivateProfileChanges { born_on: Some(born_on.to_owned()), gender: Some(gender.to_owned()), phone: None };
    world.write(move |tx| update(tx, &AuditActor::user(user, ""), user, &response)).await;
}

fn one(kind: &str, value: &str) -> TargetedAudience {
    audience(vec![criterion(kind, value, Eq)])
}

#[each_engine]
async fn age_and_gender_criteria_use_the_private_profile_of_the_day(world: World) {
    let mut users = Vec::new();
    for number in 0..4 {
        users.push(world.user(format!("told{number}")).await);
    }
    let (young, old, silent) = (users[0], users[1], users[2]);
    // What nobody told is ignored, and named.
    for kind in ["AGE", "GENDER"] {
        let value = if kind == "AGE" { "AGE_OVER_13" } else { "1" };
        let estimate = world.estimate(&one(kind, value)).await;
        assert_eq!(estimate.count, 4);
        assert_eq!(estimate.ignored_types.into_iter().collect::<Vec<_>>(), [kind]);
    }
    // It is the first of June 2026.
    tell(&world, young, "2001-06-02", "female").await;
    tell(&world, old, "1960-01-01", "male").await;
    tell(&world, users[3], "", "female").await;
    world.pass(60_000);
    let is = async |kind: &str, value: &str, expected: &[UserId]| {
        let requested = one(kind, value);
        assert_eq!(world.admitted(&requested, &users).await, expected, "{kind} {value}");
        let estimate = world.estimate(&requested).await;
        assert_eq!(estimate.count, u64::try_from(expected.len()).unwrap(), "{kind} {value}");
        assert!(estimate.ignored_types.is_empty());
    };
    is("AGE", "AGE_13_TO_24", &[young]).await;
    is("AGE", "AGE_25_TO_49", &[]).await;
    is("AGE", "AGE_OVER_50", &[old]).await;
    is("AGE", "AGE_OVER_13", &[young, old]).await;
    is("GENDER", "1", &[old]).await;
    is("GENDER", "2", &[young, users[3]]).await;
    // She is twenty-five tomorrow.
    world.pass(DAY_MS);
    is("AGE", "AGE_13_TO_24", &[]).await;
    is("AGE", "AGE_25_TO_49", &[young]).await;
    // Whoever takes it back is outside.
    tell(&world, old, "", "").await;
    tell(&world, silent, "1950-01-01", "").await;
    world.pass(60_000);
    is("AGE", "AGE_OVER_50", &[silent]).await;
    is("GENDER", "1", &[]).await;
}

#[each_engine]
async fn device_and_version_criteria_use_the_last_session(world: World) {
    let mut users = Vec::new();
    for number in 0..4 {
        users.push(world.user(format!("signed{number}")).await);
    }
    for (user, agent) in [
        (users[0], "Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X)"),
        (users[1], "Mozilla/5.0 (iPhone; CPU iPhone OS 17_4 like Mac OS X)"),
        (users[2], "Mozilla/5.0 (Linux; Android 15; Pixel 9) Mobile"),
        (users[3], "Mozilla/5.0 (X11; Linux x86_64)"),
    ] {
        world.sign_in(user, agent).await;
    }
    for (kind, value, name, details) in [
        ("DEVICE", "d1", "iPhone", "{}"),
        ("DEVICE", "d2", "pixel 9", "{}"),
        ("DEVICE", "d3", "Pixel 10", "{}"),
        ("PLATFORM_VERSION", "v1", "iOS 18", r#"{"number":"18","os_type":"IOS"}"#),
        ("PLATFORM_VERSION", "v2", "iOS 17.4", r#"{"number":"17.4","os_type":"IOS"}"#),
        ("PLATFORM_VERSION", "v3", "Android 15", r#"{"number":"15","os_type":"ANDROID"}"#),
    ] {
        let choice = store::ads::options::TargetingOption {
            kind: kind.to_owned(),
            value: value.to_owned(),
            name: name.to_owned(),
            details: details.to_owned(),
        };
        world.write(move |tx| Ok(store::ads::options::upsert(tx, &choice)?)).await;
    }
    for (kind, value, operator, expected) in [
        ("DEVICE", "d1", Eq, &users[..2]),
        ("DEVICE", "d2", Eq, &users[2..3]),
        ("DEVICE", "d3", Eq, &[]),
        ("PLATFORM_VERSION", "v1", Eq, &users[..1]),
        ("PLATFORM_VERSION", "v1", Gte, &users[..1]),
        ("PLATFORM_VERSION", "v2", Eq, &users[1..2]),
        ("PLATFORM_VERSION", "v2", Gte, &users[..2]),
        ("PLATFORM_VERSION", "v3", Eq, &users[2..3]),
        ("PLATFORM_VERSION", "v9", Eq, &[]),
    ] {
        let requested = audience(vec![criterion(kind, value, operator)]);
        let admitted = world.admitted(&requested, &users).await;
        assert_eq!(admitted, expected, "{kind} {value} {operator:?}");
    }
}
