//! Every column that refers to an account, and the SQL to make it refer to another one.

use std::sync::LazyLock;

pub(super) struct AccountReference {
    #[cfg(test)]
    table: &'static str,
    #[cfg(test)]
    column: &'static str,
    /// Delete rows that both accounts have, and correct their counters; `$1` is the old account, `$2` the new one.
    pub(super) duplicate_sql: Vec<&'static str>,
    /// Makes the rows refer to `$1` instead of `$2`.
    pub(super) move_sql: &'static str,
}

/// Table and column of a counter, and the column of the counted rows that refers to its table.
type CounterColumn = (&'static str, &'static str, &'static str);

/// Table, column, the other columns of its unique key, and the counters of its rows.
type ReferenceDefinition = (&'static str, &'static str, &'static [&'static str], &'static [CounterColumn]);

const REFERENCE_DEFINITIONS: &[ReferenceDefinition] = &[
    ("follow", "target_id", &["source_id"], &[("users", "following_count", "source_id")]),
    ("follow", "source_id", &["target_id"], &[("users", "followers_count", "target_id")]),
    ("block", "target_id", &["source_id"], &[]),
    ("block", "source_id", &["target_id"], &[]),
    ("mute", "target_id", &["source_id"], &[]),
    ("mute", "source_id", &["target_id"], &[]),
    ("follow_request", "target_id", &["source_id"], &[]),
    ("follow_request", "source_id", &["target_id"], &[]),
    ("dm_block", "target_id", &["source_id"], &[]),
    ("dm_block", "source_id", &["target_id"], &[]),
    ("subscription", "author_id", &["subscriber_id"], &[]),
    ("subscription", "subscriber_id", &["author_id"], &[]),
    ("affiliate", "organization_id", &["user_id"], &[]),
    ("affiliate", "user_id", &["organization_id"], &[]),
    ("particulars", "user_id", &[""], &[]),
    ("post_like", "user_id", &["post_id"], &[("post", "like_count", "post_id")]),
    ("bookmark", "user_id", &["post_id"], &[("post", "bookmark_count", "post_id")]),
    ("bookmark_folder", "user_id", &[], &[]),
    ("bookmark_filing", "user_id", &[], &[]),
    ("mention", "user_id", &["post_id"], &[]),
    ("media_tag", "user_id", &["post_id"], &[]),
    ("media_share", "user_id", &["media_id"], &[]),
    ("media", "owner_id", &[], &[]),
    ("post", "author_id", &[], &[]),
    ("post", "in_reply_to_user_id", &[], &[]),
    ("poll_vote", "user_id", &["poll_id"], &[]),
    ("list", "owner_id", &[], &[]),
    ("list_member", "user_id", &["list_id"], &[("list", "member_count", "list_id")]),
    ("list_follow", "user_id", &["list_id"], &[("list", "follower_count", "list_id")]),
    ("list_pin", "user_id", &["list_id"], &[]),
    ("community", "owner_id", &[], &[]),
    ("community_member", "user_id", &["community_id"], &[("community", "member_count", "community_id")]),
    ("space", "creator_id", &[], &[]),
    (
        "space_part",
        "user_id",
        &["space_id", "role"],
        &[
            ("space", "participant_count", "space_id AND a.role = 3"),
            ("space", "subscriber_count", "space_id AND a.role = 4"),
        ],
    ),
    ("dm_participant", "user_id", &["conversation_id"], &[]),
    ("dm_inbox", "user_id", &["kind", "event_id"], &[("dm_event", "copies", "event_id")]),
    ("dm_event", "sender_id", &[], &[]),
    ("note_writer", "user_id", &[""], &[]),
    ("note", "author_id", &["post_id", "test_mode"], &[]),
    (
        "note_rating",
        "user_id",
        &["note_id"],
        &[("note", "helpful", "note_id AND a.helpful = 1"), ("note", "not_helpful", "note_id AND a.helpful = 0")],
    ),
    ("note_request", "user_id", &["post_id"], &[]),
    ("moderation_action", "user_id", &[], &[]),
    ("report", "user_id", &[], &[]),
    ("app", "owner_id", &[], &[]),
    ("activity_subscription", "user_id", &["app_id", "event_type", "direction", "webhook_id", "keyword"], &[]),
    ("import_alias", "user_id", &[], &[]),
    ("import_author", "user_id", &["source"], &[]),
];

/// Built once; the statements are leaked.
pub(super) static ACCOUNT_REFERENCES: LazyLock<Vec<AccountReference>> =
    LazyLock::new(|| REFERENCE_DEFINITIONS.iter().map(build_reference).collect());

fn build_reference(definition: &ReferenceDefinition) -> AccountReference {
    let (table, column, key_columns, counts) = *definition;
    let conditions: Vec<String> = key_columns
        .iter()
        .filter(|other| !other.is_empty())
        .map(|other| format!(" AND b.{other} = a.{other}"))
        .collect();
    let both_have = format!("EXISTS (SELECT 1 FROM {table} b WHERE b.{column} = $2{})", conditions.concat());
    let mut duplicate_sql: Vec<&'static str> = Vec::new();
    for (counted_table, counter, by) in counts {
        // Text after the column's name is a condition on the counted rows.
        let (by, condition) = by.split_once(' ').unwrap_or((*by, ""));
        let sql = format!(
            "UPDATE {counted_table} SET {counter} = {counter} - 1 WHERE id IN \
             (SELECT a.{by} FROM {table} a WHERE a.{column} = $1 {condition} AND {both_have})"
        );
        duplicate_sql.push(sql.leak());
    }
    if !key_columns.is_empty() {
        let sql = format!("DELETE FROM {table} AS a WHERE a.{column} = $1 AND {both_have}");
        duplicate_sql.push(sql.leak());
    }
    let move_sql = format!("UPDATE {table} SET {column} = $1 WHERE {column} = $2");
    AccountReference {
        #[cfg(test)]
        table,
        #[cfg(test)]
        column,
        duplicate_sql,
        move_sql: move_sql.leak(),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::ACCOUNT_REFERENCES;
    use crate::schema;

    /// Columns that name something else than an account.
    const OTHERS: &[&str] = &[
        "floor_id",
        "account_id",
        "action_id",
        "app_id",
        "audience_id",
        "campaign_id",
        "card_id",
        "catalog_id",
        "client_id",
        "community_id",
        "conversation_id",
        "credential_id",
        "creative_id",
        "domain_id",
        "edit_root_id",
        "entity_id",
        "event_id",
        "folder_id",
        "funding_instrument_id",
        "import_id",
        "impression_id",
        "in_reply_to_post_id",
        "line_item_id",
        "list_id",
        "media_id",
        "media_ids",
        "most_recent_post_id",
        "note_id",
        "parent_id",
        "part_id",
        "pinned_post_id",
        "place_id",
        "poll_id",
        "post_id",
        "post_ids",
        "quoted_post_id",
        "read_id",
        "repost_of_id",
        "space_id",
        "story_id",
        "tag_id",
        "topic_id",
        "upload_id",
        "job_id",
        "webhook_id",
        "video_id",
    ];

    /// Columns that name an account and are moved in another way, or not at all; and why.
    const EXCEPTIONS: &[(&str, &[(&str, &str)])] = &[
        (
            "moved with the conversation",
            &[("dm_conversation", "lower_id"), ("dm_conversation", "higher_id"), ("dm_event", "participant_ids")],
        ),
        ("moved with the affiliates", &[("users", "affiliation")]),
        (
            "a placeholder has never signed in, authorized an app or uploaded a file, and is not matched",
            &[
                ("oauth1_token", "user_id"),
                ("oauth2_token", "user_id"),
                ("app_grant", "user_id"),
                ("oauth1_request", "user_id"),
                ("oauth2_code", "user_id"),
                ("session", "user_id"),
                ("link", "user_id"),
                ("two_factor", "user_id"),
                ("recovery_code", "user_id"),
                ("passkey", "user_id"),
                ("credential_use", "user_id"),
                ("account_subscription", "user_id"),
                ("activity_subscription", "maker_id"),
                ("notification", "user_id"),
                ("notification_seen", "user_id"),
                ("interaction", "user_id"),
                ("interaction", "actor_id"),
                ("unpublished_post", "user_id"),
                ("unpublished_community_post", "user_id"),
                ("muted_word", "user_id"),
                ("notification_setting", "user_id"),
                ("member_time_zone", "user_id"),
                ("upload", "owner_id"),
                ("upload", "shared_with"),
                ("ads_access", "user_id"),
                ("product_catalog", "user_id"),
                ("user_key", "user_id"),
                ("audience_user", "user_id"),
                ("moderation_action", "moderator_id"),
                ("appeal", "user_id"),
                ("report", "reporter_id"),
                ("user_role", "user_id"),
                ("account_deletion", "user_id"),
            ],
        ),
        ("a report about an account stays about the placeholder it named", &[("report", "subject_id")]),
        (
            "what happened is told as it was then",
            &[
                ("event", "actor_id"),
                ("event", "subject_id"),
                ("pending_event", "actor_id"),
                ("pending_event", "subject_id"),
                ("audit", "actor_id"),
                ("audit", "subject_id"),
                ("delivery", "about_id"),
                ("ads_change", "user_id"),
                ("link_click", "viewer_id"),
                ("ad_video", "author_id"),
                ("post_view", "viewer_id"),
                ("playback", "viewer_id"),
            ],
        ),
        ("what a placeholder wrote is nobody's to see, and so speaks of no topic", &[("topic_post", "author_id")]),
        ("the account that is left is counted again", &[("count_delta", "target_id")]),
        ("removed with the account itself", &[("import_name", "user_id"), ("user_word", "user_id")]),
    ];

    /// Columns that name accounts though their own names do not say so.
    const UNNAMED: &[(&str, &str)] = &[("users", "affiliation"), ("upload", "shared_with")];

    #[test]
    fn every_column_that_names_an_account_is_moved_or_excepted_for_a_reason() {
        let stands = ACCOUNT_REFERENCES.iter().map(|stand| (stand.table, stand.column));
        let excepted = EXCEPTIONS.iter().flat_map(|(_, all)| all.iter().copied());
        let known: Vec<(&str, &str)> = stands.chain(excepted).collect();
        let once: BTreeSet<(&str, &str)> = known.iter().copied().collect();
        assert_eq!(known.len(), once.len(), "a column is named twice");
        let tables = schema::declared_tables();
        let mut there: BTreeSet<(&str, &str)> = BTreeSet::new();
        for (table, columns) in &tables {
            for column in columns {
                let place = (table.as_str(), column.as_str());
                let by_name = column.ends_with("_id") || column.ends_with("_ids");
                if by_name && !OTHERS.contains(&place.1) || UNNAMED.contains(&place) {
                    there.insert(place);
                }
            }
        }
        assert_eq!(there, once);
    }
}
