//! The index finds what the evaluator says.

mod posts;
mod random;
mod writing;
