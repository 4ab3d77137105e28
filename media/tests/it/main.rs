//! Files as hostile and concurrent uploads make them.

#[cfg(test)]
mod colour_profiles;
#[cfg(test)]
mod concurrent_files;
#[cfg(test)]
mod decoding_bounds;
