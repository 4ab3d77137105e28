//! States in which a killed process leaves its index.

use std::path::{Path, PathBuf};
use std::time::Duration;

use base::clock::monotonic_now;
use search::PostIndex;
use tantivy::indexer::NoMergePolicy;
use tantivy::schema::Schema;
use tantivy::{Index, IndexWriter, Term};

use crate::writing::{all, some};

const FIRST: [i64; 5] = [1, 2, 3, 4, 5];
const SECOND: [i64; 4] = [6, 7, 8, 9];

fn id_term(schema: &Schema, id: i64) -> Term {
    Term::from_field_i64(schema.get_field("id").unwrap(), id)
}

/// An index of two segments, whose last commit deleted two posts of the smaller one, killed before they were merged.
fn prepare_unmerged_segments(folder: &Path) -> PathBuf {
    let index = PostIndex::open(folder).unwrap();
    index.add_documents(&FIRST.map(some), true).unwrap();
    index.commit("a").unwrap();
    index.add_documents(&SECOND.map(some), true).unwrap();
    index.commit("b").unwrap();
    drop(index);
    let files = folder.join("1");
    let index = Index::open_in_dir(&files).unwrap();
    let payload = index.load_metas().unwrap().payload.unwrap();
    let mut writer: IndexWriter = index.writer_with_num_threads(1, 20 << 20).unwrap();
    writer.set_merge_policy(Box::new(NoMergePolicy));
    for id in [6, 7] {
        writer.delete_term(id_term(&index.schema(), id));
    }
    let mut commit = writer.prepare_commit().unwrap();
    commit.set_payload(&payload);
    commit.commit().unwrap();
    files
}

fn managed_files(files: &Path) -> Vec<PathBuf> {
    serde_json::from_slice(&std::fs::read(files.join(".managed.json")).unwrap()).unwrap()
}

fn segment_count(files: &Path) -> usize {
    Index::open_in_dir(files).unwrap().searchable_segment_ids().unwrap().len()
}

#[test]
fn deletion_right_after_a_crash_outlasts_the_merge_that_the_crash_interrupted() {
    let folder = tempfile::tempdir().unwrap();
    let files = prepare_unmerged_segments(folder.path());
    assert_eq!(segment_count(&files), 2);
    let index = PostIndex::open(folder.path()).unwrap();
    index.remove_posts(&[8]).unwrap();
    index.add_documents(&[some(20)], true).unwrap();
    index.commit("c").unwrap();
    assert_eq!(all(&index), [20, 9, 5, 4, 3, 2, 1]);
    let deadline = monotonic_now() + Duration::from_secs(10);
    while segment_count(&files) > 2 {
        assert!(monotonic_now() < deadline, "the segments are not merged");
        std::thread::yield_now();
    }
    index.commit("d").unwrap();
    assert_eq!(all(&index), [20, 9, 5, 4, 3, 2, 1]);
}

#[test]
fn files_of_an_interrupted_commit_do_not_prevent_the_next() {
    let folder = tempfile::tempdir().unwrap();
    let files = prepare_unmerged_segments(folder.path());
    let metas = Index::open_in_dir(&files).unwrap().load_metas().unwrap();
    let mut managed = managed_files(&files);
    for segment in &metas.segments {
        for opstamp in 1..=9 {
            let name = format!("{}.{}.del", segment.id().uuid_string(), metas.opstamp + opstamp);
            std::fs::write(files.join(&name), "not finished").unwrap();
            managed.push(name.into());
        }
    }
    std::fs::write(files.join(".managed.json"), serde_json::to_string(&managed).unwrap()).unwrap();
    let index = PostIndex::open(folder.path()).unwrap();
    index.remove_posts(&[3, 8]).unwrap();
    index.commit("c").unwrap();
    assert_eq!(all(&index), [9, 5, 4, 2, 1]);
}
