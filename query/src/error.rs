//! What is wrong with a query, where, and in which words the interface says so.

use std::fmt;

/// One fault of a query.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueryProblem {
    /// The offending token's first character, counted from 1.
    pub position: usize,
    /// What is wrong.
    pub fault: QueryFault,
}

/// What can be wrong with a query.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum QueryFault {
    /// Only stop words, or only operators that narrow.
    NothingPositive,
    /// Only negations.
    OnlyNegations,
    /// No such operator, or not here.
    Operator(String),
    /// No such value of `is:` or `has:`, or not here.
    Field(String),
    /// A value that the operator does not take: operator, value.
    Value(&'static str, String),
    /// An operator that cannot be negated.
    Negated(&'static str),
    /// An operator of the whole rule that stands inside an alternative.
    WholeRule(&'static str),
    /// `AND` or `or`, unquoted.
    Ambiguous(&'static str),
    /// A character that cannot stand here; `<EOF>` is the end.
    Character(String),
    /// A closing parenthesis that nothing opened.
    Unopened,
    /// An opening parenthesis that nothing closed.
    Unclosed,
    /// A text that nothing ends: the character that would.
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
            QueryFault::WholeRule(operator) => write!(
                out,
                "Operator '{operator}' applies to the whole rule: group the other clauses"
            ),
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

/// Why a query is refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum QueryError {
    /// There is none.
    Empty,
    /// More characters than the product takes.
    TooLong {
        /// How many there are.
        length: usize,
        /// How many there may be.
        limit: usize,
    },
    /// Faults in it, in their order; never empty.
    Faults(Vec<QueryProblem>),
}

impl QueryError {
    /// Each fault's text: the `details` of a refused rule.
    pub fn details(&self) -> Vec<String> {
        match self {
            Self::Faults(faults) => faults.iter().map(ToString::to_string).collect(),
            other => vec![other.to_string()],
        }
    }
}

/// The message of a refused search.
impl fmt::Display for QueryError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => out.write_str("Invalid 'query':''. 'query' must be a non-empty string"),
            Self::TooLong { length, limit: longest } => write!(
                out,
                "Invalid 'query': it has {length} characters and must have no more than {longest}"
            ),
            Self::Faults(_) => write!(
                out,
                "There were errors processing your request: {}",
                self.details().join(", ")
            ),
        }
    }
}

impl std::error::Error for QueryError {}
