//! Reads archives and lines as an import does.
#![expect(clippy::unwrap_used, reason = "what fails here fails the test")]

mod folders;
mod lines;
mod real;
mod sample;
mod zips;
