//! Formats of the ids of advertising records.

use base::id::format_base36;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IdFormat {
    /// Base 36 from a sequence of the resource.
    Short,
    /// A decimal snowflake id.
    Long,
    /// Twelve characters in base 36.
    Twelve,
}

impl IdFormat {
    /// The id of no record.
    pub const UNKNOWN: i64 = -1;

    /// Parses an id; `None` if it contains a character that no id has. One that overflows becomes
    /// [`Self::UNKNOWN`].
    pub fn parse(self, text: &str) -> Option<i64> {
        let (radix, plain) = match self {
            Self::Short | Self::Twelve => (36, text.bytes().all(|byte| byte.is_ascii_alphanumeric())),
            Self::Long => (10, text.bytes().all(|byte| byte.is_ascii_digit())),
        };
        (plain && !text.is_empty()).then(|| i64::from_str_radix(text, radix).unwrap_or(Self::UNKNOWN))
    }

    /// The offset added to sequence numbers, so that an id has twelve characters and no leading zero.
    pub const fn number_offset(self) -> i64 {
        match self {
            Self::Twelve => 36_i64.pow(11) * 9,
            Self::Short | Self::Long => 0,
        }
    }

    pub fn format(self, id: i64) -> String {
        match self {
            Self::Short => format_base36(id),
            Self::Long => id.to_string(),
            Self::Twelve => format!("{:0>12}", format_base36(id)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::IdFormat;

    #[test]
    fn ids_are_read_in_either_case_and_written_in_lower() {
        assert_eq!(IdFormat::Short.format((1 << 52) + 1), "18ce53un18h");
        assert_eq!(IdFormat::Short.parse("18CE53UN18H"), Some((1 << 52) + 1));
        assert_eq!(IdFormat::Short.parse("zzzzzzzzzzzzzzzzzzzz"), Some(-1));
        for text in ["", "a-b", "a b", "é", "+1"] {
            assert_eq!(IdFormat::Short.parse(text), None, "{text}");
        }
        assert_eq!(IdFormat::Twelve.format(7), "000000000007");
    }
}
