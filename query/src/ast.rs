//! The syntax tree of a query, and its canonical text.

use std::fmt;

use crate::dialect::QueryDialect;
use crate::operators::{OperatorKind, QueryOperator};
use crate::post_features::MatchMode;

/// A valid query. Equality ignores case, positions and the dialect.
#[derive(Clone, Debug)]
pub struct ParsedQuery {
    pub(crate) root: QueryNode,
    pub(crate) dialect: QueryDialect,
}

impl ParsedQuery {
    pub const fn root(&self) -> &QueryNode {
        &self.root
    }

    pub const fn dialect(&self) -> QueryDialect {
        self.dialect
    }

    /// The mode in which a post must be analysed to be compared with this query.
    pub const fn match_mode(&self) -> MatchMode {
        self.dialect.match_mode()
    }
}

impl PartialEq for ParsedQuery {
    fn eq(&self, other: &Self) -> bool {
        self.root == other.root
    }
}

/// A node of the syntax tree. Only terms are negated: De Morgan's laws are applied to negated
/// groups.
#[derive(Clone, Debug, PartialEq)]
pub enum QueryNode {
    /// Never directly contains another `All`.
    All(Vec<QueryNode>),
    /// Never directly contains another `Any`.
    Any(Vec<QueryNode>),
    Is(QueryTerm),
    Not(QueryTerm),
}

#[derive(Clone, Debug)]
pub struct QueryTerm {
    /// The first character of the term, including its minus sign, counted from 1.
    pub position: usize,
    pub operator: &'static QueryOperator,
    pub value: TermValue,
}

impl PartialEq for QueryTerm {
    fn eq(&self, other: &Self) -> bool {
        self.operator == other.operator && self.value == other.value
    }
}

#[derive(Clone, Debug, PartialEq)]
pub enum TermValue {
    /// Consecutive words, or words within `near` positions of each other; hashed for the match
    /// mode.
    Words {
        text: String,
        hashes: Box<[u64]>,
        near: Option<u8>,
    },
    Feature {
        text: String,
        feature: u64,
    },
    Flag(u16),
    Language(u8),
    /// In per cent.
    Sample(u8),
    /// Minimum and maximum, inclusive.
    Range(u64, u64),
    /// Longitude, latitude, radius, and whether the radius is in miles.
    Circle(f64, f64, f64, bool),
    Rectangle(crate::geo::GeoArea),
    Substring(String),
}

impl fmt::Display for ParsedQuery {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.root.fmt(out)
    }
}

impl fmt::Display for QueryNode {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (parts, separator) = match self {
            Self::Is(term) => return term.fmt(out),
            Self::Not(term) => return write!(out, "-{term}"),
            Self::All(parts) => (parts, " "),
            Self::Any(parts) => (parts, " OR "),
        };
        let mut first = true;
        for part in parts {
            if !first {
                out.write_str(separator)?;
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
            TermValue::Range(min, u64::MAX) => write!(out, "{min}"),
            TermValue::Range(min, max) => write!(out, "{min}..{max}"),
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
