//! Rows of an account that is erased, apart from those whose removal others must react to.

use base::{Fault, UserId};

use crate::Tx;
use crate::ledger::AdEventOrigin;
use crate::users::{self, User};

/// Along an index; `$1` is the account, `$2` the maximum number of rows.
macro_rules! delete_some {
    ($table:literal, $column:literal, $key:literal) => {
        concat!(
            "DELETE FROM ",
            $table,
            " WHERE ",
            $column,
            " = $1 AND ",
            $key,
            " IN (SELECT ",
            $key,
            " FROM ",
            $table,
            " WHERE ",
            $column,
            " = $1 LIMIT $2)"
        )
    };
}

const BOUNDED_DELETIONS: &[&str] = &[
    delete_some!("block", "source_id", "target_id"),
    delete_some!("mute", "source_id", "target_id"),
    delete_some!("dm_block", "source_id", "target_id"),
    delete_some!("follow_request", "source_id", "target_id"),
    delete_some!("follow_request", "target_id", "source_id"),
    delete_some!("subscription", "subscriber_id", "author_id"),
    delete_some!("subscription", "author_id", "subscriber_id"),
    delete_some!("notification", "user_id", "id"),
    delete_some!("interaction", "user_id", "seq"),
    delete_some!("interaction", "actor_id", "seq"),
    delete_some!("list_pin", "user_id", "list_id"),
    delete_some!("bookmark_folder", "user_id", "id"),
    delete_some!("user_key", "user_id", "key"),
    delete_some!("audience_user", "user_id", "audience_id"),
];

/// `$1` is the account. No index leads to the rows of some small tables, so each is read once.
const REMAINING_ROWS: &[&str] = &[
    "DELETE FROM session WHERE user_id = $1",
    "DELETE FROM oauth1_token WHERE user_id = $1",
    "DELETE FROM oauth2_token WHERE user_id = $1",
    "DELETE FROM oauth1_request WHERE user_id = $1",
    "DELETE FROM oauth2_code WHERE user_id = $1",
    "DELETE FROM app_grant WHERE user_id = $1",
    "DELETE FROM account_subscription WHERE user_id = $1",
    "DELETE FROM credential_use WHERE user_id = $1",
    "DELETE FROM link WHERE user_id = $1",
    "DELETE FROM particulars WHERE user_id = $1",
    "DELETE FROM notification_seen WHERE user_id = $1",
    "DELETE FROM user_role WHERE user_id = $1",
    "DELETE FROM two_factor WHERE user_id = $1",
    "DELETE FROM recovery_code WHERE user_id = $1",
    "DELETE FROM passkey WHERE user_id = $1",
    "DELETE FROM muted_word WHERE user_id = $1",
    "DELETE FROM notification_setting WHERE user_id = $1",
    "DELETE FROM member_time_zone WHERE user_id = $1",
    "DELETE FROM ads_access WHERE user_id = $1",
    // Deleted ones, whose names label posts of others.
    "UPDATE app SET description = '', website_url = '', callback_urls = '' WHERE owner_id = $1",
    // What it contains is pruned.
    "UPDATE product_catalog SET deleted = 1, name = '' WHERE user_id = $1",
    "DELETE FROM block WHERE target_id = $1",
    "DELETE FROM mute WHERE target_id = $1",
    "DELETE FROM dm_block WHERE target_id = $1",
    // The other one of two goes on having the conversation.
    "DELETE FROM dm_participant WHERE user_id = $1 AND EXISTS (SELECT 1 FROM dm_conversation \
     WHERE dm_conversation.id = dm_participant.conversation_id AND lower_id = 0)",
    "UPDATE poll_option SET votes = votes - 1 WHERE (poll_id, choice) IN \
     (SELECT poll_id, choice FROM poll_vote WHERE user_id = $1)",
    "DELETE FROM poll_vote WHERE user_id = $1",
    "UPDATE note SET helpful = helpful - 1 WHERE id IN \
     (SELECT note_id FROM note_rating WHERE user_id = $1 AND helpful = 1)",
    "UPDATE note SET not_helpful = not_helpful - 1 WHERE id IN \
     (SELECT note_id FROM note_rating WHERE user_id = $1 AND helpful = 0)",
    "DELETE FROM note_rating WHERE user_id = $1",
    "DELETE FROM note_request WHERE user_id = $1",
    "DELETE FROM note_writer WHERE user_id = $1",
    "UPDATE space SET participant_count = participant_count - 1 WHERE id IN \
     (SELECT space_id FROM space_part WHERE user_id = $1 AND role = 3)",
    "UPDATE space SET subscriber_count = subscriber_count - 1 WHERE id IN \
     (SELECT space_id FROM space_part WHERE user_id = $1 AND role = 4)",
    "DELETE FROM space_part WHERE user_id = $1",
    "UPDATE users SET affiliation = '' WHERE id IN (SELECT user_id FROM affiliate WHERE organization_id = $1)",
    "DELETE FROM affiliate WHERE organization_id = $1",
    "DELETE FROM affiliate WHERE user_id = $1",
    "DELETE FROM media_share WHERE user_id = $1",
    "UPDATE appeal SET text = '' WHERE user_id = $1",
    // What a removed post contained, which nobody can appeal for any more.
    "UPDATE moderation_action SET content = '' WHERE user_id = $1",
    "UPDATE post SET text = '', entities = '' WHERE author_id = $1 AND state = 3",
];

