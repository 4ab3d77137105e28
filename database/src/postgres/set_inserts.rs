//! Rows that wait to be inserted: those of the same statement are sent as one.

use std::fmt::Write as _;

use tokio_postgres::types::Type;

use crate::value::OwnedValue;

/// Of one statement; as many as an import's chunk has.
const MAX_ROWS: usize = 2_000;
const MAX_BYTES: usize = 4 << 20;
const VALUES: &str = ") VALUES (";

#[derive(Default)]
pub(super) struct PendingInserts {
    by_statement: Vec<SetInsert>,
    bytes: usize,
}

pub(super) struct SetInsert {
    /// For one row.
    pub(super) sql: String,
    pub(super) rows: Vec<Vec<OwnedValue>>,
}

impl PendingInserts {
    /// Returns false if the rows must be sent now.
    pub(super) fn push(&mut self, sql: &str, row: Vec<OwnedValue>) -> bool {
        self.bytes = self.bytes.saturating_add(row.iter().map(OwnedValue::size).sum());
        let known = self.by_statement.iter().position(|insert| insert.sql == sql);
        let position = known.unwrap_or_else(|| {
            self.by_statement.push(SetInsert { sql: sql.to_owned(), rows: Vec::new() });
            self.by_statement.len() - 1
        });
        let rows = self.by_statement.get_mut(position).map(|insert| {
            insert.rows.push(row);
            insert.rows.len()
        });
        rows < Some(MAX_ROWS) && self.bytes < MAX_BYTES
    }

    pub(super) fn take(&mut self) -> Vec<SetInsert> {
        self.bytes = 0;
        std::mem::take(&mut self.by_statement)
    }

    pub(super) fn clear(&mut self) {
        self.take();
    }
}

impl SetInsert {
    /// `INSERT INTO t (a, b) VALUES ($1, $2)` as `INSERT INTO t (a, b) SELECT * FROM unnest($1::int8[], $2::text[])`.
    pub(super) fn to_set_sql(&self, types: &[Type]) -> String {
        let (head, rest) = self.sql.split_once(VALUES).unwrap_or((&self.sql, ""));
        let tail = rest.split_once(')').map_or("", |(_, tail)| tail);
        let mut sql = format!("{head}) SELECT * FROM unnest(");
        for (number, kind) in (1..).zip(types) {
            let comma = if number > 1 { ", " } else { "" };
            let _infallible = write!(sql, "{comma}${number}::{}[]", kind.name());
        }
        sql.push(')');
        sql.push_str(tail);
        sql
    }

    pub(super) fn into_columns(self) -> Vec<OwnedValue> {
        let count = self.rows.first().map_or(0, Vec::len);
        let mut columns: Vec<Vec<OwnedValue>> = (0..count).map(|_| Vec::with_capacity(self.rows.len())).collect();
        for row in self.rows {
            for (column, value) in columns.iter_mut().zip(row) {
                column.push(value);
            }
        }
        columns.into_iter().map(OwnedValue::Column).collect()
    }
}

/// Whether a statement inserts one row of arguments, in the order of its columns.
pub(super) fn is_plain_insert(sql: &str) -> bool {
    let values = sql.strip_prefix("INSERT INTO ").and_then(|rest| rest.split_once(VALUES));
    let Some((values, tail)) = values.and_then(|(_, rest)| rest.split_once(')')) else {
        return false;
    };
    let are_arguments = (1..).zip(values.split(", ")).all(|(number, value)| {
        value.strip_prefix('$').is_some_and(|digits| digits.parse() == Ok::<usize, std::num::ParseIntError>(number))
    });
    are_arguments && matches!(tail, "" | " ON CONFLICT DO NOTHING")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_inserts_of_one_row_of_arguments_are_put_together() {
        let plain = ["INSERT INTO t (a, b) VALUES ($1, $2)", "INSERT INTO t (a) VALUES ($1) ON CONFLICT DO NOTHING"];
        let others = [
            "INSERT INTO t (a, b) VALUES ($1, 0)",
            "INSERT INTO t (a, b) VALUES ($2, $1)",
            "INSERT INTO t (a) VALUES ($1) ON CONFLICT (a) DO UPDATE SET a = excluded.a",
            "INSERT INTO t (a) SELECT b FROM u WHERE c = $1",
            "UPDATE t SET a = $1",
        ];
        assert!(plain.into_iter().all(is_plain_insert));
        assert!(!others.into_iter().any(is_plain_insert));
    }

    #[test]
    fn rows_of_a_statement_become_arrays_of_its_columns() {
        let row = |number| vec![OwnedValue::Int(number), OwnedValue::Null];
        let sql = "INSERT INTO t (a, b) VALUES ($1, $2) ON CONFLICT DO NOTHING".to_owned();
        let insert = SetInsert { sql, rows: vec![row(1), row(2)] };
        assert_eq!(
            insert.to_set_sql(&[Type::INT8, Type::TEXT]),
            "INSERT INTO t (a, b) SELECT * FROM unnest($1::int8[], $2::text[]) ON CONFLICT DO NOTHING"
        );
        let columns = insert.into_columns();
        let numbers = OwnedValue::Column(vec![OwnedValue::Int(1), OwnedValue::Int(2)]);
        assert_eq!(columns, [numbers, OwnedValue::Column(vec![OwnedValue::Null, OwnedValue::Null])]);
    }
}
