//! The query language from outside.

mod index;
mod language;
mod meaning;
mod operators;
mod random;
mod refusals;
mod world;
