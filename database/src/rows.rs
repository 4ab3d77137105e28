//! Rows by name: each table or result declares its columns once, as the fields of a struct.

use base::{Fault, Id, Time};
use rusqlite::types::FromSql;

use super::value::{SqlRow, SqlValue};

/// A value of one column.
pub trait ColumnValue: Sized {
    /// `i64`, `String` or `Vec<u8>`, or an option of one.
    type Stored: FromSql + for<'a> tokio_postgres::types::FromSql<'a>;

    fn from_stored(stored: Self::Stored) -> Result<Self, Fault>;

    fn to_value(&self) -> SqlValue<'_>;
}

macro_rules! column_values {
    ($($type:ty as $stored:ty: |$read:ident| $from:expr, |$write:ident| $to:expr;)*) => {
        $(impl ColumnValue for $type {
            type Stored = $stored;

            #[inline]
            fn from_stored($read: $stored) -> Result<Self, Fault> {
                Ok($from)
            }

            fn to_value(&self) -> SqlValue<'_> {
                let $write = self;
                $to.into()
            }
        })*
    };
}

column_values! {
    i64 as i64: |stored| stored, |value| *value;
    bool as i64: |stored| stored != 0, |value| *value;
    Time as i64: |stored| Time::from_ms(stored), |value| *value;
    String as String: |stored| stored, |value| value;
    Vec<u8> as Vec<u8>: |stored| stored, |value| value;
}

impl<K> ColumnValue for Id<K> {
    type Stored = i64;

    #[inline]
    fn from_stored(stored: i64) -> Result<Self, Fault> {
        Ok(Self::new(stored))
    }

    fn to_value(&self) -> SqlValue<'_> {
        (*self).into()
    }
}

impl<const N: usize> ColumnValue for [u8; N] {
    type Stored = Vec<u8>;

    fn from_stored(stored: Vec<u8>) -> Result<Self, Fault> {
        Self::try_from(stored).map_err(|stored| Fault::new(format!("{} bytes instead of {N}", stored.len())))
    }

    fn to_value(&self) -> SqlValue<'_> {
        SqlValue::Bytes(self)
    }
}

/// Stored as a comma-separated text.
impl<K> ColumnValue for Vec<Id<K>> {
    type Stored = String;

    fn from_stored(stored: String) -> Result<Self, Fault> {
        Ok(stored.split(',').filter_map(Id::parse).collect())
    }

    fn to_value(&self) -> SqlValue<'_> {
        SqlValue::List(self)
    }
}

impl<T: ColumnValue> ColumnValue for Option<T>
where
    Option<T::Stored>: FromSql + for<'a> tokio_postgres::types::FromSql<'a>,
{
    type Stored = Option<T::Stored>;

    #[inline]
    fn from_stored(stored: Self::Stored) -> Result<Self, Fault> {
        stored.map(T::from_stored).transpose()
    }

    fn to_value(&self) -> SqlValue<'_> {
        self.as_ref().map_or(SqlValue::Null, T::to_value)
    }
}

/// Reads one row of a query; false ends the query. Not generic, so that queries are compiled once and not for each type.
pub(crate) type RowReader<'f> = dyn FnMut(&mut RowCells<'_, '_, '_>) -> Result<bool, Fault> + 'f;

/// The cells of a row, read from left to right.
pub struct RowCells<'a, 'r, 's> {
    row: &'a SqlRow<'r, 's>,
    next: usize,
}

impl<'a, 'r, 's> RowCells<'a, 'r, 's> {
    pub(crate) const fn new(row: &'a SqlRow<'r, 's>) -> Self {
        Self { row, next: 0 }
    }

    /// Reads as many cells as `T` has columns.
    #[inline] // read for every cell, from every module
    pub fn read<T: FromCells>(&mut self) -> Result<T, Fault> {
        T::from_cells(self)
    }
}

