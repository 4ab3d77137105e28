//! Tables whose rows exports and imports carry as they are. Each is declared once, in
//! [`tables`]: its key, its columns and what they refer to, what a row needs to be let in, and what
//! else moves with it. The statements are made from that when they are first needed.

mod declared;

use std::sync::LazyLock;

use base::Fault;

use crate::Tx;
use crate::db::{Row, Value};

/// What a cell holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The row's own id, by which others refer to it.
    Id,
    /// A snowflake that puts rows into an order.
    Stamp,
    /// A number.
    Number,
    /// A number of sixty-four bits that is no snowflake.
    Foreign,
    /// A number between two, both included.
    Among(i64, i64),
    /// A switch.
    Switch,
    /// Milliseconds since 1970.
    Time,
    /// The same, or none.
    OptTime,
    /// A text.
    Text,
    /// One of some words.
    OneOf(&'static [&'static str]),
    /// A JSON text, or an empty one.
    Json,
    /// Bytes.
    Bytes,
    /// An account.
    User,
    /// An account, or 0 for none.
    UserOrNone,
    /// Accounts: their ids in a text, comma-separated.
    Users,
    /// A post.
    Post,
    /// Posts: their ids in a text, comma-separated.
    Posts,
    /// The id of a row of another table, which must be there.
    Of(&'static str),
    /// The same, or none.
    OptOf(&'static str),
}

impl Kind {
    const fn is_text(self) -> bool {
        matches!(
            self,
            Self::Text | Self::OneOf(_) | Self::Json | Self::Users | Self::Posts
        )
    }
}

/// A column of a carried table.
#[derive(Clone, Copy, Debug)]
pub struct Column {
    /// Its name, in the table and on the line.
    pub name: &'static str,
    /// What it holds.
    pub kind: Kind,
}

/// A value of a row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cell {
    /// None.
    Null,
    /// A number of any meaning.
    Int(i64),
    /// A text.
    Text(String),
    /// Bytes.
    Bytes(Vec<u8>),
}

impl Cell {
    /// The number, where it is one.
    pub const fn int(&self) -> Option<i64> {
        match self {
            Self::Int(number) => Some(*number),
            _ => None,
        }
    }

    /// The text, where it is one.
    pub fn text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }

    fn value(&self) -> Value<'_> {
        match self {
            Self::Null => Value::Null,
            Self::Int(number) => Value::Int(*number),
            Self::Text(text) => Value::Text(text),
            Self::Bytes(bytes) => Value::Bytes(bytes),
        }
    }
}

/// What moves with a row that is new: a statement, and the columns that are its arguments.
type Step = (&'static str, &'static [&'static str]);

/// A table as declared.
#[derive(Clone, Copy)]
struct Declared {
    name: &'static str,
    /// So many of its columns are its key.
    key: usize,
    columns: &'static [Column],
    /// Which rows are carried; all where empty.
    only: &'static str,
    /// What a row needs beyond what it refers to, over its columns as `$1`, `$2`, …; nothing where
    /// empty.
    needs: &'static str,
    /// Columns that every row begins with, and their values.
    begins: (&'static str, &'static str),
    steps: &'static [Step],
}

/// A carried table.
pub struct Table {
    /// Its name, which its lines have for their kind.
    pub name: &'static str,
    /// Its columns, those of the key first.
    pub columns: &'static [Column],
    key: usize,
    steps: &'static [Step],
    page: &'static str,
    insert: &'static str,
    same: &'static str,
}

/// What became of a row that was to be added.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It is new.
    Added,
    /// There is one with its key.
    There,
    /// It lacks what it needs, or another one has what only one can have.
    Refused,
}

static TABLES: LazyLock<Vec<Table>> =
    LazyLock::new(|| declared::TABLES.iter().map(Declared::made).collect());

/// The carried tables, in an order in which what a row refers to comes before it.
pub fn tables() -> &'static [Table] {
    &TABLES
}

/// The carried table with a name.
pub fn table(name: &str) -> Option<&'static Table> {
    TABLES.iter().find(|table| table.name == name)
}

impl Declared {
    /// The table with its statements, which stay for as long as the program runs.
    fn made(&self) -> Table {
        Table {
            name: self.name,
            columns: self.columns,
            key: self.key,
            steps: self.steps,
            page: self.page().leak(),
            insert: self.insert().leak(),
            same: self.same().leak(),
        }
    }

