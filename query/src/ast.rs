//! A query as a tree, and its canonical print.

use std::fmt;

use crate::dialect::QueryDialect;
use crate::facts::MatchMode;
use crate::operators::{OperatorKind, QueryOperator};

/// A sound query. Equal queries mean the same: case and positions do not count.
#[derive(Clone, Debug)]
pub struct ParsedQuery {
    pub(crate) root: QueryNode,
    pub(crate) dialect: QueryDialect,
}

impl ParsedQuery {
    /// Its tree.
    pub const fn root(&self) -> &QueryNode {
        &self.root
    }

    /// What it was written for.
    pub const fn dialect(&self) -> QueryDialect {
        self.dialect
    }

    /// How a post must be read to be compared with it.
    pub const fn match_mode(&self) -> MatchMode {
        if self.dialect.product.is_search() {
            MatchMode::Search
        } else {
            MatchMode::Stream
        }
    }
}

impl PartialEq for ParsedQuery {
    fn eq(&self, other: &Self) -> bool {
        self.root == other.root
    }
}

/// A part of a query. Negations stand at the terms: negated groups are turned inside out.
#[derive(Clone, Debug, PartialEq)]
pub enum QueryNode {
    /// Each of them; never another `All` directly inside.
    All(Vec<QueryNode>),
    /// Any of them; never another `Any` directly inside.
    Any(Vec<QueryNode>),
    /// What a term says.
    Is(QueryTerm),
    /// What a term denies.
    Not(QueryTerm),
}

/// An operator with its value.
#[derive(Clone, Debug)]
pub struct QueryTerm {
    /// Its first character in the query (its minus sign, where it has one), counted from 1.
    pub position: usize,
    /// The operator.
    pub operator: &'static QueryOperator,
    /// Its value.
    pub value: TermValue,
}

impl PartialEq for QueryTerm {
    fn eq(&self, other: &Self) -> bool {
        self.operator == other.operator && self.value == other.value
    }
}

/// What an operator is asked for.
#[derive(Clone, Debug, PartialEq)]
#[expect(missing_docs, reason = "their names say it")]
pub enum TermValue {
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
    Range(u64, u64),
    /// Longitude, latitude, radius, and whether the radius is in miles.
    Circle(f64, f64, f64, bool),
    /// A rectangle.
    Rectangle(crate::geo::GeoArea),
    /// A literal part.
    Substring(String),
}

impl fmt::Display for ParsedQuery {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.root.fmt(out)
    }
}

impl fmt::Display for QueryNode {
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

impl fmt::Display for QueryTerm {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = self.operator.name();
        match name {
            "keyword" | "\"" => {}
            "#" | "@" | "$" => out.write_str(name)?,
            _ if matches!(self.operator.kind, OperatorKind::Flag(_)) => return out.write_str(name),
            _ => write!(out, "{name}:")?,
        }
        match &self.value {
            TermValue::Words { text, near, .. } => {
                if name == "\"" {
                    write_quoted(text, out)?;
                } else {
                    write_bare(text, out)?;
                }
                near.map_or(Ok(()), |near| write!(out, "~{near}"))
            }
            TermValue::Feature { text, .. } | TermValue::Substring(text) => write_bare(text, out),
            TermValue::Flag(_) => Ok(()),
            TermValue::Language(language) => out.write_str(crate::languages::language_code(*language)),
            TermValue::Sample(share) => write!(out, "{share}"),
            TermValue::Range(least, u64::MAX) => write!(out, "{least}"),
            TermValue::Range(least, most) => write!(out, "{least}..{most}"),
            TermValue::Circle(lon, lat, radius, miles) => {
                let unit = if *miles { "mi" } else { "km" };
                write!(out, "[{lon} {lat} {radius}{unit}]")
            }
            TermValue::Rectangle(area) => write!(out, "[{} {} {} {}]", area.west, area.south, area.east, area.north),
        }
    }
}

fn write_bare(text: &str, out: &mut fmt::Formatter<'_>) -> fmt::Result {
    let plain = |letter: char| !letter.is_whitespace() && !matches!(letter, '(' | ')' | '"');
    if text.chars().all(plain) && !text.starts_with('[') && !text.is_empty() {
        out.write_str(text)
    } else {
        write_quoted(text, out)
    }
}

fn write_quoted(text: &str, out: &mut fmt::Formatter<'_>) -> fmt::Result {
    write!(out, "\"{}\"", text.replace('"', "\\\""))
}
