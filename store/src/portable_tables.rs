//! Tables whose rows exports and imports copy as they are. Each is defined once, in `table_definitions`: its key,
//! columns and references, the condition for inserting a row, and the counters it affects. The statements are built on
//! first use.

mod table_definitions;

use std::sync::LazyLock;

use base::Fault;

use crate::Tx;
use crate::db::{RowCells, SqlValue};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColumnType {
    /// The row's own id, by which others refer to it.
    Id,
    /// A snowflake by which rows are ordered.
    Stamp,
    Number,
    /// A 64-bit number that is not a snowflake.
    Foreign,
    /// Inclusive bounds.
    InRange(i64, i64),
    Switch,
    /// Milliseconds since 1970.
    Time,
    /// Milliseconds since 1970, or null.
    OptTime,
    Text,
    OneOf(&'static [&'static str]),
    /// JSON, or empty.
    Json,
    Bytes,
    User,
    /// An account, or 0.
    UserOrNone,
    /// Comma-separated account ids.
    Users,
    Post,
    /// Comma-separated post ids.
    Posts,
    /// The id of an existing row of another table.
    Reference(&'static str),
    /// The id of an existing row of another table, or null.
    OptReference(&'static str),
}

impl ColumnType {
    const fn is_text(self) -> bool {
        matches!(self, Self::Text | Self::OneOf(_) | Self::Json | Self::Users | Self::Posts)
    }
}

#[derive(Clone, Copy, Debug)]
pub struct PortableColumn {
    /// The name in the table and in export lines.
    pub name: &'static str,
    pub kind: ColumnType,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CellValue {
    Null,
    Int(i64),
    Text(String),
    Bytes(Vec<u8>),
}

impl CellValue {
    pub const fn as_int(&self) -> Option<i64> {
        match self {
            Self::Int(number) => Some(*number),
            _ => None,
        }
    }

    pub fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }

    fn as_sql_value(&self) -> SqlValue<'_> {
        match self {
            Self::Null => SqlValue::Null,
            Self::Int(number) => SqlValue::Int(*number),
            Self::Text(text) => SqlValue::Text(text),
            Self::Bytes(bytes) => SqlValue::Bytes(bytes),
        }
    }
}

/// A statement that updates a counter for a new row, and the columns that are its arguments.
type CounterUpdate = (&'static str, &'static [&'static str]);

#[derive(Clone, Copy)]
struct TableDefinition {
    name: &'static str,
    /// The number of leading columns that form the key.
    key_length: usize,
    columns: &'static [PortableColumn],
    /// The condition for rows to be exported; empty for all.
    row_filter: &'static str,
    /// The condition for a row to be inserted beyond its references, with its columns as `$1`, `$2`, …; may be empty.
    insert_condition: &'static str,
    /// Further columns and their values in every inserted row.
    default_columns: (&'static str, &'static str),
    counter_updates: &'static [CounterUpdate],
}

pub struct PortableTable {
    /// Also the kind of its export lines.
    pub name: &'static str,
    /// Key columns first.
    pub columns: &'static [PortableColumn],
    key_length: usize,
    counter_updates: &'static [CounterUpdate],
    page_sql: &'static str,
    insert_sql: &'static str,
    find_same_sql: &'static str,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InsertOutcome {
    Added,
    /// A row with this key exists.
    AlreadyExists,
    /// The insert condition is not met, or a unique constraint is violated.
    Refused,
}

static TABLES: LazyLock<Vec<PortableTable>> =
    LazyLock::new(|| table_definitions::TABLES.iter().map(TableDefinition::build_table).collect());

/// Every table comes after those it refers to.
pub fn all_tables() -> &'static [PortableTable] {
    &TABLES
}

pub fn find_table(name: &str) -> Option<&'static PortableTable> {
    TABLES.iter().find(|table| table.name == name)
}

impl TableDefinition {
    /// Builds the statements, which are leaked.
    fn build_table(&self) -> PortableTable {
        PortableTable {
            name: self.name,
            columns: self.columns,
            key_length: self.key_length,
            counter_updates: self.counter_updates,
            page_sql: self.page_sql().leak(),
            insert_sql: self.insert_sql().leak(),
            find_same_sql: self.find_same_sql().leak(),
        }
    }

    fn find_same_sql(&self) -> String {
        let key = self.columns.iter().take(self.key_length).zip(1..);
        let key: Vec<String> = key.map(|(column, index)| format!("{} = ${index}", column.name)).collect();
        format!("SELECT 1 FROM {} WHERE {}", self.name, key.join(" AND "))
    }

    fn page_sql(&self) -> String {
        let names: Vec<&str> = self.columns.iter().map(|column| column.name).collect();
        let key: Vec<&str> = names.iter().take(self.key_length).copied().collect();
        let places: Vec<String> = (1..=self.key_length).map(|index| format!("${index}")).collect();
        let filter = if self.row_filter.is_empty() { String::new() } else { format!(" AND {}", self.row_filter) };
        format!(
            "SELECT {} FROM {} WHERE ({}) > ({}){filter} ORDER BY {} LIMIT ${}",
            names.join(", "),
            self.name,
            key.join(", "),
            places.join(", "),
            key.join(", "),
            self.key_length + 1
        )
    }

