//! What the search index finds after an import that changes posts which are indexed already.

use std::sync::Arc;
use std::time::Duration;

use base::Time;
use post_search::PostSearch;
use post_search::keywords::{find_public_posts, parse_query};
use serde_json::{Value, json};
use store::Tx;
use transfer::{ArchiveOwner, ImportOptions};

use crate::sample::{folder, lines, parts};
use crate::world::{Engine, World, each_engine};

/// A store with an index that has followed its log since the first import.
struct IndexedWorld {
    world: World,
    search: Arc<PostSearch>,
}

impl IndexedWorld {
    async fn new(engine: Engine, records: &[Value]) -> Self {
        let world = World::new(engine).await;
        let search = PostSearch::open(&world.folder.path().join("index")).unwrap();
        let indexed = Self { world, search };
        indexed.import(records).await;
        indexed.follow_log().await;
        indexed
    }

    async fn import(&self, records: &[Value]) {
        let records: Vec<String> = records.iter().map(Value::to_string).collect();
        let (_folder, source) = lines("records.jsonl", &records);
        self.world.import(source).await;
    }

    async fn follow_log(&self) {
        self.world.store.wait_for_log_end(Duration::from_secs(10)).await.unwrap();
        self.search.drain_log(&self.world.store).await.unwrap();
    }

    /// The ids are in order.
    async fn assert_found(&self, query: &str, expected: &[i64]) {
        self.follow_log().await;
        let (snapshot, parsed) = (self.search.snapshot(), parse_query(query).unwrap());
        let find = move |tx: &mut Tx<'_>| find_public_posts(tx, &*snapshot, &parsed, Time::from_ms(0));
        let mut ids: Vec<i64> = self.world.store.read(find).await.unwrap().into_iter().map(|hit| hit.id).collect();
        ids.sort_unstable();
        assert_eq!(ids, expected, "{query}");
    }
}

fn post(id: i64, author: i64) -> Value {
    json!({ "kind": "post", "id": id.to_string(), "author": author.to_string(), "text": "words", "created_at_ms": id })
}

fn reply(id: i64, author: i64, parent: i64) -> Value {
    let mut reply = post(id, author);
    reply["in_reply_to_post"] = json!(parent.to_string());
    reply
}

#[each_engine]
async fn replies_are_found_in_the_conversation_that_their_parent_turns_out_to_belong_to(engine: Engine) {
    let indexed = IndexedWorld::new(engine, &[reply(42, 8, 41), reply(43, 9, 42)]).await;
    indexed.assert_found("conversation_id:41", &[42, 43]).await;
    indexed.import(&[reply(41, 8, 40)]).await;
    indexed.assert_found("conversation_id:40", &[41, 42, 43]).await;
    indexed.assert_found("conversation_id:41", &[]).await;
}

#[each_engine]
async fn indexed_version_is_removed_when_a_later_one_is_imported(engine: Engine) {
    let indexed = IndexedWorld::new(engine, &[post(50, 8)]).await;
    indexed.assert_found("from:8", &[50]).await;
    let mut edited = post(51, 8);
    edited["edit_history"] = json!(["50", "51"]);
    indexed.import(&[edited]).await;
    indexed.assert_found("from:8", &[51]).await;
}

#[each_engine]
async fn indexed_posts_follow_the_profile_that_is_imported_after_them(engine: Engine) {
    let indexed = IndexedWorld::new(engine, &[post(60, 8), post(61, 9)]).await;
    indexed.assert_found("from:8", &[60]).await;
    indexed.assert_found("from:9 is:verified", &[]).await;
    let profiles = [
        json!({ "kind": "user", "id": "8", "handle": "shy", "name": "Shy", "protected": true }),
        json!({ "kind": "user", "id": "9", "handle": "known", "name": "Known", "verified": true }),
    ];
    indexed.import(&profiles).await;
    indexed.assert_found("from:8", &[]).await;
    indexed.assert_found("from:9 is:verified", &[61]).await;
}

#[each_engine]
async fn indexed_posts_of_a_placeholder_move_to_the_account_that_it_is_merged_into(engine: Engine) {
    let records = [post(70, 12), reply(71, 8, 70), reply(72, 12, 70)];
    let indexed = IndexedWorld::new(engine, &records).await;
    indexed.assert_found("from:12", &[70, 72]).await;
    indexed.assert_found("to:12", &[71, 72]).await;
    indexed.world.join("bea").await;
    let options = ImportOptions { owner: Some(ArchiveOwner::Username("bea".to_owned())), ..indexed.world.options() };
    indexed.world.try_import(folder(&parts("12", "ada", "Ada")).source(), options).await.unwrap();
    indexed.world.recount().await;
    indexed.assert_found("from:bea", &[70, 72]).await;
    indexed.assert_found("to:bea", &[71, 72]).await;
    indexed.assert_found("from:12", &[]).await;
}
