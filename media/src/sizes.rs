//! The sizes that a photo is kept in beside its own.

/// A size by name: the longer side has at most so many pixels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size {
    /// What it is asked for by.
    pub name: &'static str,
    /// Pixels of the longer side.
    pub side: u32,
}

/// The smallest.
pub(crate) const SMALL: Size = Size {
    name: "small",
    side: 680,
};

/// All sizes, smallest first. What is smaller already is not made larger.
pub const SIZES: [Size; 3] = [
    SMALL,
    Size {
        name: "medium",
        side: 1200,
    },
    Size {
        name: "large",
        side: 2048,
    },
];