    fn insert_sql(&self) -> String {
        let (more, values) = self.default_columns;
        let names: Vec<&str> = self.columns.iter().map(|column| column.name).collect();
        let is_typed = !self.insert_condition.is_empty();
        let cells = (1..).zip(self.columns);
        let cells: Vec<String> = cells
            .map(|(index, column)| match column.kind {
                // Placeholders of a `SELECT` have no type of their own.
                kind if is_typed && kind.is_text() => {
                    format!("CAST(${index} AS TEXT)")
                }
                _ if is_typed => format!("CAST(${index} AS BIGINT)"),
                _ => format!("${index}"),
            })
            .collect();
        let rows = if is_typed {
            format!("SELECT {}{values} WHERE {}", cells.join(", "), self.insert_condition)
        } else {
            format!("VALUES ({}{values})", cells.join(", "))
        };
        format!("INSERT INTO {} ({}{more}) {rows} ON CONFLICT DO NOTHING", self.name, names.join(", "))
    }
}

impl PortableTable {
    /// The table's index in [`all_tables`].
    pub fn position(&self) -> usize {
        let index = TABLES.iter().position(|table| table.name == self.name);
        index.unwrap_or(usize::MAX)
    }

    /// A key before every row's key.
    pub fn first_key(&self) -> Vec<CellValue> {
        let key = self.columns.iter().take(self.key_length);
        let values = key.map(|column| match column.kind {
            ColumnType::Text => CellValue::Text(String::new()),
            _ => CellValue::Int(i64::MIN),
        });
        values.collect()
    }

    pub fn row_key(&self, row: &[CellValue]) -> Vec<CellValue> {
        row.iter().take(self.key_length).cloned().collect()
    }

    pub fn find_cell<'r>(&self, row: &'r [CellValue], name: &str) -> Option<&'r CellValue> {
        let index = self.columns.iter().position(|column| column.name == name)?;
        row.get(index)
    }
}

/// In key order.
pub fn page_after(
    tx: &mut Tx<'_>,
    table: &PortableTable,
    after: &[CellValue],
    limit: i64,
) -> Result<Vec<Vec<CellValue>>, Fault> {
    let mut args: Vec<SqlValue<'_>> = after.iter().map(CellValue::as_sql_value).collect();
    args.push(limit.into());
    tx.map_rows(table.page_sql, &args, |cells| {
        table.columns.iter().map(|column| read_cell(cells, column.kind)).collect()
    })
}

fn read_cell(cells: &mut RowCells<'_, '_, '_>, kind: ColumnType) -> Result<CellValue, Fault> {
    Ok(match kind {
        kind if kind.is_text() => CellValue::Text(cells.read()?),
        ColumnType::Bytes => CellValue::Bytes(cells.read()?),
        ColumnType::OptTime | ColumnType::OptReference(_) => {
            cells.read::<Option<i64>>()?.map_or(CellValue::Null, CellValue::Int)
        }
        _ => CellValue::Int(cells.read()?),
    })
}

/// Also updates the counters.
pub fn insert_row(tx: &mut Tx<'_>, table: &PortableTable, row: &[CellValue]) -> Result<InsertOutcome, Fault> {
    let args: Vec<SqlValue<'_>> = row.iter().map(CellValue::as_sql_value).collect();
    if tx.execute(table.insert_sql, &args)? == 0 {
        let key: Vec<SqlValue<'_>> = row.iter().take(table.key_length).map(CellValue::as_sql_value).collect();
        let existing = tx.row_exists(table.find_same_sql, &key)?;
        return Ok(if existing { InsertOutcome::AlreadyExists } else { InsertOutcome::Refused });
    }
    for (sql, columns) in table.counter_updates {
        let args =
            columns.iter().map(|name| table.find_cell(row, name).map_or(SqlValue::Null, CellValue::as_sql_value));
        let args: Vec<SqlValue<'_>> = args.collect();
        tx.execute_later(sql, &args)?;
    }
    Ok(InsertOutcome::Added)
}

