//! A query as a tree, and its canonical print.

use std::fmt;

use crate::dialect::Dialect;
use crate::facts::Reading;
use crate::operators::{How, Operator};

/// A sound query. Equal queries mean the same: case and positions do not count.
#[derive(Clone, Debug)]
pub struct Query {
    pub(crate) root: Node,
    pub(crate) dialect: Dialect,
}

impl Query {
    /// Its tree.
    pub const fn root(&self) -> &Node {
        &self.root
    }

    /// What it was written for.
    pub const fn dialect(&self) -> Dialect {
        self.dialect
    }

    /// How a post must be read to be compared with it.
    pub const fn reading(&self) -> Reading {
        if self.dialect.product.is_search() {
            Reading::Search
        } else {
            Reading::Stream
        }
    }
}

impl PartialEq for Query {
    fn eq(&self, other: &Self) -> bool {
        self.root == other.root
    }
}

/// A part of a query. Negations stand at the terms: negated groups are turned inside out.
#[derive(Clone, Debug, PartialEq)]
pub enum Node {
    /// Each of them; never another `All` directly inside.
    All(Vec<Node>),
    /// Any of them; never another `Any` directly inside.
    Any(Vec<Node>),
    /// What a term says.
    Is(Term),
    /// What a term denies.
    Not(Term),
}

/// An operator with its value.
#[derive(Clone, Debug)]
pub struct Term {
    /// Its first character in the query (its minus sign, where it has one), counted from 1.
    pub at: usize,
    /// The operator.
    pub operator: &'static Operator,
    /// Its value.
    pub value: Value,
}

impl PartialEq for Term {
    fn eq(&self, other: &Self) -> bool {
        self.operator == other.operator && self.value == other.value
    }
}

/// What an operator is asked for.
#[derive(Clone, Debug, PartialEq)]
#[expect(missing_docs, reason = "their names say it")]
pub enum Value {
    /// Consecutive words, or words within a number of places; hashed as the product reads.
    Words {
        text: String,
        hashes: Box<[u64]>,
        near: Option<u8>,
    },
    /// A whole feature: its text and its number.
    Feature { text: String, feature: u64 },
    /// `is:` and `has:`: the bit.
    Flag(u16),
    /// A language, by its place in the list.
    Language(u8),
    /// Per cent.
    Sample(u8),
    /// At least, at most.
    Between(u64, u64),
    /// Longitude, latitude, radius, and whether the radius is in miles.
    Circle(f64, f64, f64, bool),
    /// A rectangle.
    Within(crate::geo::Area),
    /// A literal part.
    Part(String),
}

impl fmt::Display for Query {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.root.fmt(out)
    }
}

impl fmt::Display for Node {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (parts, between) = match self {
            Self::Is(term) => return term.fmt(out),
            Self::Not(term) => return write!(out, "-{term}"),
            Self::All(parts) => (parts, " "),
            Self::Any(parts) => (parts, " OR "),
        };
        let mut first = true;
        for part in parts {
            if !first {
                out.write_str(between)?;
            }
            first = false;
            match part {
                Self::Any(_) => write!(out, "({part})")?,
                other => other.fmt(out)?,
            }
        }
        Ok(())
    }
}

impl fmt::Display for Term {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = self.operator.name();
        match name {
            "keyword" | "\"" => {}
            "#" | "@" | "$" => out.write_str(name)?,
            _ if matches!(self.operator.how, How::Flag(_)) => return out.write_str(name),
            _ => write!(out, "{name}:")?,
        }
        match &self.value {
            Value::Words { text, near, .. } => {
                if name == "\"" {
                    quoted(text, out)?;
                } else {
                    bare(text, out)?;
                }
                near.map_or(Ok(()), |near| write!(out, "~{near}"))
            }
            Value::Feature { text, .. } | Value::Part(text) => bare(text, out),
            Value::Flag(_) => Ok(()),
            Value::Language(language) => out.write_str(crate::languages::code(*language)),
            Value::Sample(share) => write!(out, "{share}"),
            Value::Between(least, u64::MAX) => write!(out, "{least}"),
            Value::Between(least, most) => write!(out, "{least}..{most}"),
            Value::Circle(lon, lat, radius, miles) => {
                let unit = if *miles { "mi" } else { "km" };
                write!(out, "[{lon} {lat} {radius}{unit}]")
            }
            Value::Within(area) => write!(
                out,
                "[{} {} {} {}]",
                area.west, area.south, area.east, area.north
            ),
        }
    }
}

fn bare(text: &str, out: &mut fmt::Formatter<'_>) -> fmt::Result {
    let plain = |letter: char| !letter.is_whitespace() && !matches!(letter, '(' | ')' | '"');
    if text.chars().all(plain) && !text.starts_with('[') && !text.is_empty() {
        out.write_str(text)
    } else {
        quoted(text, out)
    }
}

fn quoted(text: &str, out: &mut fmt::Formatter<'_>) -> fmt::Result {
    write!(out, "\"{}\"", text.replace('"', "\\\""))
}
