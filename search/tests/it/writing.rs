//! What is written is there together with its mark, or neither is.

use query::{AccessTier, QueryDialect, QueryProduct, parse};
use search::{IndexDocument, PostIndex, QueryPlan, SearchHit, SearchLookups, SearchWindow};

use crate::posts::{Dice, START, STEP, entry, post};

pub(crate) fn all(index: &PostIndex) -> Vec<i64> {
    let query = parse("all", QueryDialect::new(QueryProduct::RecentSearch, AccessTier::SelfServe)).unwrap();
    let plan = QueryPlan::new(&query, &SearchLookups::default());
    let hits = index.snapshot().newest_hits(&plan, &SearchWindow::ALL, 100).unwrap();
    for SearchHit { id, created_at_ms: at } in &hits {
        assert_eq!(*at, START + id * STEP);
    }
    hits.into_iter().map(|hit| hit.id).collect()
}

pub(crate) fn some(id: i64) -> IndexDocument {
    let mut post = post(&mut Dice(7), id);
    post.text = "one for all";
    post.author.person.handle.id = id % 2;
    entry(&post)
}

#[test]
fn an_index_is_what_was_committed_and_keeps_its_mark() {
    let folder = tempfile::tempdir().unwrap();
    let index = PostIndex::open(folder.path()).unwrap();
    assert_eq!(index.checkpoint(), None);
    index.add_documents(&[some(1), some(2), some(3)], true).unwrap();
    assert!(all(&index).is_empty());
    index.commit("a").unwrap();
    assert_eq!(all(&index), [3, 2, 1]);
    index.remove_posts(&[2]).unwrap();
    index.add_documents(&[some(3), some(4)], false).unwrap();
    index.release_writer();
    drop(index);

    let index = PostIndex::open(folder.path()).unwrap();
    assert_eq!((index.checkpoint().as_deref(), all(&index)), (Some("a"), vec![3, 2, 1]));
    index.remove_posts(&[2]).unwrap();
    index.add_documents(&[some(3), some(4)], false).unwrap();
    index.commit("b\nc").unwrap();
    assert_eq!((index.checkpoint().as_deref(), all(&index)), (Some("b\nc"), vec![4, 3, 1]));
    index.remove_author_posts(1).unwrap();
    index.commit("d").unwrap();
    assert_eq!(all(&index), [4]);
    index.clear().unwrap();
    assert_eq!((index.checkpoint(), all(&index)), (None, vec![]));
}

#[test]
fn an_index_that_cannot_be_read_is_made_anew() {
    for damage in ["{}", "", "{\"index_settings\":"] {
        let folder = tempfile::tempdir().unwrap();
        let index = PostIndex::open(folder.path()).unwrap();
        index.add_documents(&[some(1)], true).unwrap();
        index.commit("a").unwrap();
        drop(index);
        std::fs::write(folder.path().join("1/meta.json"), damage).unwrap();
        let index = PostIndex::open(folder.path()).unwrap();
        assert_eq!((index.checkpoint(), all(&index)), (None, vec![]));
        index.add_documents(&[some(2)], true).unwrap();
        index.commit("b").unwrap();
        assert_eq!(all(&index), [2]);
    }
}
