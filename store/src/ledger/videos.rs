//! Videos that were preceded by an ad.

use base::{Fault, PostId, Time, UserId};

use crate::Tx;

pub fn record_video_ad(tx: &mut Tx<'_>, post: PostId, at: Time) -> Result<(), Fault> {
    let sql = "INSERT INTO ad_video (author_id, post_id, shown_at) SELECT author_id, id, $1 FROM post WHERE id = $2 \
               ON CONFLICT (author_id, post_id) DO UPDATE SET shown_at = \
               CASE WHEN excluded.shown_at > ad_video.shown_at THEN excluded.shown_at ELSE ad_video.shown_at END";
    tx.execute_later(sql, &[at.into(), post.into()])
}

/// The number of an author's videos that were preceded by an ad since a time.
pub fn count_videos_with_ads(tx: &mut Tx<'_>, author: UserId, since: Time) -> Result<i64, Fault> {
    let sql = "SELECT COUNT(*) FROM ad_video WHERE author_id = $1 AND shown_at > $2";
    tx.query_number(sql, &[author.into(), since.into()])
}
