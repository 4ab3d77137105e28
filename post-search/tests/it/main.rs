//! The index over real stores: SQLite always, PostgreSQL where `LOCUM_TEST_POSTGRES` names a server on which databases may
//! be created.

#[cfg(test)]
mod search;

#[cfg(test)]
use test_stores::on_each_engine;
