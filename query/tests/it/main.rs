//! The query language from outside.

mod language;
mod meaning;
mod random;
mod refusals;
mod world;
