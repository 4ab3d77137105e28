use base::{AppId, Error};
use identity::apps::{self, AccessLevel, AppProfile};
use network::rules::{self, NewStreamRule};
use store::Tx;
use store::rules::{self as stored, StreamProduct, StreamRule};

use test_stores::{World, each_engine};

const MOST: usize = 1_000;

async fn app(world: &World, owner: &'static str) -> AppId {
    let owner_id = world.user(owner).await;
    let profile = AppProfile::new(owner);
    let (app, _) = world.write(move |tx| apps::create(tx, owner_id, AccessLevel::SelfServe, &profile)).await;
    app.id
}

fn new(value: &str) -> NewStreamRule {
    NewStreamRule { value: value.to_owned(), canonical: value.to_owned(), tag: String::new() }
}

async fn count(world: &World, app: AppId, product: StreamProduct) -> i64 {
    let work = move |tx: &mut Tx<'_>| Ok(stored::count(tx, app, product)?);
    world.store.read(work).await.unwrap()
}

async fn fill(world: &World, app: AppId, many: usize) {
    let work = move |tx: &mut Tx<'_>| {
        for number in 0..many {
            let rule = StreamRule {
                id: tx.next_id::<()>().get(),
                app_id: app,
                value: format!("word{number}"),
                tag: String::new(),
                created_at: tx.now(),
            };
            let digest = base::secret::digest(&rule.value);
            assert!(stored::insert(tx, StreamProduct::Powerstream, &rule, &digest)?);
        }
        Ok(())
    };
    world.write(work).await;
}

/// Adds rules of these values.
fn add(
    app: AppId,
    product: StreamProduct,
    values: &'static [&'static str],
) -> impl Fn(&mut Tx<'_>) -> Result<rules::AddedRules, Error> + Send + 'static {
    move |tx| {
        let all: Vec<NewStreamRule> = values.iter().map(|value| new(value)).collect();
        rules::add(tx, app, product, MOST, &all, false)
    }
}

#[each_engine]
async fn app_has_at_most_a_thousand_rules_of_a_stream(world: World) {
    let (app, other) = (app(&world, "ada").await, app(&world, "bob").await);
    fill(&world, app, 998).await;

    // Two fit, three do not, and then none of the three is there.
    let three = add(app, StreamProduct::Powerstream, &["a", "b", "c"]);
    assert!(world.refused(three).await.contains("RuleLimitReached"));
    assert_eq!(count(&world, app, StreamProduct::Powerstream).await, 998);
    // What is there already takes no place.
    let two = add(app, StreamProduct::Powerstream, &["a", "word7", "b", "a"]);
    let added = world.write(two).await;
    assert_eq!((added.rules.len(), added.duplicates.len()), (2, 2));
    let one = add(app, StreamProduct::Powerstream, &["c"]);
    assert!(world.refused(one).await.contains("RuleLimitReached { limit: 1000 }"));
    let known = add(app, StreamProduct::Powerstream, &["b"]);
    assert_eq!(world.write(known).await.duplicates.len(), 1);
    // Another stream's and another app's rules are others.
    for (app, product) in [(app, StreamProduct::Stream), (other, StreamProduct::Powerstream)] {
        let one = add(app, product, &["a"]);
        assert_eq!(world.write(one).await.rules.len(), 1);
    }
}

#[each_engine]
async fn stream_rule_is_removed_only_from_its_own_app_and_stream(world: World) {
    let (app, other) = (app(&world, "ada").await, app(&world, "bob").await);
    let added = world.write(add(app, StreamProduct::Powerstream, &["a"])).await;
    let first = added.rules[0].id;
    let removed = world
        .write(move |tx| {
            let foreign = rules::remove(tx, other, StreamProduct::Powerstream, &[first])?;
            let strange = rules::remove(tx, app, StreamProduct::Stream, &[first])?;
            let own = rules::remove(tx, app, StreamProduct::Powerstream, &[first, first, 7])?;
            Ok((foreign, strange, own))
        })
        .await;
    assert_eq!(removed, (0, 0, 1));
    let response = world.log().await;
    let response: Vec<_> = response
        .iter()
        .filter(|event| event.kind.starts_with("rule.") && event.subject_id == first)
        .map(|event| (event.kind.as_str(), event.body.as_str()))
        .collect();
    let body = format!(r#"{{"app_id":"{app}","product":"powerstream"}}"#);
    assert_eq!(response, [("rule.added", &*body), ("rule.removed", &*body)]);
}

#[each_engine]
async fn deleted_app_loses_all_its_rules_of_both_streams(world: World) {
    let (app, other) = (app(&world, "ada").await, app(&world, "bob").await);
    fill(&world, app, 999).await;
    for (app, product) in [(app, StreamProduct::Stream), (other, StreamProduct::Powerstream)] {
        world.write(add(app, product, &["a"])).await;
    }
    let removed = async || {
        let response = world.log().await;
        let removed = response.iter().filter(|event| event.kind == "rule.removed");
        let mut rules: Vec<i64> = removed.map(|event| event.subject_id).collect();
        rules.sort_unstable();
        rules.dedup();
        rules.len()
    };
    assert_eq!(removed().await, 0);
    world.write(move |tx| apps::delete(tx, app)).await;
    // All that it had, of both streams: whoever matches posts learns of each.
    assert_eq!(removed().await, 999 + 1);
    for product in [StreamProduct::Powerstream, StreamProduct::Stream] {
        assert_eq!(count(&world, app, product).await, 0);
    }
    assert_eq!(count(&world, other, StreamProduct::Powerstream).await, 1);
    let late = add(app, StreamProduct::Powerstream, &["late"]);
    assert!(world.refused(late).await.contains("Unauthenticated"));
}
