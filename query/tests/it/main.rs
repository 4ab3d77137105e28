//! The query language from outside.

mod index;
mod language;
mod meaning;
mod random;
mod refusals;
mod world;
