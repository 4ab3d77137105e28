//! The index finds what the evaluator says.

#[cfg(test)]
mod posts;
#[cfg(test)]
mod random;
#[cfg(test)]
mod writing;
