//! Affiliations of users with organizations. The badge itself is in the user's row.

use base::{Fault, UserId};

use crate::Tx;
use crate::db::insert_new_later;
use crate::edges::{edge_page_query, typed_edge_page};
use crate::follows::UserEdge;
use crate::posts::PageRange;

/// Replaces the organizations that a user is affiliated with.
pub fn set_organizations(tx: &mut Tx<'_>, user: UserId, organizations: &[UserId]) -> Result<(), Fault> {
    let sql = "DELETE FROM affiliate WHERE user_id = $1";
    tx.execute_later(sql, &[user.into()])?;
    for organization in organizations {
        let id = tx.next_id::<()>();
        insert_new_later!(tx, "affiliate", organization_id = *organization, user_id = user, id = id)?;
    }
    Ok(())
}

/// Pairs of user and organization.
pub fn list_by_users(tx: &mut Tx<'_>, users: &[UserId]) -> Result<Vec<(UserId, UserId)>, Fault> {
    let sql = "SELECT user_id, organization_id FROM affiliate WHERE user_id = $1";
    tx.query_by_ids(sql, users, &[])
}

/// Latest first.
pub fn page_of_affiliates(tx: &mut Tx<'_>, organization: UserId, range: &PageRange) -> Result<Vec<UserEdge>, Fault> {
    let sql = edge_page_query!("SELECT user_id, id FROM affiliate WHERE organization_id = $1");
    typed_edge_page(tx, organization, range, sql)
}