/// Whether a table contains a row with this id.
pub fn row_exists(tx: &mut Tx<'_>, table: &str, id: i64) -> Result<bool, Fault> {
    let found = table_definitions::REFERENCED_TABLES.iter().find(|(name, _)| *name == table);
    let (_, sql) = found.ok_or_else(|| Fault::new(format!("no portable row may refer to {table}")))?;
    tx.row_exists(sql, &[id.into()])
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::{ColumnType, all_tables, table_definitions};
    use crate::schema;

    /// Tables that exports write with words of their own.
    const SPOKEN: &[&str] = &[
        "users",
        "post",
        "mention",
        "media",
        "follow",
        "block",
        "mute",
        "follow_request",
        "dm_block",
        "post_like",
        "list",
        "list_member",
    ];

    /// Tables that exports leave out, and why.
    const LEFT_OUT: &[(&str, &[&str])] = &[
        (
            "credentials and what leads to them, which nobody else may have",
            &[
                "oauth1_token",
                "oauth2_token",
                "app_grant",
                "oauth1_request",
                "oauth2_code",
                "session",
                "link",
                "letter",
                "attempts",
                "nonce",
                "credential_change",
                "rate_window",
                "two_factor",
                "recovery_code",
                "passkey",
            ],
        ),
        (
            "what happened on this server, not what is there",
            &[
                "event",
                "pending_event",
                "event_sequencer",
                "follower",
                "audit",
                "app_use",
                "credential_use",
                "app_read",
                "post_read",
                "link_click",
                "post_view",
                "post_hour",
                "playback",
                "media_hour",
                "stream_connection",
                "notification",
                "notification_seen",
                "interaction",
            ],
        ),
        (
            "an import's own notes, and this database's",
            &["meta", "node", "task_lease", "import_progress", "import_alias", "import_name", "import_author"],
        ),
        ("not finished", &["upload", "upload_segment", "variant_task"]),
        ("a file that its operator imports", &["annotation_entity"]),
        (
            "what members keep for the pages of this server only",
            &[
                "unpublished_post",
                "unpublished_community_post",
                "muted_word",
                "notification_setting",
                "member_time_zone",
            ],
        ),
        (
            "decisions of this server's operators about those who are here",
            &[
                "moderation_action",
                "appeal",
                "report",
                "user_role",
                "site_setting",
                "blocked_term",
                "registration_request",
            ],
        ),
        ("an export leaves out what is deleted", &["account_deletion", "post_removal"]),
        (
            "contracts between this server's operator and its advertisers",
            &[
                "ads_record",
                "ads_sequence",
                "ads_access",
                "ads_change",
                "ads_option",
                "card_link",
                "audience_member",
                "audience_key",
                "audience_gone",
                "audience_part",
                "ad_event",
                "ad_conversion",
                "ad_conversion_hour",
                "conversion_key",
                "ad_hour",
                "ad_total",
                "ad_active",
                "ad_job",
                "ad_auction",
                "ad_video",
                "ad_simulation",
                "product_catalog",
                "catalog_product",
                "product_set",
                "scheduled_feed",
            ],
        ),
        (
            "stands on receivers and on what users have let an app see",
            &["activity_subscription", "account_subscription"],
        ),
        ("told once and then gone, to those who asked", &["compliance_job", "compliance_part"]),
        (
            "receivers prove that they know an app's secret, which is another one elsewhere",
            &["webhook", "webhook_lease", "stream_link", "delivery", "delivery_attempt", "replay"],
        ),
        (
            "made anew from what is carried",
            &[
                "user_word",
                "community_word",
                "space_word",
                "story_word",
                "topic_post",
                "topic_hour",
                "trend",
                "user_key",
                "audience_user",
                "count_delta",
            ],
        ),
    ];

    #[test]
    fn every_table_is_carried_or_left_out_for_a_reason() {
        let carried = all_tables().iter().map(|table| table.name);
        let left = LEFT_OUT.iter().flat_map(|(_, tables)| tables.iter().copied());
        let found: Vec<&str> = SPOKEN.iter().copied().chain(carried).chain(left).collect();
        let once: BTreeSet<&str> = found.iter().copied().collect();
        assert_eq!(found.len(), once.len(), "a table is named twice");
        let there = schema::declared_tables();
        let there: BTreeSet<&str> = there.keys().map(String::as_str).collect();
        assert_eq!(there, once);
    }

    #[test]
    fn every_column_is_carried_or_counted() {
        // Counters, secrets that are made anew, and what all exported rows have in common.
        let made = [
            ("community", "member_count"),
            ("poll_option", "votes"),
            ("space", "participant_count"),
            ("space", "subscriber_count"),
            ("dm_event", "copies"),
            ("note", "helpful"),
            ("note", "not_helpful"),
            ("link_facts", "fetched"),
            ("app", "api_key"),
            ("app", "api_secret"),
            ("app", "bearer"),
            ("app", "bearer_digest"),
            ("app", "client_id"),
            ("app", "client_secret_digest"),
        ];
        let there = schema::declared_tables();
        for table in all_tables() {
            let mut columns: BTreeSet<&str> = there[table.name].iter().map(String::as_str).collect();
            for column in table.columns {
                assert!(columns.remove(column.name), "{}.{}", table.name, column.name);
            }
            columns.retain(|column| !made.contains(&(table.name, *column)));
            assert!(columns.is_empty(), "{}: {columns:?}", table.name);
        }
    }

    #[test]
    fn what_rows_refer_to_comes_before_them() {
        let mut seen: Vec<&str> = SPOKEN.to_vec();
        for table in all_tables() {
            for column in table.columns {
                if let ColumnType::Reference(other) | ColumnType::OptReference(other) = column.kind {
                    assert!(seen.contains(&other), "{} before {other}", table.name);
                    let found = table_definitions::REFERENCED_TABLES.iter().any(|(name, _)| *name == other);
                    assert!(found, "{other} is not looked for");
                }
            }
            seen.push(table.name);
        }
    }
}
