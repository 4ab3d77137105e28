//! The sizes in which a photo is stored besides its original.

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ImageSize {
    pub name: &'static str,
    pub max_side: u32,
}

pub(crate) const SMALL: ImageSize = ImageSize { name: "small", max_side: 680 };

/// All sizes, smallest first. Pictures are never enlarged.
pub const SIZES: [ImageSize; 3] =
    [SMALL, ImageSize { name: "medium", max_side: 1200 }, ImageSize { name: "large", max_side: 2048 }];
