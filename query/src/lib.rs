//! The query language of search, counts and stream rules: text to a tree with positions, its
//! canonical print, what it means for a post, and an index over many rules.
//!
//! ```text
//! query  = or
//! or     = and *( WS "OR" WS and )
//! and    = term *( WS term )                ; white space joins, tighter than OR
//! term   = [ "-" ] atom | [ "-" ] "(" or ")"
//! atom   = phrase [ "~" N ] | operator ":" value | "#" tag | "@" user | "$" symbol | keyword
//! ```
//!
//! [`parse`] reads a query for a [`Dialect`] (which product, which level) and refuses it with
//! [`Problems`], whose texts the interface shows. [`Facts`] are what a post says, read once;
//! [`matches()`] is the one meaning of a query, and [`Matcher`] finds, among many rules, those that
//! match. No storage, no time, no chance.

mod ast;
mod dialect;
mod error;
mod evaluate;
mod explain;
mod facts;
mod geo;
mod index_terms;
mod languages;
mod lexer;
mod matcher;
mod operators;
mod parser;
mod post;
mod validation;
mod values;
pub mod words;

pub use ast::{ParsedQuery, QueryNode, QueryTerm, TermValue};
pub use dialect::{AccessTier, QueryDialect, QueryProduct};
pub use error::{QueryError, QueryFault, QueryProblem};
pub use evaluate::matches;
pub use explain::{ClauseKind, ExplainedClause};
pub use facts::{MatchMode, PostFeatures};
pub use geo::GeoArea;
pub use index_terms::{IndexLookup, PostIndexKeys, language_matches, person_feature};
pub use languages::{LanguageNumber, language_code, parse_language};
pub use matcher::{Matcher, RuleSlot};
pub use operators::{FeatureKind, OPERATORS, OperatorClass, OperatorKind, PostCounter, QueryOperator};
pub use parser::parse;
pub use post::{
    ContextAnnotation, QueryableAuthor, QueryableLink, QueryablePerson, QueryablePlace, QueryablePost, UserHandle,
};
pub use words::WordField;
