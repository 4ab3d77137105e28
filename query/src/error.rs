//! What is wrong with a query, and where. The messages are those of the public API.

use std::fmt;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueryProblem {
    /// The first character of the offending token, counted from 1.
    pub position: usize,
    pub fault: QueryFault,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum QueryFault {
    NothingPositive,
    OnlyNegations,
    Operator(String),
    /// A value of `is:` or `has:` that is unknown or not available in this dialect.
    Field(String),
    Value(&'static str, String),
    Negated(&'static str),
    WholeRule(&'static str),
    Ambiguous(&'static str),
    /// An unexpected character; `<EOF>` is the end.
    Character(String),
    Unopened,
    Unclosed,
    Unterminated(char),
}

impl fmt::Display for QueryProblem {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.fault {
            QueryFault::NothingPositive => {
                out.write_str("Rules must contain at least one positive, non-stopword clause")
            }
            QueryFault::OnlyNegations => out.write_str("Rules must contain a non-negation term"),
            QueryFault::Operator(name) => write!(
                out,
                "Reference to invalid operator '{name}'. Operator is not available in current \
                 product or product packaging. Please refer to complete available operator list at \
                 https://developer.twitter.com/en/docs/twitter-api/tweets/search/integrate/operators."
            ),
            QueryFault::Field(name) => write!(out, "Reference to invalid field '{name}'"),
            QueryFault::Value(operator, value) => {
                write!(out, "Invalid value '{value}' for operator '{operator}'")
            }
            QueryFault::Negated(operator) => write!(out, "Operator '{operator}' cannot be negated"),
            QueryFault::WholeRule(operator) => {
                write!(out, "Operator '{operator}' applies to the whole rule: group the other clauses")
            }
            QueryFault::Ambiguous("and") => out.write_str(
                "Ambiguous use of and as a keyword. Use a space to logically join two clauses, or \
                 \"and\" to find occurrences of and in text",
            ),
            QueryFault::Ambiguous(word) => write!(
                out,
                "Ambiguous use of {word} as a keyword. Use \"OR\" to logically join two clauses, or \
                 \"{word}\" to find occurrences of {word} in text"
            ),
            QueryFault::Character(found) => {
                write!(out, "no viable alternative at character '{found}'")
            }
            QueryFault::Unopened => out.write_str("missing EOF at ')'"),
            QueryFault::Unclosed => out.write_str("missing ')' at '<EOF>'"),
            QueryFault::Unterminated(end) => {
                write!(out, "mismatched character '<EOF>' expecting '{end}'")
            }
        }?;
        write!(out, " (at position {})", self.position)
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum QueryError {
    Empty,
    TooLong {
        length: usize,
        limit: usize,
    },
    /// In the order of the text; never empty.
    Faults(Vec<QueryProblem>),
}

impl QueryError {
    /// The message of each fault: the `details` of a rejected rule.
    pub fn details(&self) -> Vec<String> {
        match self {
            Self::Faults(faults) => faults.iter().map(ToString::to_string).collect(),
            other => vec![other.to_string()],
        }
    }
}

impl fmt::Display for QueryError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => out.write_str("Invalid 'query':''. 'query' must be a non-empty string"),
            Self::TooLong { length, limit } => {
                write!(out, "Invalid 'query': it has {length} characters and must have no more than {limit}")
            }
            Self::Faults(_) => write!(out, "There were errors processing your request: {}", self.details().join(", ")),
        }
    }
}

impl std::error::Error for QueryError {}
