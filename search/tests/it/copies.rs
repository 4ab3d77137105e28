//! A copy of the files of a commit is an index of its own.

use std::path::Path;

use search::{CommittedFiles, PostIndex};

use crate::writing::{all, some};

fn committed_index(folder: &Path, ids: std::ops::RangeInclusive<i64>) -> PostIndex {
    let index = PostIndex::open(folder).unwrap();
    for id in ids {
        index.add_documents(&[some(id)], true).unwrap();
        index.commit(&format!("at {id}")).unwrap();
    }
    index
}

fn link_files(index: &PostIndex, folder: &Path) -> CommittedFiles {
    std::fs::create_dir(folder).unwrap();
    index.link_committed_files(folder).unwrap().unwrap()
}

fn has_extension(name: &str, extension: &str) -> bool {
    Path::new(name).extension().is_some_and(|found| found == extension)
}

#[test]
fn copied_commit_is_an_index_whatever_becomes_of_the_first() {
    let folder = tempfile::tempdir().unwrap();
    let index = committed_index(&folder.path().join("index"), 1..=5);
    index.remove_posts(&[2]).unwrap();
    index.add_documents(&[some(6)], true).unwrap();
    index.commit("at 6").unwrap();
    let copy = folder.path().join("copy");
    let files = link_files(&index, &copy);
    assert_eq!(files.checkpoint, "at 6");
    let mut found: Vec<_> =
        std::fs::read_dir(&copy).unwrap().map(|file| file.unwrap().file_name().into_string().unwrap()).collect();
    found.sort_unstable();
    assert_eq!(files.names, found);
    // The first index deletes its files.
    index.add_documents(&[some(7)], true).unwrap();
    index.commit("at 7").unwrap();
    index.clear().unwrap();

    let other = committed_index(&folder.path().join("other"), 20..=21);
    other.add_documents(&[some(22)], true).unwrap();
    other.replace_with(&copy).unwrap();
    assert!(!copy.exists());
    assert_eq!((other.checkpoint().as_deref(), all(&other)), (Some("at 6"), vec![6, 5, 4, 3, 1]));
    other.remove_posts(&[5]).unwrap();
    other.add_documents(&[some(8)], true).unwrap();
    other.commit("at 8").unwrap();
    drop(other);
    let other = PostIndex::open(&folder.path().join("other")).unwrap();
    assert_eq!((other.checkpoint().as_deref(), all(&other)), (Some("at 8"), vec![8, 6, 4, 3, 1]));
    assert!(other.find_damaged_files().unwrap().is_empty());
}

#[test]
fn copies_made_while_the_index_changes_are_whole() {
    const COMMITS: i64 = 40;
    let folder = tempfile::tempdir().unwrap();
    let index = committed_index(&folder.path().join("index"), 1..=1);
    std::thread::scope(|scope| {
        // Segments are merged, and their files deleted, all the time.
        let writing = scope.spawn(|| {
            for id in 2..=COMMITS {
                index.add_documents(&[some(id)], true).unwrap();
                index.remove_posts(&[id - 1]).unwrap();
                index.commit(&id.to_string()).unwrap();
            }
        });
        let mut copies = 0;
        while !writing.is_finished() || copies == 0 {
            let copy = folder.path().join("copy");
            let files = link_files(&index, &copy);
            let other = PostIndex::open(&folder.path().join("other")).unwrap();
            other.replace_with(&copy).unwrap();
            assert!(other.find_damaged_files().unwrap().is_empty());
            let last: i64 = files.checkpoint.trim_start_matches("at ").parse().unwrap();
            assert_eq!(all(&other), [last]);
            copies += 1;
        }
        writing.join().unwrap();
    });
    assert_eq!(all(&index), [COMMITS]);
}

#[test]
fn index_deletes_copied_files_that_it_no_longer_needs() {
    let folder = tempfile::tempdir().unwrap();
    let index = committed_index(&folder.path().join("index"), 1..=3);
    let copy = folder.path().join("copy");
    let copied = link_files(&index, &copy).names;
    let other = PostIndex::open(&folder.path().join("other")).unwrap();
    other.replace_with(&copy).unwrap();
    // Enough segments for a merge of all of them.
    for id in 4..=20 {
        other.add_documents(&[some(id)], true).unwrap();
        other.commit("later").unwrap();
    }
    other.release_writer();
    other.add_documents(&[some(21)], true).unwrap();
    other.commit("last").unwrap();
    let segments = copied.iter().filter(|name| has_extension(name, "idx"));
    let left = segments.filter(|name| folder.path().join("other/2").join(name).exists()).count();
    assert_eq!((left, all(&other).len()), (0, 21));
}

#[test]
fn index_is_not_replaced_by_files_that_cannot_be_read() {
    let folder = tempfile::tempdir().unwrap();
    let index = committed_index(&folder.path().join("index"), 1..=3);
    let copy = folder.path().join("copy");
    let files = link_files(&index, &copy);
    let terms = files.names.iter().find(|name| has_extension(name, "term")).unwrap();
    std::fs::remove_file(copy.join(terms)).unwrap();
    let other = committed_index(&folder.path().join("other"), 20..=21);
    assert!(other.replace_with(&copy).is_err());
    assert!(other.replace_with(&folder.path().join("nothing")).is_err());
    assert_eq!((other.checkpoint().as_deref(), all(&other)), (Some("at 21"), vec![21, 20]));
    other.add_documents(&[some(22)], true).unwrap();
    other.commit("at 22").unwrap();
    assert_eq!(all(&other), [22, 21, 20]);
}

#[test]
fn index_without_a_commit_has_no_files() {
    let folder = tempfile::tempdir().unwrap();
    let index = PostIndex::open(&folder.path().join("index")).unwrap();
    assert_eq!(index.link_committed_files(folder.path()).unwrap(), None);
}
