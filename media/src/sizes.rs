//! The sizes that a photo is kept in beside its own.

/// A size by name: the longer side has at most so many pixels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ImageSize {
    /// What it is asked for by.
    pub name: &'static str,
    /// Pixels of the longer side.
    pub max_side: u32,
}

/// The smallest.
pub(crate) const SMALL: ImageSize = ImageSize {
    name: "small",
    max_side: 680,
};

/// All sizes, smallest first. What is smaller already is not made larger.
pub const SIZES: [ImageSize; 3] = [
    SMALL,
    ImageSize {
        name: "medium",
        max_side: 1200,
    },
    ImageSize {
        name: "large",
        max_side: 2048,
    },
];