/// `$1` is now, `$2` the account. Files of others' messages stay for those who were sent them.
const RELEASED_FILES: &[&str] = &[
    "UPDATE media SET expires_at = $1 WHERE owner_id = $2 AND (expires_at IS NULL OR expires_at > $1) \
     AND message_uses = 0 AND draft_uses = 0 AND COALESCE(uses, imported_uses, 0) <= 0",
    "UPDATE upload SET expires_at = $1 WHERE owner_id = $2 AND expires_at > $1",
];

/// `$1` replaces the account `$3`, `$2` is the origin of events whose `once` may be a hash of the account. Impressions and
/// other events each have an index by viewer.
const ANONYMIZED_EVENTS: [&str; 2] = [
    "UPDATE ad_event SET viewer = $1, once = CASE WHEN once < 0 AND origin = $2 THEN id ELSE once END \
     WHERE viewer = $3 AND kind = 0",
    "UPDATE ad_event SET viewer = $1, once = CASE WHEN once < 0 AND origin = $2 THEN id ELSE once END \
     WHERE viewer = $3 AND kind <> 0 AND viewer > 0",
];

/// Deletes at most `limit` rows of each table that may have many of one account; returns how many.
pub fn delete_rows(tx: &mut Tx<'_>, user: UserId, limit: i64) -> Result<u64, Fault> {
    let mut deleted = 0;
    for sql in BOUNDED_DELETIONS {
        deleted += tx.execute(sql, &[user.into(), limit.into()])?;
    }
    Ok(deleted)
}

/// Deletes everything that [`delete_rows`] does not.
pub fn delete_remaining_rows(tx: &mut Tx<'_>, user: UserId) -> Result<(), Fault> {
    REMAINING_ROWS.iter().try_for_each(|sql| tx.execute_later(sql, &[user.into()]))
}

/// Has files and uploads expire now, except for files that are in use.
pub fn release_files(tx: &mut Tx<'_>, user: UserId) -> Result<(), Fault> {
    let now = tx.now();
    RELEASED_FILES.iter().try_for_each(|sql| tx.execute_later(sql, &[now.into(), user.into()]))
}

/// Replaces the viewer of the account's ad events by a random anonymous one, the same for all of them, so that sums and the
/// number of people reached stay as they are.
pub fn anonymize_ad_events(tx: &mut Tx<'_>, user: UserId) -> Result<(), Fault> {
    let anonymous = -1 - (i64::from_be_bytes(tx.rng().random_bytes()?) & (i64::MAX >> 1));
    let origin = AdEventOrigin::Attributed.to_number();
    let args = [anonymous.into(), origin.into(), user.into()];
    ANONYMIZED_EVENTS.iter().try_for_each(|sql| tx.execute_later(sql, &args))
}

/// Empties the account itself, of which id, username and the time of creation remain.
pub fn erase_account(tx: &mut Tx<'_>, user: &User) -> Result<(), Fault> {
    let erased = User { state: user.state, ..User::new(user.id, &user.username, user.created_at) };
    users::update(tx, &erased)?;
    users::set_password_hash(tx, user.id, "").map(drop)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::{ANONYMIZED_EVENTS, BOUNDED_DELETIONS, RELEASED_FILES, REMAINING_ROWS};
    use crate::schema;

    /// Columns that name accounts.
    const NAMES: [&str; 8] =
        ["user_id", "owner_id", "author_id", "creator_id", "source_id", "subscriber_id", "viewer", "viewer_id"];

    /// Tables with such a column whose rows are erased elsewhere, or stay; and why.
    const EXCEPTIONS: &[(&str, &[&str])] = &[
        (
            "erased with its consequences for others",
            &[
                "bookmark",
                "bookmark_filing",
                "community_member",
                "dm_inbox",
                "follow",
                "list",
                "list_follow",
                "list_member",
                "note",
                "post_like",
                "space",
                "topic_post",
                "unpublished_community_post",
                "unpublished_post",
            ],
        ),
        ("ended when the account is hidden", &["activity_subscription"]),
        ("of the username, which stays", &["user_word"]),
        ("what others wrote or reported stays", &["media_tag", "mention", "report"]),
        ("its members and posts are of others", &["community"]),
        ("records of advertising, for which others have paid", &["ad_video", "ads_change"]),
        ("ids that an import has seen", &["import_alias", "import_author", "import_name"]),
        ("says when the account was erased", &["account_deletion"]),
        ("kept for a day at most, so that nobody counts twice", &["link_click", "playback", "post_view"]),
    ];

    #[test]
    fn every_table_with_rows_of_an_account_is_erased_or_excepted_for_a_reason() {
        let statements: Vec<&str> = [BOUNDED_DELETIONS, REMAINING_ROWS, RELEASED_FILES, &ANONYMIZED_EVENTS].concat();
        let is_erased = |table: &str, column: &str| {
            let starts = [format!("DELETE FROM {table} "), format!("UPDATE {table} ")];
            let conditions = [format!("{column} = $1"), format!("{column} = $2")];
            let names_table = |sql: &str| starts.iter().any(|start| sql.starts_with(start.as_str()));
            statements.iter().any(|sql| names_table(sql) && conditions.iter().any(|condition| sql.contains(condition)))
        };
        let tables = schema::declared_tables();
        let is_left = |table: &str, columns: &[String]| {
            let mut owners = columns.iter().filter(|name| NAMES.contains(&name.as_str())).peekable();
            owners.peek().is_some() && !owners.any(|owner| is_erased(table, owner))
        };
        let left: BTreeSet<&str> =
            tables.iter().filter(|(table, columns)| is_left(table, columns)).map(|(table, _)| table.as_str()).collect();
        let excepted: BTreeSet<&str> = EXCEPTIONS.iter().flat_map(|(_, tables)| tables.iter().copied()).collect();
        assert_eq!(left, excepted);
    }
}
