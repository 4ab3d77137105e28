//! How long answers take. Run in release: `cargo test --release -p view -- --ignored --nocapture`.

use base::clock::monotonic_now;
use base::{PostId, UserId};
use network::visibility::Viewer;
use store::posts::NewPostDetails;
use store::{Tx, users};

use super::loading::store;
use super::{POSTS, field_selection, loaded_objects, post, post_id, render_request, user};
use crate::response::{render_post_page, render_requested_posts};
use crate::{FieldSelection, LookupKeys, ObjectKind, RenderRequest};

const ROUNDS: u32 = 2_000;
const TEXT: &str = "A post of middling length, with \"quotes\", a tag #rust & a link \
                    https://example.com/some/path?with=query that everybody likes to read.";

fn measured(what: &str, mut work: impl FnMut() -> usize) {
    let mut size = 0;
    let mut best = u128::MAX;
    for _ in 0..5 {
        let start = monotonic_now();
        for _ in 0..ROUNDS {
            size = std::hint::black_box(work());
        }
        best = best.min(start.elapsed().as_nanos() / u128::from(ROUNDS));
    }
    println!("{what}: {}.{:02} µs, {size} bytes", best / 1000, best % 1000 / 10);
}

#[test]
#[ignore = "measures"]
fn without_a_store() {
    let ids: Vec<PostId> = (1..=100).map(post_id).collect();
    let posts = |count: usize| -> Vec<_> {
        ids.iter().take(count).zip(1..).map(|(id, place)| post(*id, place % 20, TEXT)).collect()
    };
    let people = || (0..20).map(|number| user(number, "somebody")).collect::<Vec<_>>();
    let anyone = Viewer::anonymous();
    let plain = FieldSelection::defaults(ObjectKind::POST);
    let hundred = loaded_objects(anyone, &plain, 100, posts(100), people(), Vec::new());
    measured("100 posts, default fields, spoken", || {
        render_post_page(&hundred, &render_request(plain, POSTS)).data.len()
    });
    let fields = "created_at,public_metrics,lang,author_id,conversation_id,referenced_posts";
    let rich = field_selection(ObjectKind::POST, &[(ObjectKind::POST, fields)], "author_id");
    let hundred = loaded_objects(anyone, &rich, 100, posts(100), people(), Vec::new());
    measured("100 posts, six more fields, authors, spoken", || {
        render_post_page(&hundred, &render_request(rich, POSTS)).data.len()
    });
    let one = loaded_objects(anyone, &rich, 1, posts(1), people(), Vec::new());
    let asked = LookupKeys { parameter: "ids", values: &ids[..1] };
    measured("1 post, six more fields, author, spoken", || {
        render_requested_posts(&one, &render_request(rich, POSTS), asked).data.len()
    });
    measured("records of 100 posts cloned and shelved", || {
        loaded_objects(anyone, &plain, 100, posts(100), Vec::new(), Vec::new()).root_count
    });
    measured("records of 100 posts cloned", || posts(100).len());
    let long = post(post_id(1), 1, &"A long text with many words. ".repeat(800));
    measured("the first part of a long post", || crate::posts::short_text(&long).map_or(0, |part| part.len()));
    let near = post(post_id(1), 1, TEXT.repeat(3).get(..280).unwrap());
    measured("a look whether a post is long", || crate::posts::short_text(&near).map_or(0, |part| part.len()));
    measured("wants parsed", || {
        let mut selection = FieldSelection::defaults(ObjectKind::POST);
        selection.add_fields_param(ObjectKind::POST, "tweet.fields", fields).unwrap();
        selection.add_expansions_param("expansions", "author_id").unwrap();
        usize::from(selection.detected_vocabulary().is_some())
    });
}

#[tokio::test]
#[ignore = "measures"]
async fn out_of_a_store() {
    let (store, _folder) = store().await;
    store
        .write(|tx: &mut Tx<'_>| {
            for number in 0..20 {
                users::insert(tx, &user(number, &format!("user{number}")), "").unwrap();
            }
            for minutes in 1..=100 {
                let one = post(post_id(minutes), minutes % 20, TEXT);
                store::posts::insert(tx, &one, &NewPostDetails::default()).unwrap();
            }
            Ok(())
        })
        .await
        .unwrap();
    store
        .read(|tx: &mut Tx<'_>| {
            let ids: Vec<PostId> = (1..=100).map(post_id).collect();
            let plain = FieldSelection::defaults(ObjectKind::POST);
            let expanded = field_selection(ObjectKind::POST, &[], "author_id");
            for (who, viewer) in [("anyone", Viewer::anonymous()), ("a user", Viewer::user(UserId::new(3)))] {
                measured(&format!("1 post and author by {who}, read and spoken"), || {
                    let found = store::posts::find_by_id(tx, ids[0]).unwrap();
                    let asked = LookupKeys { parameter: "id", values: &ids[..1] };
                    crate::render_post(tx, &RenderRequest { viewer, selection: expanded, options: POSTS }, found, asked)
                        .unwrap()
                        .data
                        .len()
                });
                measured(&format!("100 posts by {who}, read and spoken"), || {
                    let page = store::posts::find_by_ids(tx, &ids).unwrap();
                    crate::render_posts(tx, &RenderRequest { viewer, selection: plain, options: POSTS }, page)
                        .unwrap()
                        .data
                        .len()
                });
            }
            measured("1 post, read only", || {
                store::posts::find_by_id(tx, ids[0]).unwrap().map_or(0, |post| post.text.len())
            });
            measured("100 posts, read only", || store::posts::find_by_ids(tx, &ids).unwrap().len());
            Ok(())
        })
        .await
        .unwrap();
    store.close();
}
