//! Files as a hostile uploader makes them.

#[cfg(test)]
mod decoding_bounds;