/// A column's value, a declared row, or a tuple of both.
pub trait FromCells: Sized {
    fn from_cells(cells: &mut RowCells<'_, '_, '_>) -> Result<Self, Fault>;
}

impl<T: ColumnValue> FromCells for T {
    #[inline] // read for every cell, from every module
    fn from_cells(cells: &mut RowCells<'_, '_, '_>) -> Result<Self, Fault> {
        let cell = cells.next;
        cells.next += 1;
        T::from_stored(cells.row.get(cell)?)
    }
}

impl<const N: usize> FromCells for [i64; N] {
    fn from_cells(cells: &mut RowCells<'_, '_, '_>) -> Result<Self, Fault> {
        let mut all = [0; N];
        for cell in &mut all {
            *cell = cells.read()?;
        }
        Ok(all)
    }
}

macro_rules! tuples {
    ($(($($part:ident),*))*) => {
        $(impl<$($part: FromCells),*> FromCells for ($($part,)*) {
            #[inline]
            fn from_cells(_cells: &mut RowCells<'_, '_, '_>) -> Result<Self, Fault> {
                Ok(($(_cells.read::<$part>()?,)*))
            }
        })*
    };
}
tuples! { () (A, B) (A, B, C) (A, B, C, D) (A, B, C, D, E) }

/// A struct whose fields are columns; see [`row`](crate::row).
pub trait DeclaredRow: FromCells {
    /// Empty if the row comes from several tables.
    const TABLE: &'static str;
    /// The table, and what its rows are joined with.
    const SOURCE: &'static str;
    /// Comma-separated.
    const COLUMNS: &'static str;
}

/// A struct that is inserted as a row; see [`table`](crate::table).
pub trait InsertableRow: DeclaredRow {
    const INSERTED: &'static [&'static str];

    /// In the order of `INSERTED`.
    fn to_values(&self) -> Vec<SqlValue<'_>>;
}

/// Declares a struct that is read from a row: `struct Name from "table"`, or without a table for a join. A field's
/// column has its name, or is the expression after `as`. Fields in `transient` are no columns; they have their type's
/// default value after reading. What `joining` names follows the table in queries.
#[macro_export]
macro_rules! row {
    (
        $(#[$meta:meta])* $vis:vis struct $name:ident $(from $table:literal $(joining $join:path)?)? {
            $($(#[$doc:meta])* $field_vis:vis $field:ident: $type:ty $(as $column:literal)?,)*
        }
        $(transient { $($(#[$plain_doc:meta])* $plain_vis:vis $plain:ident: $plain_type:ty,)* })?
    ) => {
        $(#[$meta])*
        $vis struct $name {
            $($(#[$doc])* $field_vis $field: $type,)*
            $($($(#[$plain_doc])* $plain_vis $plain: $plain_type,)*)?
        }

        impl $crate::DeclaredRow for $name {
            const TABLE: &'static str = concat!($($table)?);
            const SOURCE: &'static str = $crate::sql!(concat!($($table)?), $($($join)?)?);
            const COLUMNS: &'static str =
                $crate::trim_list(concat!($($crate::column_name!($field $($column)?), ", "),*));
        }

        impl $crate::FromCells for $name {
            fn from_cells(cells: &mut $crate::RowCells<'_, '_, '_>) -> Result<Self, base::Fault> {
                Ok(Self { $($field: cells.read()?,)* $($($plain: <$plain_type>::default(),)*)? })
            }
        }
    };
}

/// As [`row`](crate::row), for a struct that [`insert`](crate::insert) inserts. Columns in `read_only` are not inserted
/// with it.
#[macro_export]
macro_rules! table {
    (
        $(#[$meta:meta])* $vis:vis struct $name:ident in $table:literal $(joining $join:path)? {
            $($(#[$doc:meta])* $field_vis:vis $field:ident: $type:ty $(as $column:literal)?,)*
        }
        $(read_only {
            $($(#[$more_doc:meta])* $more_vis:vis $more:ident: $more_type:ty $(as $more_column:literal)?,)*
        })?
        $(transient { $($plain:tt)* })?
    ) => {
        $crate::row! {
            $(#[$meta])*
            $vis struct $name from $table $(joining $join)? {
                $($(#[$doc])* $field_vis $field: $type $(as $column)?,)*
                $($($(#[$more_doc])* $more_vis $more: $more_type $(as $more_column)?,)*)?
            }
            $(transient { $($plain)* })?
        }

        impl $crate::InsertableRow for $name {
            const INSERTED: &'static [&'static str] = &[$($crate::column_name!($field $($column)?)),*];

            fn to_values(&self) -> Vec<$crate::SqlValue<'_>> {
                vec![$($crate::ColumnValue::to_value(&self.$field)),*]
            }
        }
    };
}

#[doc(hidden)] // for macros
#[macro_export]
macro_rules! column_name {
    ($field:ident) => {
        stringify!($field)
    };
    ($field:ident $column:literal) => {
        $column
    };
}
