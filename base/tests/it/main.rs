//! The crate from outside: published vectors and those of other implementations.

// `cfg(test)` tells the lints that all of it is tests, helpers too.
#[cfg(test)]
mod conformance;
#[cfg(test)]
mod oauth1;
