//! Private profile data: birth date, gender and phone number. The number is stored only as a digest.

use base::{Fault, UserId};

use crate::Tx;
use crate::db::{row, select};

row! {
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    pub struct PrivateProfile from "particulars" {
        /// `YYYY-MM-DD`, or empty.
        pub born_on: String,
        /// 1 male, 2 female, 0 unknown.
        pub gender: i64,
        /// SHA-256 of the phone number in E.164, as hexadecimal digits, or empty.
        pub phone: String,
    }
}

/// Empty if the user has none.
pub fn find_by_user(tx: &mut Tx<'_>, user: UserId) -> Result<PrivateProfile, Fault> {
    let sql = select!(PrivateProfile, "WHERE user_id = $1");
    let found = tx.query_row(sql, &[user.into()])?;
    Ok(found.unwrap_or_default())
}

/// User, birth date and gender, for users who have set either.
pub fn list_demographics(tx: &mut Tx<'_>, users: &[i64]) -> Result<Vec<(i64, String, i64)>, Fault> {
    let sql = "SELECT user_id, born_on, gender FROM particulars WHERE user_id = $1";
    tx.query_by_keys(sql, users, &[])
}

pub fn set(tx: &mut Tx<'_>, user: UserId, profile: &PrivateProfile) -> Result<(), Fault> {
    let sql = "INSERT INTO particulars (user_id, born_on, gender, phone) VALUES ($1, $2, $3, $4) ON CONFLICT (user_id) \
               DO UPDATE SET born_on = excluded.born_on, gender = excluded.gender, phone = excluded.phone";
    let args = [user.into(), profile.born_on.as_str().into(), profile.gender.into(), profile.phone.as_str().into()];
    tx.execute_later(sql, &args)?;
    // Audience matching depends on the phone number.
    let sql = "UPDATE users SET keyed = 0 WHERE id = $1";
    tx.execute_later(sql, &[user.into()])
}

/// Users born after `after` up to and including `until`.
pub fn list_born_between(tx: &mut Tx<'_>, after: &str, until: &str) -> Result<Vec<i64>, Fault> {
    let sql = "SELECT user_id FROM particulars WHERE born_on <> '' AND born_on > $1 AND born_on <= $2";
    tx.query_rows(sql, &[after.into(), until.into()])
}

pub fn list_by_gender(tx: &mut Tx<'_>, gender: i64) -> Result<Vec<i64>, Fault> {
    let sql = "SELECT user_id FROM particulars WHERE gender > 0 AND gender = $1";
    tx.query_rows(sql, &[gender.into()])
}

pub fn has_birth_dates(tx: &mut Tx<'_>) -> Result<bool, Fault> {
    let sql = "SELECT 1 FROM particulars WHERE born_on <> '' LIMIT 1";
    tx.row_exists(sql, &[])
}

pub fn has_genders(tx: &mut Tx<'_>) -> Result<bool, Fault> {
    let sql = "SELECT 1 FROM particulars WHERE gender > 0 LIMIT 1";
    tx.row_exists(sql, &[])
}
