//! SQL texts, put together at compile time: statements are cached by their text.

/// A text under construction. [`statement`](crate::statement) builds it twice: first to learn its length.
#[doc(hidden)] // for macros
pub struct SqlText<const N: usize> {
    pub bytes: [u8; N],
    pub length: usize,
}

#[expect(clippy::indexing_slicing, reason = "evaluated by the compiler, which reports an index out of bounds")]
impl<const N: usize> SqlText<N> {
    const EMPTY: Self = Self { bytes: [0; N], length: 0 };

    const fn push(mut self, text: &str) -> Self {
        let mut at = 0;
        while at < text.len() {
            self.bytes[self.length] = text.as_bytes()[at];
            self.length += 1;
            at += 1;
        }
        self
    }

    /// `$1`, `$2`, …, `$99`.
    const fn push_placeholder(mut self, number: usize) -> Self {
        self = self.push("$");
        if number >= 10 {
            self.bytes[self.length] = b"0123456789"[number / 10];
            self.length += 1;
        }
        self.bytes[self.length] = b"0123456789"[number % 10];
        self.length += 1;
        self
    }

    pub const fn join(parts: &[&str]) -> Self {
        let (mut text, mut at) = (Self::EMPTY, 0);
        while at < parts.len() {
            text = text.push(parts[at]);
            at += 1;
        }
        text
    }

    /// `INSERT INTO table (a, b) VALUES ($1, $2)` and `tail`; the columns are those of both lists.
    pub const fn insert(table: &str, columns: [&[&str]; 2], tail: &str) -> Self {
        let mut text = Self::join(&["INSERT INTO ", table, " ("]);
        let (mut list, mut at, mut count) = (0, 0, 0);
        while list < columns.len() {
            if at < columns[list].len() {
                text = text.push(if count > 0 { ", " } else { "" }).push(columns[list][at]);
                (at, count) = (at + 1, count + 1);
            } else {
                (list, at) = (list + 1, 0);
            }
        }
        text = text.push(") VALUES (");
        let mut number = 1;
        while number <= count {
            text = text.push(if number > 1 { ", " } else { "" }).push_placeholder(number);
            number += 1;
        }
        text.push(")").push(tail)
    }

    /// `UPDATE table SET a = $1, b = $2 WHERE c = $3 AND d = $4`.
    pub const fn update(table: &str, columns: &[&str], keys: &[&str]) -> Self {
        let (mut text, mut number) = (Self::join(&["UPDATE ", table, " SET "]), 0);
        while number < columns.len() + keys.len() {
            text = if number < columns.len() {
                text.push(if number > 0 { ", " } else { "" }).push(columns[number])
            } else {
                text.push(if number > columns.len() { " AND " } else { " WHERE " }).push(keys[number - columns.len()])
            };
            number += 1;
            text = text.push(" = ").push_placeholder(number);
        }
        text
    }
}

/// Without the last two characters.
pub const fn trim_list(text: &str) -> &str {
    text.split_at(text.len() - 2).0
}

#[doc(hidden)] // for macros
pub const fn as_text(bytes: &[u8]) -> &str {
    match std::str::from_utf8(bytes) {
        Ok(text) => text,
        Err(_) => panic!("SQL is UTF-8"),
    }
}

/// The text that a constructor of [`SqlText`] returns, as a constant.
#[macro_export]
macro_rules! statement {
    ($constructor:ident($($arg:expr),*)) => {{
        const LENGTH: usize = $crate::SqlText::<8192>::$constructor($($arg),*).length;
        const BYTES: [u8; LENGTH] = $crate::SqlText::<LENGTH>::$constructor($($arg),*).bytes;
        const { $crate::as_text(&BYTES) }
    }};
}

/// Joins constant texts.
#[macro_export]
macro_rules! sql {
    ($($part:expr),+ $(,)?) => {
        $crate::statement!(join(&[$($part),+]))
    };
}

/// `SELECT` all columns of a declared row `FROM` its table, and the rest of the query. Columns after a `+` follow those
/// of the row.
#[macro_export]
macro_rules! select {
    ($row:ident $(+ $more:literal)?, $($rest:expr),+ $(,)?) => {
        $crate::sql!(
            "SELECT ",
            <$row as $crate::DeclaredRow>::COLUMNS,
            $(", ", $more,)?
            " FROM ",
            <$row as $crate::DeclaredRow>::SOURCE,
            " ",
            $($rest),+
        )
    };
}

/// Inserts a row by the names of its columns: `insert!(tx, "table", column = value, …)`, or a declared row with further
/// columns: `insert!(tx, Row, &row, column = value, …)`.
#[macro_export]
macro_rules! insert {
    ($($insert:tt)+) => {
        $crate::insert_with!(@execute_later, "", $($insert)+)
    };
}

/// As [`insert`]; returns false if a row with the same key exists.
#[macro_export]
macro_rules! insert_new {
    ($($insert:tt)+) => {
        $crate::insert_with!(" ON CONFLICT DO NOTHING", $($insert)+).map(|rows| rows > 0)
    };
}

/// As [`insert_new`], if it does not matter whether there was a row.
#[macro_export]
macro_rules! insert_new_later {
    ($($insert:tt)+) => {
        $crate::insert_with!(@execute_later, " ON CONFLICT DO NOTHING", $($insert)+)
    };
}

/// As [`insert`], with the end of the statement first; returns the number of affected rows.
#[macro_export]
macro_rules! insert_with {
    (@$execute:ident, $tail:expr, $tx:expr, $table:literal, $($column:ident = $value:expr),+ $(,)?) => {{
        let sql = $crate::statement!(insert($table, [&[$(stringify!($column)),+], &[]], $tail));
        let values = [$($crate::SqlValue::from($value)),+];
        $tx.$execute(sql, &values)
    }};
    (@$execute:ident, $tail:expr, $tx:expr, $row:ident, $value:expr $(, $column:ident = $more:expr)* $(,)?) => {{
        let sql = $crate::statement!(insert(
            <$row as $crate::DeclaredRow>::TABLE,
            [<$row as $crate::InsertableRow>::INSERTED, &[$(stringify!($column)),*]],
            $tail
        ));
        let more: &[$crate::SqlValue<'_>] = &[$($more.into()),*];
        let values = [$crate::InsertableRow::to_values($value).as_slice(), more].concat();
        $tx.$execute(sql, &values)
    }};
    ($tail:expr, $($insert:tt)+) => {
        $crate::insert_with!(@execute, $tail, $($insert)+)
    };
}

/// Updates the columns of some fields of a struct, and further ones, in the rows with these keys.
#[macro_export]
macro_rules! update {
    (
        $tx:expr, $table:literal, $row:ident: [$($field:ident),*], $([$($column:ident = $value:expr),*],)?
        $($key:ident = $id:expr),+
    ) => {{
        let sql = $crate::statement!(update(
            $table,
            &[$(stringify!($field),)* $($(stringify!($column)),*)?],
            &[$(stringify!($key)),+]
        ));
        let values = [
            $($crate::ColumnValue::to_value(&$row.$field),)*
            $($($crate::SqlValue::from($value),)*)?
            $($crate::SqlValue::from($id)),+
        ];
        $tx.execute_later(sql, &values)
    }};
}
