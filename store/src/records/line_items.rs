//! Line items with a creative that can be served.

use base::Fault;

use crate::Tx;
use crate::db::record_indexes::field_sql;

/// Those of `items` with a promoted post, promoted account or media creative that is visible now.
pub fn servable_line_items(tx: &mut Tx<'_>, items: &[i64], sandbox: bool) -> Result<Vec<i64>, Fault> {
    let (item, user) = (field_sql("line_item_id"), field_sql("user_id"));
    let of = |kind: &str, seen: &str| {
        format!("EXISTS (SELECT 1 FROM ads_record WHERE kind = '{kind}' AND level = 0 AND {item} = i.id{seen})")
    };
    let mut seen = vec![of("promoted_post", PUBLIC_POST)];
    if sandbox {
        seen.push(of("promoted_post", SANDBOX_POST));
    }
    let open = format!(" AND EXISTS (SELECT 1 FROM users u WHERE u.id = {user} AND u.state = 0 AND u.protected = 0)");
    seen.push(of("promoted_account", &open));
    seen.push(of("media_creative", LIVE_MEDIA));
    let sql =
        format!("SELECT i.id FROM ads_record i WHERE i.id = $1 AND i.kind = 'line_item' AND ({})", seen.join(" OR "));
    tx.query_by_keys(&sql, items, &[])
}

/// Account media that were not deleted.
const LIVE_MEDIA: &str = " AND EXISTS (SELECT 1 FROM ads_record m \
                          WHERE m.id = CAST(ads_record.body ->> 'account_media_id' AS BIGINT) \
                          AND m.kind = 'account_media' AND m.level = 0)";
/// A public post: live, by an active and unprotected user; for a repost, the original as well.
const PUBLIC_POST: &str = " AND EXISTS (SELECT 1 FROM post p JOIN users u ON u.id = p.author_id \
                         WHERE p.id = CAST(ads_record.body ->> 'post_id' AS BIGINT) AND p.state = 0 AND u.state = 0 \
                         AND u.protected = 0 AND (p.repost_of_id IS NULL OR EXISTS (SELECT 1 FROM post o \
                         JOIN users w ON w.id = o.author_id WHERE o.id = p.repost_of_id AND o.state = 0 \
                         AND w.state = 0 AND w.protected = 0)))";
/// A sandbox post, which is not a post of the platform.
const SANDBOX_POST: &str = " AND EXISTS (SELECT 1 FROM ads_record s \
                          WHERE s.id = CAST(ads_record.body ->> 'post_id' AS BIGINT) AND s.kind = 'account_post' \
                          AND s.level = 0 AND (s.body ->> 'repost_of_id' IS NULL OR EXISTS (SELECT 1 FROM post o \
                          JOIN users w ON w.id = o.author_id WHERE o.id = CAST(s.body ->> 'repost_of_id' AS BIGINT) \
                          AND o.state = 0 AND w.state = 0 AND w.protected = 0)))";
