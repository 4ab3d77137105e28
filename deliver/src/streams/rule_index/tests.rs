//! Rules stay indexed under rare words.

use std::collections::BTreeSet;

use base::{AppId, Error};
use network::post_facts::{self, StoredPostFacts};
use network::posts::{NewPost, PostAuthor};
use network::rules::{NewStreamRule, add};
use query::{MatchMode, PostFeatures};
use serde_json::Value;
use store::Tx;
use store::rules::StreamProduct;

use super::super::StreamSettings;
use super::super::tests::site;
use super::{LEARN_SAMPLE, REBUILD_AFTER_POSTS, RuleIndex};
use base::id::mix_id;

const RULES: usize = 1_200;

/// Rules that require "storm" and one of forty other words.
fn rules(tx: &mut Tx<'_>, app: AppId, numbers: std::ops::Range<usize>) -> Result<Vec<i64>, Error> {
    let new = |number: usize| {
        let value = format!("storm x{} -none{number}", number % 40);
        NewStreamRule { canonical: value.clone(), value, tag: String::new() }
    };
    let new: Vec<NewStreamRule> = numbers.map(new).collect();
    let added = add(tx, app, StreamProduct::Stream, 100_000, &new, false)?;
    Ok(added.rules.iter().map(|rule| rule.id).collect())
}

fn post(tx: &mut Tx<'_>, app: AppId, text: String) -> Result<StoredPostFacts, Error> {
    let owner = store::apps::find_by_id(tx, app)?.unwrap().owner_id;
    let author = PostAuthor { user_id: owner, app_id: None, self_serve: false };
    let new = NewPost { text, ..NewPost::default() };
    let post = network::posts::create(tx, &author, &new)?;
    Ok(post_facts::load_post_facts(tx, &[post.id], false)?.remove(0))
}

fn effort(index: &RuleIndex, post: &StoredPostFacts) -> usize {
    post.map_query_post(|post| index.matcher.candidate_count(&PostFeatures::new(post, MatchMode::Stream)))
}

fn found(index: &mut RuleIndex, app: AppId, post: &StoredPostFacts) -> BTreeSet<i64> {
    let wanted = index.match_post(post).remove(&(app, StreamProduct::Stream)).unwrap_or("[]".to_owned());
    let wanted: Value = serde_json::from_str(&wanted).unwrap();
    let ids = wanted.as_array().unwrap().iter();
    ids.map(|rule| rule["id"].as_str().unwrap().parse().unwrap()).collect()
}

#[tokio::test]
async fn rules_are_filed_by_what_is_stored_and_anew_when_posts_change() {
    let site = site(StreamSettings::default()).await;
    let app = site.apps[0];
    let story = move |tx: &mut Tx<'_>| {
        let ids = rules(tx, app, 0..RULES)?;
        for number in 0..200 {
            let _usual = post(tx, app, format!("x{} of {number}", number % 40))?;
        }
        // Storms are new: until then each rule is indexed under that word.
        let mut index = RuleIndex::default();
        index.learn_stored_posts(tx)?;
        while !index.load_rules(tx, (app, StreamProduct::Stream))? {}
        let usual = post(tx, app, "x7 as ever".to_owned())?;
        assert_eq!(effort(&index, &usual), 0, "of thirty rules about x7");
        let mut storm = post(tx, app, "a storm over x7".to_owned())?;
        assert_eq!(effort(&index, &storm), RULES);
        let before = found(&mut index, app, &storm);
        assert_eq!(before.len(), RULES / 40);
        assert!(!index.rebuild_step(tx)?.0, "not for one of them");
        while !mix_id(storm.row.id.get()).is_multiple_of(LEARN_SAMPLE) {
            storm = post(tx, app, format!("a storm over x7 at {}", storm.row.id))?;
        }
        for _ in 0..REBUILD_AFTER_POSTS.0 {
            let _many = index.match_post(&storm);
        }
        // Meanwhile rules are added and removed, and posts match the current ones.
        let (mut steps, mut gone) = (0, 0);
        let (mut new, mut expected) = (Vec::new(), before);
        let old = loop {
            let (more, old) = index.rebuild_step(tx)?;
            assert_eq!(found(&mut index, app, &storm), expected);
            if let Some(old) = old {
                break old;
            }
            assert!(more, "it goes on until it is done");
            steps += 1;
            if steps == 3 {
                new = rules(tx, app, RULES + 7..RULES + 8)?;
                index.add_rule(tx, (app, StreamProduct::Stream), new[0])?;
                gone = ids[7];
                network::rules::remove(tx, app, StreamProduct::Stream, &[gone])?;
                index.remove_rule(gone);
                expected.extend(&new);
                expected.remove(&gone);
            }
        };
        assert!(steps > 10 && expected.contains(&new[0]) && !expected.contains(&gone));
        assert_eq!(effort(&old, &storm), RULES);
        assert_eq!(effort(&index, &storm), RULES / 40, "those about x7");
        assert!(!index.rebuild_step(tx)?.0, "and now it is quiet");
        Ok(())
    };
    site.store.write(story).await.unwrap();
}
