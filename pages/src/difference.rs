//! Where two texts start to differ.

/// A text, split where it starts to differ from another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextDifference<'a> {
    pub common_prefix: &'a str,
    /// Empty if the text ends before the other.
    pub differing: &'a str,
    pub rest: &'a str,
}

impl<'a> TextDifference<'a> {
    /// `None` if the texts are the same.
    pub fn compare(text: &'a str, other: &str) -> Option<Self> {
        let at = difference_position(text, other)?;
        let (same, after) = split_at_character(text, at);
        let (first, rest) = split_at_character(after, 1);
        Some(Self { common_prefix: same, differing: first, rest })
    }

    /// `character` counts from 1.
    pub fn split_at(text: &'a str, character: usize) -> Self {
        let (common_prefix, after) = split_at_character(text, character.saturating_sub(1));
        let (differing, rest) = split_at_character(after, 1);
        Self { common_prefix, differing, rest }
    }

    /// The differing character, with whitespace and invisible characters spelled out.
    pub fn visible_character(&self) -> String {
        match self.differing {
            "" => "end".to_owned(),
            " " => "space".to_owned(),
            "\t" => "tab".to_owned(),
            "\n" | "\r" => "line break".to_owned(),
            other => match other.chars().next() {
                Some(odd) if odd.is_control() || !odd.is_ascii() && !odd.is_alphanumeric() => {
                    format!("U+{:04X}", u32::from(odd))
                }
                _ => other.to_owned(),
            },
        }
    }
}

/// Number of leading characters that both texts share; `None` if they are the same.
pub(crate) fn difference_position(one: &str, other: &str) -> Option<usize> {
    if one == other {
        return None;
    }
    Some(one.chars().zip(other.chars()).take_while(|(left, right)| left == right).count())
}

fn split_at_character(text: &str, count: usize) -> (&str, &str) {
    let at = text.char_indices().nth(count).map_or(text.len(), |(at, _)| at);
    text.split_at_checked(at).unwrap_or((text, ""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_part_at_a_character_not_within_one() {
        let cut = |text, other| {
            TextDifference::compare(text, other)
                .map(|cut| (cut.common_prefix, cut.differing, cut.rest, cut.visible_character()))
        };
        assert_eq!(cut("abc", "abc"), None);
        assert_eq!(cut("abc", "abd"), Some(("ab", "c", "", "c".into())));
        assert_eq!(cut("ab", "abd"), Some(("ab", "", "", "end".into())));
        assert_eq!(cut("aéx", "aèx"), Some(("a", "é", "x", "é".into())));
        assert_eq!(cut("a b", "a+b"), Some(("a", " ", "b", "space".into())));
        assert_eq!(cut("a\u{200b}", "a"), Some(("a", "\u{200b}", "", "U+200B".into())));
    }
}
