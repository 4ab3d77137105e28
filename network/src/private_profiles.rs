//! Private profile data, which is used by advertising but shown on no profile.

use base::{Error, Refusal, Time, UserId};
use serde_json::{Value, json};
use store::Tx;

use crate::audit::{self, AuditAction, AuditActor};
use crate::users;

pub use store::private_profiles::{PrivateProfile, find_by_user};

/// Fields without a value stay as they are; an empty value deletes the field.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PrivateProfileChanges {
    /// `YYYY-MM-DD`.
    pub born_on: Option<String>,
    /// `male`, `female` or empty.
    pub gender: Option<String>,
    /// E.164, such as `+351200000000`.
    pub phone: Option<String>,
}

/// By stored number.
pub const GENDERS: [&str; 3] = ["", "male", "female"];
/// Earlier dates are refused.
const EARLIEST_BIRTHDAY: &str = "1900-01-01";

pub fn update(
    tx: &mut Tx<'_>,
    actor: &AuditActor,
    user: UserId,
    changes: &PrivateProfileChanges,
) -> Result<PrivateProfile, Error> {
    store::users::lock(tx, user)?;
    users::find(tx, user)?;
    let before = find_by_user(tx, user)?;
    let mut profile = before.clone();
    if let Some(day) = &changes.born_on {
        profile.born_on = validate_birthday(day, tx.now())?;
    }
    if let Some(gender) = &changes.gender {
        let number = GENDERS.iter().position(|known| known == gender);
        let Some(number) = number else {
            let message = "The `gender` must be male, female or empty";
            return Err(Refusal::invalid_parameter("gender", truncate_value(gender), message).into());
        };
        profile.gender = i64::try_from(number).unwrap_or(0);
    }
    if let Some(phone) = &changes.phone {
        profile.phone = hash_phone_number(phone)?;
    }
    if profile == before {
        return Ok(profile);
    }
    store::private_profiles::set(tx, user, &profile)?;
    // Record which fields changed, but not their values.
    let mut changed = vec![];
    for (name, differs) in [
        ("born_on", profile.born_on != before.born_on),
        ("gender", profile.gender != before.gender),
        ("phone", profile.phone != before.phone),
    ] {
        if differs {
            changed.push(Value::from(name));
        }
    }
    let detail = json!({ "user": user.to_string(), "particulars": changed });
    audit::append(tx, actor, AuditAction::USER_UPDATE, None, &detail)?;
    Ok(profile)
}

fn truncate_value(text: &str) -> String {
    text.chars().take(100).collect()
}

/// Refuses dates in the future.
fn validate_birthday(day: &str, now: Time) -> Result<String, Refusal> {
    let today = now.to_string();
    let today = today.get(..10).unwrap_or_default();
    // `Time` starts in 1970; the calendar repeats every 400 years.
    let shifted_date = day
        .split_at_checked(4)
        .and_then(|(year, rest)| Some(format!("{:04}{rest}T00:00:00Z", year.parse::<u32>().ok()? + 400)));
    let is_day = day.len() == 10 && shifted_date.is_some_and(|shifted_date| Time::parse(&shifted_date).is_some());
    if day.is_empty() || is_day && EARLIEST_BIRTHDAY <= day && day <= today {
        return Ok(day.to_owned());
    }
    let message = "The `born_on` must be a day, as 1990-12-31";
    Err(Refusal::invalid_parameter("born_on", truncate_value(day), message))
}

/// The digest by which advertisers' lists refer to a phone number.
fn hash_phone_number(phone: &str) -> Result<String, Refusal> {
    if phone.is_empty() {
        return Ok(String::new());
    }
    let digits = phone.strip_prefix('+').unwrap_or_default();
    let is_valid = (7..=15).contains(&digits.len())
        && digits.bytes().all(|digit| digit.is_ascii_digit())
        && !digits.starts_with('0');
    if !is_valid {
        let message = "The `phone` must be a number with its country, as +351200000000";
        return Err(Refusal::invalid_parameter("phone", truncate_value(phone), message));
    }
    let digest = base::secret::digest(phone);
    let digits = digest.iter().flat_map(|byte| [byte >> 4, byte & 15]);
    Ok(digits.filter_map(|digit| char::from_digit(u32::from(digit), 16)).collect())
}

/// The age in years at a time.
pub fn age_at(born_on: &str, now: Time) -> Option<i64> {
    let year = |day: &str| day.get(..4)?.parse::<i64>().ok();
    let today = now.to_string();
    let before_birthday = today.get(4..10)? < born_on.get(4..10)?;
    let age = year(&today)? - year(born_on)? - i64::from(before_birthday);
    (age >= 0).then_some(age)
}

/// The birth date of those who turn `years` today.
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
        for (now, years) in [("2026-05-31T23:59:59Z", 35), ("2026-06-01T00:00:00Z", 36), ("2027-01-01T00:00:00Z", 36)] {
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
        // Contract ads §8.3.
        assert_eq!(
            hash_phone_number("+351200000000").unwrap(),
            "95ba13c05e80515cbe8995709a3e2e12e7489170f1533adbda24d7be2c74d98b"
        );
        assert_eq!(hash_phone_number("").unwrap(), "");
        for phone in
            ["351200000000", "+0512000000", "+123456", "+1234567890123456", "+351 200 000 000", "+35120000000a"]
        {
            hash_phone_number(phone).unwrap_err();
        }
    }
}
