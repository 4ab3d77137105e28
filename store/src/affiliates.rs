//! Who is affiliated with which organization. The badge itself stands in the user's row.

use base::{Fault, UserId};

use crate::Tx;
use crate::edges::{hanging, page_to};
use crate::follows::Edge;
use crate::posts::Span;

/// Makes these the organizations that a user is affiliated with.
pub fn set(tx: &mut Tx<'_>, user: UserId, organizations: &[UserId]) -> Result<(), Fault> {
    let sql = "DELETE FROM affiliate WHERE user_id = $1";
    tx.exec(sql, &[user.into()])?;
    for organization in organizations {
        let sql = "INSERT INTO affiliate (organization_id, user_id, id) VALUES ($1, $2, $3) \
                   ON CONFLICT DO NOTHING";
        let id = tx.next_id::<()>();
        tx.exec(sql, &[(*organization).into(), user.into(), id.into()])?;
    }
    Ok(())
}

/// The organizations that these users are affiliated with: the user, the organization.
pub fn of_users(tx: &mut Tx<'_>, users: &[UserId]) -> Result<Vec<(UserId, UserId)>, Fault> {
    let keys: Vec<_> = users.iter().map(|user| user.get()).collect();
    let sql = "SELECT user_id, organization_id FROM affiliate WHERE user_id = $1";
    tx.of_each(sql, &keys, &[], |row| Ok((row.id(0)?, row.id(1)?)))
}

/// A page of those who are affiliated with an organization, latest first.
pub fn page(tx: &mut Tx<'_>, organization: UserId, span: &Span) -> Result<Vec<Edge>, Fault> {
    let sql = hanging!("SELECT user_id, id FROM affiliate WHERE organization_id = $1");
    page_to(tx, organization, span, sql)
}
