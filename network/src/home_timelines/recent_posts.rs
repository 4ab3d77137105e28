//! The newest posts of everyone in the order of the event log, so that what is new for a timeline is found in memory.

use std::collections::VecDeque;

use base::{Fault, PostId, UserId};
use parking_lot::RwLock;
use rustc_hash::FxHashMap;
use store::Tx;
use store::event_log::{self, CreatedPost, CreatedPosts};

/// Posts in memory. A timeline that was last read before them is merged anew.
const CAPACITY: usize = 1 << 18;
/// Looking for a post's author among those of a timeline costs so many times less than looking for the posts of one
/// of them.
const SCAN_FACTOR: usize = 4;

#[derive(Default)]
pub(super) struct RecentPosts(RwLock<RecentPostBuffer>);

impl RecentPosts {
    /// Whether anybody has read a timeline.
    pub(super) fn is_in_use(&self) -> bool {
        self.0.read().range.is_some()
    }

    /// The log entry of the newest post in memory, or 0.
    pub(super) fn newest_entry(&self) -> i64 {
        self.0.read().posts.back().map_or(0, |post| post.created.seq)
    }

    /// Reads at most `limit` new posts from the log, and those that wait for their place in it. Those of the log are
    /// kept.
    pub(super) fn read_new(&self, tx: &mut Tx<'_>, limit: i64) -> Result<CreatedPosts, Fault> {
        let end = self.0.read().range.map(|(_, end)| end);
        // At first, the log is not read, but its end.
        let created = event_log::list_created_posts(tx, end.unwrap_or(i64::MAX), limit)?;
        if end.is_none_or(|end| created.through > end) {
            self.0.write().extend(end, &created);
        }
        Ok(created)
    }

    /// The posts of log entries after one up to another by the authors, who are in ascending order; none if some are
    /// not in memory any more.
    pub(super) fn list_between(&self, after: i64, through: i64, authors: &[UserId]) -> Option<Vec<PostId>> {
        let buffer = self.0.read();
        let is_covered = buffer.range.is_some_and(|(start, _)| start <= after);
        is_covered.then(|| buffer.list_between(after, through, authors))
    }
}

#[derive(Default)]
struct RecentPostBuffer {
    /// The posts are those of all log entries after the first number up to the second.
    range: Option<(i64, i64)>,
    /// In the order of the log.
    posts: VecDeque<BufferedPost>,
    /// How many were dropped before the first of `posts`. The position of a post counts from there on.
    dropped: usize,
    /// Positions of the authors' newest posts.
    newest: FxHashMap<UserId, usize>,
}

struct BufferedPost {
    created: CreatedPost,
    /// The position of the author's post before this one; it may have been dropped.
    previous: usize,
}

impl RecentPostBuffer {
    /// Adds what was read after an entry of the range, or begins with the end of the log.
    fn extend(&mut self, after: Option<i64>, created: &CreatedPosts) {
        let (start, end) = match (after, self.range) {
            (None, None) => (created.through, created.through),
            (Some(_), Some(range)) => range,
            // Another reader began meanwhile.
            _ => return,
        };
        for post in created.numbered.iter().filter(|post| post.seq > end) {
            // Position 0 is nobody's.
            let position = self.dropped + self.posts.len() + 1;
            let previous = self.newest.insert(post.author, position).unwrap_or(0);
            self.posts.push_back(BufferedPost { created: *post, previous });
        }
        self.range = Some((start, end.max(created.through)));
        while self.posts.len() > CAPACITY {
            self.drop_oldest();
        }
    }

    fn drop_oldest(&mut self) {
        let Some(oldest) = self.posts.pop_front() else {
            return;
        };
        self.dropped += 1;
        self.range = self.range.map(|(_, end)| (oldest.created.seq, end));
        if self.newest.get(&oldest.created.author) == Some(&self.dropped) {
            self.newest.remove(&oldest.created.author);
        }
    }

