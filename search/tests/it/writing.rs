//! What is written is there together with its mark, or neither is.

use query::{Dialect, Level, Product, parse};
use search::{Entry, Hit, Index, Known, Plan, Window};

use crate::posts::{Dice, START, STEP, entry, post};

fn all(index: &Index) -> Vec<i64> {
    let query = parse("all", Dialect::new(Product::RecentSearch, Level::SelfServe)).unwrap();
    let plan = Plan::new(&query, &Known::default());
    let hits = index.snapshot().newest(&plan, &Window::ALL, 100).unwrap();
    for Hit { id, at } in &hits {
        assert_eq!(*at, START + id * STEP);
    }
    hits.into_iter().map(|hit| hit.id).collect()
}

fn some(id: i64) -> Entry {
    let mut post = post(&mut Dice(7), id);
    post.text = "one for all";
    post.author.person.handle.id = id % 2;
    entry(&post)
}

#[test]
fn an_index_is_what_was_committed_and_keeps_its_mark() {
    let folder = tempfile::tempdir().unwrap();
    let index = Index::open(folder.path()).unwrap();
    assert_eq!(index.mark(), None);
    index.add(&[some(1), some(2), some(3)], true).unwrap();
    assert!(all(&index).is_empty());
    index.commit("a").unwrap();
    assert_eq!(all(&index), [3, 2, 1]);
    index.remove(&[2]).unwrap();
    index.add(&[some(3), some(4)], false).unwrap();
    index.rest();
    drop(index);

    let index = Index::open(folder.path()).unwrap();
    assert_eq!(
        (index.mark().as_deref(), all(&index)),
        (Some("a"), vec![3, 2, 1])
    );
    index.remove(&[2]).unwrap();
    index.add(&[some(3), some(4)], false).unwrap();
    index.commit("b\nc").unwrap();
    assert_eq!(
        (index.mark().as_deref(), all(&index)),
        (Some("b\nc"), vec![4, 3, 1])
    );
    index.remove_author(1).unwrap();
    index.commit("d").unwrap();
    assert_eq!(all(&index), [4]);
    index.clear().unwrap();
    assert_eq!((index.mark(), all(&index)), (None, vec![]));
}

#[test]
fn an_index_that_cannot_be_read_is_made_anew() {
    for damage in ["{}", "", "{\"index_settings\":"] {
        let folder = tempfile::tempdir().unwrap();
        let index = Index::open(folder.path()).unwrap();
        index.add(&[some(1)], true).unwrap();
        index.commit("a").unwrap();
        drop(index);
        std::fs::write(folder.path().join("1/meta.json"), damage).unwrap();
        let index = Index::open(folder.path()).unwrap();
        assert_eq!((index.mark(), all(&index)), (None, vec![]));
        index.add(&[some(2)], true).unwrap();
        index.commit("b").unwrap();
        assert_eq!(all(&index), [2]);
    }
}
