//! The index finds what the evaluator says.

#[cfg(test)]
mod agreement;
#[cfg(test)]
mod copies;
#[cfg(test)]
mod crash;
#[cfg(test)]
mod posts;
#[cfg(test)]
mod protocol;
#[cfg(test)]
mod random;
#[cfg(test)]
#[path = "../../../query/tests/it/world.rs"]
mod world;
#[cfg(test)]
mod writing;
