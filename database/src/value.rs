//! Statement arguments and result rows.

use std::error::Error;
use std::fmt;

use base::{Fault, Id};
use bytes::BytesMut;
use tokio_postgres::types::{IsNull, ToSql, Type, to_sql_checked};

#[derive(Clone, Copy, Debug)]
pub enum SqlValue<'a> {
    Null,
    Int(i64),
    Text(&'a str),
    Bytes(&'a [u8]),
    /// Stored as a text.
    List(&'a dyn ValueList),
    /// An array, which only PostgreSQL has.
    Keys(&'a [i64]),
}

/// Values that one column stores as a comma-separated text.
pub trait ValueList: fmt::Debug + Sync {
    fn join(&self) -> String;
}

impl<K> ValueList for Vec<Id<K>> {
    fn join(&self) -> String {
        self.iter().map(Id::to_string).collect::<Vec<_>>().join(",")
    }
}

macro_rules! from {
    ($($from:ty => |$value:ident| $to:expr;)*) => {
        $(impl<'a> From<$from> for SqlValue<'a> {
            fn from($value: $from) -> Self { $to }
        })*
    };
}

from! {
    i64 => |value| Self::Int(value);
    bool => |value| Self::Int(i64::from(value));
    &'a str => |value| Self::Text(value);
    &'a String => |value| Self::Text(value);
    &'a [u8] => |value| Self::Bytes(value);
    &'a Vec<u8> => |value| Self::Bytes(value);
    &'a [u8; 32] => |value| Self::Bytes(value);
    base::Time => |value| Self::Int(value.ms());
}

impl<K> From<Id<K>> for SqlValue<'_> {
    fn from(id: Id<K>) -> Self {
        Self::Int(id.get())
    }
}

impl<'a, T: Into<SqlValue<'a>>> From<Option<T>> for SqlValue<'a> {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Null, Into::into)
    }
}

impl rusqlite::ToSql for SqlValue<'_> {
    fn to_sql(&self) -> rusqlite::Result<rusqlite::types::ToSqlOutput<'_>> {
        use rusqlite::types::ValueRef;
        Ok(rusqlite::types::ToSqlOutput::Borrowed(match *self {
            Self::List(list) => return Ok(list.join().into()),
            Self::Keys(_) => return Err(rusqlite::Error::ToSqlConversionFailure("SQLite has no arrays".into())),
            Self::Null => ValueRef::Null,
            Self::Int(value) => ValueRef::Integer(value),
            Self::Text(value) => ValueRef::Text(value.as_bytes()),
            Self::Bytes(value) => ValueRef::Blob(value),
        }))
    }
}

impl ToSql for SqlValue<'_> {
    fn to_sql(&self, ty: &Type, out: &mut BytesMut) -> Result<IsNull, Box<dyn Error + Sync + Send>> {
        match *self {
            Self::Null => Ok(IsNull::Yes),
            Self::Int(value) if *ty == Type::INT4 => i32::try_from(value)?.to_sql(ty, out),
            Self::Int(value) => value.to_sql(ty, out),
            Self::Text(value) => value.to_sql(ty, out),
            Self::Bytes(value) => value.to_sql(ty, out),
            Self::List(list) => list.join().to_sql(ty, out),
            Self::Keys(keys) => keys.to_sql(ty, out),
        }
    }

    fn accepts(_: &Type) -> bool {
        true
    }

    to_sql_checked!();
}

/// An argument of a statement that is sent later.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum OwnedValue {
    Null,
    Int(i64),
    Text(String),
    Bytes(Vec<u8>),
    /// Of a query for several keys.
    Keys(Vec<i64>),
    /// The values of several rows.
    Column(Vec<OwnedValue>),
}

impl OwnedValue {
    /// Bytes.
    pub(super) const fn size(&self) -> usize {
        match self {
            Self::Null | Self::Int(_) => 8,
            Self::Text(text) => text.len(),
            Self::Bytes(bytes) => bytes.len(),
            Self::Keys(keys) => keys.len() * 8,
            Self::Column(values) => values.len() * 8,
        }
    }
}

impl From<&SqlValue<'_>> for OwnedValue {
    fn from(value: &SqlValue<'_>) -> Self {
        match *value {
            SqlValue::Null => Self::Null,
            SqlValue::Int(value) => Self::Int(value),
            SqlValue::Text(value) => Self::Text(value.to_owned()),
            SqlValue::Bytes(value) => Self::Bytes(value.to_owned()),
            SqlValue::List(list) => Self::Text(list.join()),
            SqlValue::Keys(keys) => Self::Keys(keys.to_vec()),
        }
    }
}