    fn same(&self) -> String {
        let key = self.columns.iter().take(self.key).zip(1..);
        let key: Vec<String> = key
            .map(|(column, place)| format!("{} = ${place}", column.name))
            .collect();
        format!("SELECT 1 FROM {} WHERE {}", self.name, key.join(" AND "))
    }

    fn page(&self) -> String {
        let names: Vec<&str> = self.columns.iter().map(|column| column.name).collect();
        let key: Vec<&str> = names.iter().take(self.key).copied().collect();
        let places: Vec<String> = (1..=self.key).map(|place| format!("${place}")).collect();
        let only = if self.only.is_empty() {
            String::new()
        } else {
            format!(" AND {}", self.only)
        };
        format!(
            "SELECT {} FROM {} WHERE ({}) > ({}){only} ORDER BY {} LIMIT ${}",
            names.join(", "),
            self.name,
            key.join(", "),
            places.join(", "),
            key.join(", "),
            self.key + 1
        )
    }

    fn insert(&self) -> String {
        let (more, values) = self.begins;
        let names: Vec<&str> = self.columns.iter().map(|column| column.name).collect();
        let is_typed = !self.needs.is_empty();
        let cells = (1..).zip(self.columns);
        let cells: Vec<String> = cells
            .map(|(place, column)| match column.kind {
                // A place alone has no type there.
                kind if is_typed && kind.is_text() => {
                    format!("CAST(${place} AS TEXT)")
                }
                _ if is_typed => format!("CAST(${place} AS BIGINT)"),
                _ => format!("${place}"),
            })
            .collect();
        let rows = if is_typed {
            format!("SELECT {}{values} WHERE {}", cells.join(", "), self.needs)
        } else {
            format!("VALUES ({}{values})", cells.join(", "))
        };
        format!(
            "INSERT INTO {} ({}{more}) {rows} ON CONFLICT DO NOTHING",
            self.name,
            names.join(", ")
        )
    }
}

impl Table {
    /// Where it stands among the tables.
    pub fn place(&self) -> usize {
        let place = TABLES.iter().position(|table| table.name == self.name);
        place.unwrap_or(usize::MAX)
    }

    /// What stands before every key.
    pub fn start(&self) -> Vec<Cell> {
        let key = self.columns.iter().take(self.key);
        let before = key.map(|column| match column.kind {
            Kind::Text => Cell::Text(String::new()),
            _ => Cell::Int(i64::MIN),
        });
        before.collect()
    }

    /// The key of a row.
    pub fn key_of(&self, row: &[Cell]) -> Vec<Cell> {
        row.iter().take(self.key).cloned().collect()
    }

    /// The cell of a row in a column.
    pub fn cell<'r>(&self, row: &'r [Cell], name: &str) -> Option<&'r Cell> {
        let place = self.columns.iter().position(|column| column.name == name)?;
        row.get(place)
    }
}

/// The rows behind a key, in the order of their keys.
pub fn page(
    tx: &mut Tx<'_>,
    table: &Table,
    after: &[Cell],
    limit: i64,
) -> Result<Vec<Vec<Cell>>, Fault> {
    let mut args: Vec<Value<'_>> = after.iter().map(Cell::value).collect();
    args.push(limit.into());
    tx.rows(table.page, &args, |row| {
        let cells = table.columns.iter().enumerate();
        cells
            .map(|(place, column)| read(row, place, column.kind))
            .collect()
    })
}

fn read(row: &Row<'_, '_>, place: usize, kind: Kind) -> Result<Cell, Fault> {
    Ok(match kind {
        kind if kind.is_text() => Cell::Text(row.text(place)?),
        Kind::Bytes => Cell::Bytes(row.bytes(place)?),
        Kind::OptTime | Kind::OptOf(_) => row.opt_int(place)?.map_or(Cell::Null, Cell::Int),
        _ => Cell::Int(row.int(place)?),
    })
}

