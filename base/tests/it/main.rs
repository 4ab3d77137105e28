//! The crate from outside: published vectors and those of other implementations.

mod conformance;
mod oauth1;
