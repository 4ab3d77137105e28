//! Memory of an index over many commits. A test binary of its own, since it counts all allocated bytes.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail the test")]

use peak_alloc::PeakAlloc;
use query::PostIndexKeys;
use search::{IndexDocument, PostIndex};

#[global_allocator]
static ALLOCATOR: PeakAlloc = PeakAlloc;

/// A multiple of the interval at which the index frees what it remembers about deleted files.
const COMMITS: i64 = 128;
/// Segments are merged from time to time, so that their number differs between two moments.
const NOISE_PER_COMMIT: usize = 256;

fn commit_posts(index: &PostIndex, from: i64) {
    for id in from..from + COMMITS {
        let document = IndexDocument { id, created_at_ms: id, author: 1, keys: PostIndexKeys::default() };
        index.add_documents(&[document], true).unwrap();
        index.commit(&id.to_string()).unwrap();
    }
}

#[test]
fn memory_does_not_grow_with_the_number_of_commits() {
    let folder = tempfile::tempdir().unwrap();
    let index = PostIndex::open(folder.path()).unwrap();
    commit_posts(&index, 1);
    let before = ALLOCATOR.current_usage();
    commit_posts(&index, 1 + COMMITS);
    let growth = ALLOCATOR.current_usage().saturating_sub(before);
    let allowed = usize::try_from(COMMITS).unwrap() * NOISE_PER_COMMIT;
    assert!(growth <= allowed, "{growth} bytes after {COMMITS} commits");
}
