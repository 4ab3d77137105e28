//! Roles of users in spaces.

use base::{Fault, UserId};

use crate::Tx;
use crate::db::{insert_new, stored_enum};
use crate::edges::{edge_page_query, typed_edge_page};
use crate::follows::UserEdge;
use crate::posts::PageRange;

stored_enum! {
    /// A user may have several roles in a space.
    pub enum SpaceRole {
        Host = 0,
        /// Invited to speak.
        Invited = 1,
        /// Speaks, or has spoken.
        Speaker = 2,
        /// Is present, or was at the end.
        Participant = 3,
        /// Wants to be reminded.
        Subscriber = 4,
        /// Has a ticket.
        Buyer = 5,
    }
}

impl SpaceRole {
    /// The counter of users with this role.
    const fn counter_sql(self) -> Option<&'static str> {
        match self {
            Self::Participant => Some("UPDATE space SET participant_count = participant_count + $1 WHERE id = $2"),
            Self::Subscriber => Some("UPDATE space SET subscriber_count = subscriber_count + $1 WHERE id = $2"),
            _ => None,
        }
    }
}

/// Also updates the counter; returns false if the user already has the role.
pub fn add_role(tx: &mut Tx<'_>, space: i64, role: SpaceRole, user: UserId) -> Result<bool, Fault> {
    let id = tx.next_id::<()>();
    let added = insert_new!(tx, "space_part", space_id = space, role = role.to_number(), user_id = user, id = id)?;
    if let Some(counter) = role.counter_sql().filter(|_| added) {
        tx.execute_later(counter, &[1_i64.into(), space.into()])?;
    }
    Ok(added)
}

/// Also updates the counter; returns false if the user does not have the role.
pub fn remove_role(tx: &mut Tx<'_>, space: i64, role: SpaceRole, user: UserId) -> Result<bool, Fault> {
    let sql = "DELETE FROM space_part WHERE space_id = $1 AND role = $2 AND user_id = $3";
    let removed = tx.execute(sql, &[space.into(), role.to_number().into(), user.into()])? > 0;
    if let Some(counter) = role.counter_sql().filter(|_| removed) {
        tx.execute_later(counter, &[(-1_i64).into(), space.into()])?;
    }
    Ok(removed)
}

pub fn has_role(tx: &mut Tx<'_>, space: i64, role: SpaceRole, user: UserId) -> Result<bool, Fault> {
    let sql = "SELECT 1 FROM space_part WHERE space_id = $1 AND role = $2 AND user_id = $3";
    let args = [space.into(), role.to_number().into(), user.into()];
    tx.row_exists(sql, &args)
}

/// Only for roles that few users have.
pub fn count_role(tx: &mut Tx<'_>, space: i64, role: SpaceRole) -> Result<i64, Fault> {
    let sql = "SELECT COUNT(*) FROM space_part WHERE space_id = $1 AND role = $2";
    tx.query_number(sql, &[space.into(), role.to_number().into()])
}

/// Those of the speakers who have not left.
pub fn count_present_speakers(tx: &mut Tx<'_>, space: i64) -> Result<i64, Fault> {
    let sql = "SELECT COUNT(*) FROM space_part s JOIN space_part p ON p.space_id = s.space_id AND p.user_id = s.user_id \
               AND p.role = 3 WHERE s.space_id = $1 AND s.role = 2";
    tx.query_number(sql, &[space.into()])
}

/// Hosts, speakers and invited speakers, in the order in which they got the role.
pub fn list_hosts_and_speakers(tx: &mut Tx<'_>, spaces: &[i64]) -> Result<Vec<(i64, SpaceRole, UserId)>, Fault> {
    let sql = "SELECT space_id, role, user_id, id FROM space_part WHERE space_id = $1 AND role < 3";
    let mut found: Vec<(i64, SpaceRole, UserId, i64)> = tx.query_by_keys(sql, spaces, &[])?;
    found.sort_unstable_by_key(|(.., id)| *id);
    Ok(found.into_iter().map(|(space, role, user, _)| (space, role, user)).collect())
}

/// Latest first: the user and the ticket's own id.
pub fn buyer_page(tx: &mut Tx<'_>, space: i64, range: &PageRange) -> Result<Vec<UserEdge>, Fault> {
    let sql = edge_page_query!("SELECT user_id, id FROM space_part WHERE space_id = $1 AND role = 5");
    typed_edge_page(tx, space, range, sql)
}