    /// Costs no more than either a look at each post after the first entry, or at each author and each post found.
    fn list_between(&self, after: i64, through: i64, authors: &[UserId]) -> Vec<PostId> {
        let first = self.posts.partition_point(|post| post.created.seq <= after);
        let mut ids = Vec::new();
        if (self.posts.len() - first) * SCAN_FACTOR <= authors.len() {
            let new = self.posts.range(first..).map(|post| post.created).take_while(|post| post.seq <= through);
            ids.extend(new.filter(|post| authors.binary_search(&post.author).is_ok()).map(|post| post.id));
            return ids;
        }
        for author in authors {
            let mut position = self.newest.get(author).copied().unwrap_or(0);
            while let Some(post) = self.post_at(position).filter(|post| post.created.seq > after) {
                if post.created.seq <= through {
                    ids.push(post.created.id);
                }
                position = post.previous;
            }
        }
        ids
    }

    fn post_at(&self, position: usize) -> Option<&BufferedPost> {
        self.posts.get(position.checked_sub(self.dropped + 1)?)
    }
}

#[cfg(test)]
mod tests {
    use base::{PostId, UserId};
    use store::event_log::{CreatedPost, CreatedPosts};

    use super::{CAPACITY, RecentPostBuffer};

    const AUTHORS: i64 = 100;

    /// Post `seq` is by author `seq` modulo [`AUTHORS`]; every tenth entry is no post.
    fn created(after: i64, through: i64) -> CreatedPosts {
        let posts = (after + 1..=through).filter(|seq| seq % 10 != 0);
        let post = |seq| CreatedPost { seq, id: PostId::new(seq), author: UserId::new(seq % AUTHORS) };
        CreatedPosts { numbered: posts.map(post).collect(), through, ..CreatedPosts::default() }
    }

    fn list(buffer: &RecentPostBuffer, (after, through): (i64, i64), authors: std::ops::Range<i64>) -> Vec<i64> {
        let authors: Vec<_> = authors.map(UserId::new).collect();
        let mut ids: Vec<_> = buffer.list_between(after, through, &authors).into_iter().map(PostId::get).collect();
        ids.sort_unstable();
        ids
    }

    #[test]
    fn posts_of_authors_are_found_the_same_by_post_and_by_author() {
        let mut buffer = RecentPostBuffer::default();
        buffer.extend(None, &CreatedPosts { through: 1_000, ..CreatedPosts::default() });
        buffer.extend(Some(1_000), &created(1_000, 1_500));
        // What others have read too, and one who began at the same time.
        buffer.extend(Some(1_400), &created(1_400, 1_600));
        buffer.extend(Some(1_000), &created(1_000, 1_300));
        buffer.extend(None, &CreatedPosts { through: 2_000, ..CreatedPosts::default() });
        assert_eq!(buffer.range, Some((1_000, 1_600)));
        let ranges = [(1_000, 1_600), (1_000, 1_300), (1_590, 1_600), (1_590, 1_595), (1_599, 1_600), (1_600, 1_600)];
        for ((after, through), authors) in ranges.into_iter().flat_map(|range| [(range, 0..3), (range, 0..AUTHORS)]) {
            let mut wanted: Vec<i64> = (after + 1..=through).collect();
            wanted.retain(|seq| seq % 10 != 0 && authors.contains(&(seq % AUTHORS)));
            assert_eq!(list(&buffer, (after, through), authors.clone()), wanted, "{after} to {through}, {authors:?}");
        }
    }

    #[test]
    fn oldest_posts_are_dropped_with_what_is_known_of_their_authors() {
        let mut buffer = RecentPostBuffer::default();
        buffer.extend(None, &CreatedPosts::default());
        let last = i64::try_from(CAPACITY).unwrap() * 2;
        let once = CreatedPost { seq: 1, id: PostId::new(1), author: UserId::new(AUTHORS + 1) };
        buffer.extend(Some(0), &CreatedPosts { numbered: vec![once], through: 1, ..CreatedPosts::default() });
        for after in (1..last).step_by(10_000) {
            buffer.extend(Some(after), &created(after, (after + 10_000).min(last)));
        }
        assert_eq!(buffer.posts.len(), CAPACITY);
        // Every tenth author has no posts.
        assert_eq!(buffer.newest.len(), 90);
        let start = buffer.range.unwrap().0;
        let wanted: Vec<i64> = (start + 1..=last).filter(|seq| seq % AUTHORS == 7).collect();
        assert_eq!(list(&buffer, (start, last), 7..8), wanted);
        assert_eq!(list(&buffer, (start, last), AUTHORS + 1..AUTHORS + 2), Vec::<i64>::new());
    }
}