impl ToSql for OwnedValue {
    fn to_sql(&self, ty: &Type, out: &mut BytesMut) -> Result<IsNull, Box<dyn Error + Sync + Send>> {
        match self {
            Self::Null => Ok(IsNull::Yes),
            Self::Int(value) => SqlValue::Int(*value).to_sql(ty, out),
            Self::Text(value) => value.to_sql(ty, out),
            Self::Bytes(value) => value.to_sql(ty, out),
            Self::Keys(keys) => keys.to_sql(ty, out),
            Self::Column(values) => values.to_sql(ty, out),
        }
    }

    fn accepts(_: &Type) -> bool {
        true
    }

    to_sql_checked!();
}

/// A row of either engine.
pub(crate) enum SqlRow<'r, 's> {
    Sqlite(&'r rusqlite::Row<'s>),
    Postgres(&'r tokio_postgres::Row),
}

impl SqlRow<'_, '_> {
    /// Cells are counted from 0.
    #[inline] // read for every cell, from every module
    pub(super) fn get<T>(&self, cell: usize) -> Result<T, Fault>
    where
        T: rusqlite::types::FromSql + for<'a> tokio_postgres::types::FromSql<'a>,
    {
        match self {
            Self::Sqlite(row) => row.get(cell).map_err(Fault::context("reading a cell")),
            Self::Postgres(row) => row.try_get(cell).map_err(Fault::context("reading a cell")),
        }
    }
}

/// Declares an enumeration whose variants are stored as numbers, and may have names.
#[macro_export]
macro_rules! stored_enum {
    ($(#[$attribute:meta])* pub enum $name:ident {
        $($(#[$about:meta])* $variant:ident = $number:literal $text:literal,)*
    }) => {
        base::named_enum! {
            $(#[$attribute])*
            pub enum $name { $($(#[$about])* $variant = $text,)* }
        }
        $crate::stored_enum! { @numbers $name { $($variant = $number),* } }
    };
    ($(#[$attribute:meta])* pub enum $name:ident {
        $($(#[$about:meta])* $variant:ident = $number:literal,)*
    }) => {
        $(#[$attribute])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $name { $($(#[$about])* $variant,)* }

        $crate::stored_enum! { @numbers $name { $($variant = $number),* } }
    };
    (@numbers $name:ident { $($variant:ident = $number:literal),* }) => {
        impl $name {
            pub const fn to_number(self) -> i64 {
                match self { $(Self::$variant => $number),* }
            }

            pub const fn from_number(number: i64) -> Option<Self> {
                match number {
                    $($number => Some(Self::$variant),)*
                    _ => None,
                }
            }
        }

        impl $crate::ColumnValue for $name {
            type Stored = i64;

            #[inline]
            fn from_stored(stored: i64) -> Result<Self, base::Fault> {
                let unknown = || base::Fault::new(format!("unknown {} {stored}", stringify!($name)));
                Self::from_number(stored).ok_or_else(unknown)
            }

            fn to_value(&self) -> $crate::SqlValue<'_> {
                (*self).into()
            }
        }

        impl From<$name> for $crate::SqlValue<'_> {
            fn from(value: $name) -> Self {
                Self::Int(value.to_number())
            }
        }
    };
}

/// Declares an enumeration whose variants are stored by their names.
#[macro_export]
macro_rules! stored_name_enum {
    ($(#[$attribute:meta])* pub enum $name:ident { $($(#[$about:meta])* $variant:ident = $text:literal,)* }) => {
        base::named_enum! {
            $(#[$attribute])*
            pub enum $name { $($(#[$about])* $variant = $text,)* }
        }

        impl std::str::FromStr for $name {
            type Err = base::Fault;

            fn from_str(text: &str) -> Result<Self, base::Fault> {
                let names = || Self::ALL.map(Self::name).join(", ");
                Self::parse(text).ok_or_else(|| base::Fault::new(format!("{text:?} is not one of {}", names())))
            }
        }

        impl $crate::ColumnValue for $name {
            type Stored = String;

            fn from_stored(stored: String) -> Result<Self, base::Fault> {
                stored.parse()
            }

            fn to_value(&self) -> $crate::SqlValue<'_> {
                (*self).into()
            }
        }

        impl From<$name> for $crate::SqlValue<'_> {
            fn from(value: $name) -> Self {
                Self::Text(value.name())
            }
        }
    };
}
