//! Figures of what was shown: the same that `/stats` answers.

use base::Stop;
use pages::manager::{Block, Cell, Column};
use serde_json::Value;
use store::Tx;

use super::ask::Desk;
use super::campaigns::columns;
use super::stand::Stand;

/// How many days figures are of, of those that are offered.
pub(super) fn days(stand: &Stand) -> u32 {
    match stand.days {
        Some(days @ (14 | 28)) => days,
        _ => 7,
    }
}

/// Spend and results of some entities.
pub(super) struct Figures;

impl Figures {
    pub(super) fn of(_: &mut Tx<'_>, _: &Desk, _: &str, _: &[&str], _: u32) -> Result<Self, Stop> {
        Ok(Self)
    }

    pub(super) const fn are_known(&self) -> bool {
        false
    }

    pub(super) fn columns(&self, name: &'static str) -> Vec<Column> {
        columns(name, self.are_known())
    }

    pub(super) fn cells(&self, _: &str, _: &str) -> Vec<Cell> {
        Vec::new()
    }
}

pub(super) fn of_account(_: &mut Tx<'_>, _: &Desk, _: &Stand) -> Result<Option<Block>, Stop> {
    Ok(None)
}

pub(super) fn of_one(
    _: &mut Tx<'_>,
    _: &Desk,
    _: &Stand,
    _: &str,
    _: &Value,
    _: &str,
) -> Result<Option<Block>, Stop> {
    Ok(None)
}