/// Adds a row and moves what moves with it.
pub fn insert(tx: &mut Tx<'_>, table: &Table, row: &[Cell]) -> Result<Outcome, Fault> {
    let args: Vec<Value<'_>> = row.iter().map(Cell::value).collect();
    if tx.exec(table.insert, &args)? == 0 {
        let key: Vec<Value<'_>> = row.iter().take(table.key).map(Cell::value).collect();
        let same = tx.row(table.same, &key, |_| Ok(()))?;
        return Ok(same.map_or(Outcome::Refused, |()| Outcome::There));
    }
    for (sql, columns) in table.steps {
        let args = columns
            .iter()
            .map(|name| table.cell(row, name).map_or(Value::Null, Cell::value));
        let args: Vec<Value<'_>> = args.collect();
        tx.exec(sql, &args)?;
    }
    Ok(Outcome::Added)
}

/// Whether there is a row with an id in a table that carried rows refer to.
pub fn exists(tx: &mut Tx<'_>, table: &str, id: i64) -> Result<bool, Fault> {
    let known = declared::REFERRED.iter().find(|(name, _)| *name == table);
    let (_, sql) = known.ok_or_else(|| Fault::new(format!("rows refer to {table}")))?;
    Ok(tx.row(sql, &[id.into()], |_| Ok(()))?.is_some())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::{Kind, declared, tables};
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
            ],
        ),
        (
            "what happened on this server, not what is there",
            &[
                "event",
                "follower",
                "audit",
                "app_use",
                "credential_use",
                "app_read",
                "post_read",
                "stream_connection",
                "notification",
            ],
        ),
        (
            "an import's own notes, and this database's",
            &[
                "meta",
                "import_progress",
                "import_alias",
                "import_name",
                "import_author",
            ],
        ),
        ("not finished", &["upload", "upload_segment"]),
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
                "ad_hour",
                "ad_total",
                "ad_active",
                "ad_job",
                "ad_auction",
                "ad_video",
            ],
        ),
        (
            "stands on receivers and on what users have let an app see",
            &["activity_subscription", "account_subscription"],
        ),
        (
            "told once and then gone, to those who asked",
            &["compliance_job", "compliance_part"],
        ),
        (
            "receivers prove that they know an app's secret, which is another one elsewhere",
            &[
                "webhook",
                "webhook_lease",
                "stream_link",
                "delivery",
                "delivery_attempt",
                "replay",
            ],
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
            ],
        ),
    ];

    #[test]
    fn every_table_is_carried_or_left_out_for_a_reason() {
        let carried = tables().iter().map(|table| table.name);
        let left = LEFT_OUT
            .iter()
            .flat_map(|(_, tables)| tables.iter().copied());
        let known: Vec<&str> = SPOKEN.iter().copied().chain(carried).chain(left).collect();
        let once: BTreeSet<&str> = known.iter().copied().collect();
        assert_eq!(known.len(), once.len(), "a table is named twice");
        let there = schema::tables();
        let there: BTreeSet<&str> = there.keys().map(String::as_str).collect();
        assert_eq!(there, once);
    }

    #[test]
    fn every_column_is_carried_or_counted() {
        // Counters, and secrets that are made anew.
        let made = [
            ("community", "member_count"),
            ("poll_option", "votes"),
            ("space", "participant_count"),
            ("space", "subscriber_count"),
            ("dm_event", "copies"),
            ("note", "helpful"),
            ("note", "not_helpful"),
            ("app", "api_key"),
            ("app", "api_secret"),
            ("app", "bearer"),
            ("app", "bearer_digest"),
            ("app", "client_id"),
            ("app", "client_secret_digest"),
        ];
        let there = schema::tables();
        for table in tables() {
            let mut columns: BTreeSet<&str> =
                there[table.name].iter().map(String::as_str).collect();
            for column in table.columns {
                assert!(
                    columns.remove(column.name),
                    "{}.{}",
                    table.name,
                    column.name
                );
            }
            columns.retain(|column| !made.contains(&(table.name, *column)));
            assert!(columns.is_empty(), "{}: {columns:?}", table.name);
        }
    }

    #[test]
    fn what_rows_refer_to_comes_before_them() {
        let mut seen: Vec<&str> = SPOKEN.to_vec();
        for table in tables() {
            for column in table.columns {
                if let Kind::Of(other) | Kind::OptOf(other) = column.kind {
                    assert!(seen.contains(&other), "{} before {other}", table.name);
                    let known = declared::REFERRED.iter().any(|(name, _)| *name == other);
                    assert!(known, "{other} is not looked for");
                }
            }
            seen.push(table.name);
        }
    }
}
