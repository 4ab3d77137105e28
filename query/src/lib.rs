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
mod check;
mod dialect;
mod evaluate;
mod explain;
mod facts;
mod filing;
mod geo;
mod languages;
mod lexer;
mod matcher;
mod operators;
mod parser;
mod post;
mod problem;
mod values;
pub mod words;

pub use ast::{Node, Query, Term, Value};
pub use dialect::{Dialect, Level, Product};
pub use evaluate::matches;
pub use explain::{Joint, Part};
pub use facts::{Facts, Reading};
pub use filing::{Asked, Filed, person, speaks};
pub use geo::Area;
pub use languages::{Language, code as language_code, language};
pub use matcher::{Matcher, Slot};
pub use operators::{Class, Counter, How, Mark, OPERATORS, Operator};
pub use parser::parse;
pub use post::{Annotation, Author, Handle, Link, Person, Place, Post};
pub use problem::{Problem, Problems, What};
pub use words::Field;
