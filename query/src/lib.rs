//! The query language of search, counts and stream rules: parser, canonical text, evaluation for a
//! post, and an index over many rules.
//!
//! ```text
//! query  = or
//! or     = and *( WS "OR" WS and )
//! and    = term *( WS term )                ; white space joins, tighter than OR
//! term   = [ "-" ] atom | [ "-" ] "(" or ")"
//! atom   = phrase [ "~" N ] | operator ":" value | "#" tag | "@" user | "$" symbol | keyword
//! ```
//!
//! [`parse`] parses a query for a [`QueryDialect`] (product and tier) or returns a [`QueryError`]
//! with the API's messages. [`PostFeatures`] are extracted from a post once; [`matches()`] defines
//! the meaning of a query, and [`Matcher`] finds those of many rules that match. No storage, no
//! clock, no randomness.

mod ast;
mod dialect;
mod error;
mod evaluate;
mod explain;
mod geo;
mod index_terms;
mod languages;
mod lexer;
mod matcher;
mod operators;
mod parser;
mod post;
mod post_features;
mod validation;
mod values;
pub mod words;

pub use ast::{ParsedQuery, QueryNode, QueryTerm, TermValue};
pub use dialect::{AccessTier, QueryDialect, QueryProduct};
pub use error::{QueryError, QueryFault, QueryProblem};
pub use evaluate::matches;
pub use explain::{ClauseKind, ExplainedClause};
pub use geo::GeoArea;
pub use index_terms::{IndexLookup, PostIndexKeys, person_feature};
pub use languages::{LanguageNumber, language_code, language_matches, parse_language};
pub use matcher::{Matcher, RuleSlot};
pub use operators::{FeatureKind, OPERATORS, OperatorClass, OperatorKind, PostCounter, QueryOperator};
pub use parser::parse;
pub use post::{
    ContextAnnotation, QueryableAuthor, QueryableLink, QueryablePerson, QueryablePlace, QueryablePost, UserHandle,
};
pub use post_features::{MatchMode, PostFeatures};
pub use words::WordField;
