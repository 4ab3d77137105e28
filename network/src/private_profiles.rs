//! What people tell the platform of themselves and nobody else. Advertising reaches people by it;
//! no profile shows it.

use base::{Error, Refusal, Time, UserId};
use serde_json::{Value, json};
use store::{Tx, private_profiles as stored};

use crate::audit::{self, AuditAction, AuditActor};
use crate::users;

pub use stored::{PrivateProfile, find_by_user};

/// What shall be known from now on; empty: nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PrivateProfileChanges {
    /// The day of birth, `YYYY-MM-DD`.
    pub born_on: Option<String>,
    /// `male`, `female` or empty.
    pub gender: Option<String>,
    /// A phone number in E.164: `+351200000000`.
    pub phone: Option<String>,
}

/// Genders by their numbers.
pub const GENDERS: [&str; 3] = ["", "male", "female"];
/// Nobody who is older is there.
const EARLIEST_BIRTHDAY: &str = "1900-01-01";

/// Changes what is known of a user.
pub fn update(
    tx: &mut Tx<'_>,
    by: &AuditActor,
    user: UserId,
    edit: &PrivateProfileChanges,
) -> Result<PrivateProfile, Error> {
    store::users::lock(tx, user)?;
    users::find(tx, user)?;
    let before = find_by_user(tx, user)?;
    let mut known = before.clone();
    if let Some(day) = &edit.born_on {
        known.born_on = validate_birthday(day, tx.now())?;
    }
    if let Some(gender) = &edit.gender {
        let place = GENDERS.iter().position(|known| known == gender);
        let Some(place) = place else {
            let message = "The `gender` must be male, female or empty";
            return Err(Refusal::invalid_parameter("gender", truncate_value(gender), message).into());
        };
        known.gender = i64::try_from(place).unwrap_or(0);
    }
    if let Some(phone) = &edit.phone {
        known.phone = hash_phone_number(phone)?;
    }
    if known == before {
        return Ok(known);
    }
    stored::set(tx, user, &known)?;
    // What was changed is recorded, and not to what.
    let mut changed = vec![];
    for (name, differs) in [
        ("born_on", known.born_on != before.born_on),
        ("gender", known.gender != before.gender),
        ("phone", known.phone != before.phone),
    ] {
        if differs {
            changed.push(Value::from(name));
        }
    }
    let told = json!({ "user": user.to_string(), "particulars": changed });
    audit::append(tx, by, AuditAction::USER_UPDATE, None, &told)?;
    Ok(known)
}

fn truncate_value(text: &str) -> String {
    text.chars().take(100).collect()
}

/// A day that somebody who is here may have been born on.
fn validate_birthday(day: &str, now: Time) -> Result<String, Refusal> {
    let today = now.to_string();
    let today = today.get(..10).unwrap_or_default();
    // Times begin in 1970; the calendar of four hundred years later is the same.
    let later = day
        .split_at_checked(4)
        .and_then(|(year, rest)| Some(format!("{:04}{rest}T00:00:00Z", year.parse::<u32>().ok()? + 400)));
    let is_day = day.len() == 10 && later.is_some_and(|later| Time::parse(&later).is_some());
    if day.is_empty() || is_day && EARLIEST_BIRTHDAY <= day && day <= today {
        return Ok(day.to_owned());
    }
    let message = "The `born_on` must be a day, as 1990-12-31";
    Err(Refusal::invalid_parameter("born_on", truncate_value(day), message))
}

/// What a phone number is recognized by: how advertisers send theirs.
fn hash_phone_number(phone: &str) -> Result<String, Refusal> {
    if phone.is_empty() {
        return Ok(String::new());
    }
    let digits = phone.strip_prefix('+').unwrap_or_default();
    let sound = (7..=15).contains(&digits.len())
        && digits.bytes().all(|digit| digit.is_ascii_digit())
        && !digits.starts_with('0');
    if !sound {
        let message = "The `phone` must be a number with its country, as +351200000000";
        return Err(Refusal::invalid_parameter("phone", truncate_value(phone), message));
    }
    let digest = base::secret::digest(phone);
    let digits = digest.iter().flat_map(|byte| [byte >> 4, byte & 15]);
    Ok(digits
        .filter_map(|digit| char::from_digit(u32::from(digit), 16))
        .collect())
}

/// How old somebody is at a moment who was born on a day.
pub fn age_at(born_on: &str, now: Time) -> Option<i64> {
    let year = |day: &str| day.get(..4)?.parse::<i64>().ok();
    let today = now.to_string();
    let later = today.get(4..10)? < born_on.get(4..10)?;
    let age = year(&today)? - year(born_on)? - i64::from(later);
    (age >= 0).then_some(age)
}

/// The day on which those were born who come to so many years today.
pub fn birth_date_of_age(now: Time, years: i64) -> String {
    let today = now.to_string();
    let year = today.get(..4).and_then(|year| year.parse::<i64>().ok());
    let rest = today.get(4..10).unwrap_or_default();
    format!("{:04}{rest}", year.unwrap_or(0) - years)
}

#[cfg(test)]
mod tests {
    use base::Time;

    use super::{age_at, birth_date_of_age, hash_phone_number, validate_birthday};

    #[test]
    fn people_grow_older_on_their_birthday() {
        let at = |text: &str| Time::parse(text).unwrap();
        for (now, years) in [
            ("2026-05-31T23:59:59Z", 35),
            ("2026-06-01T00:00:00Z", 36),
            ("2027-01-01T00:00:00Z", 36),
        ] {
            assert_eq!(age_at("1990-06-01", at(now)), Some(years), "{now}");
        }
        assert_eq!(age_at("2000-02-29", at("2025-02-28T12:00:00Z")), Some(24));
        assert_eq!(age_at("2000-02-29", at("2025-03-01T00:00:00Z")), Some(25));
        assert_eq!(age_at("", at("2025-03-01T00:00:00Z")), None);
        assert_eq!(birth_date_of_age(at("2026-06-01T00:00:00Z"), 25), "2001-06-01");
    }

    #[test]
    fn days_and_numbers_that_are_none_are_refused() {
        let now = Time::parse("2026-06-01T12:00:00Z").unwrap();
        for day in ["", "1960-12-31", "2000-02-29", "2026-06-01", "1900-01-01"] {
            assert_eq!(validate_birthday(day, now).unwrap(), day);
        }
        for day in [
            "1990-13-01",
            "2001-02-29",
            "1900-02-29",
            "+990-12-31",
            "2026-06-02",
            "1899-12-31",
            "1990-1-1",
            "31.12.1990",
            "1990-12-31T00:00:00Z",
        ] {
            validate_birthday(day, now).unwrap_err();
        }
        // Contract §8.3.
        assert_eq!(
            hash_phone_number("+351200000000").unwrap(),
            "95ba13c05e80515cbe8995709a3e2e12e7489170f1533adbda24d7be2c74d98b"
        );
        assert_eq!(hash_phone_number("").unwrap(), "");
        for phone in [
            "351200000000",
            "+0512000000",
            "+123456",
            "+1234567890123456",
            "+351 200 000 000",
            "+35120000000a",
        ] {
            hash_phone_number(phone).unwrap_err();
        }
    }
}
