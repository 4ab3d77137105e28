//! The form of email addresses.

use base::Refusal;

pub fn validate_email(email: &str) -> Result<(), Refusal> {
    if email.is_empty() {
        return Err(Refusal::invalid_field("email", "An email address is needed"));
    }
    let is_valid_label = |label: &str| {
        let is_label_char = |letter: char| letter.is_ascii_alphanumeric() || letter == '-';
        (1..=63).contains(&label.len())
            && label.chars().all(is_label_char)
            && !label.starts_with('-')
            && !label.ends_with('-')
    };
    let is_valid_local_part = |local: &str| {
        let is_atom_char = |letter: char| letter.is_ascii_alphanumeric() || "!#$%&'*+-/=?^_`{|}~".contains(letter);
        (1..=64).contains(&local.len())
            && local.split('.').all(|part| !part.is_empty() && part.chars().all(is_atom_char))
    };
    let is_valid = email.len() <= 254
        && email
            .rsplit_once('@')
            .is_some_and(|(local, domain)| is_valid_local_part(local) && domain.split('.').all(is_valid_label));
    if is_valid { Ok(()) } else { Err(Refusal::invalid_field("email", "This is not a valid email address")) }
}

#[cfg(test)]
mod tests {
    use super::validate_email;

    #[test]
    fn email_address_without_a_valid_domain_or_local_part_is_refused() {
        for is_valid in ["a@b.org", "a.b+c@d-e.example", "ada@localhost", "o'x@a.io"] {
            assert!(validate_email(is_valid).is_ok(), "{is_valid}");
        }
        for bad in [
            "",
            "a",
            "@b.org",
            "a@",
            "a@b..org",
            "a@-b.org",
            "a b@c.org",
            "a@b.org\r\nBcc: c@d.org",
            "a,b@c.org",
            "<a@b.org>",
            "a@b@c.org",
            ".a@b.org",
            "a@b.org.",
            "ä@b.org",
        ] {
            assert!(validate_email(bad).is_err(), "{bad:?}");
        }
    }
}
