//! The rules over real stores: SQLite always, PostgreSQL where `LOCUM_TEST_POSTGRES` names a
//! server on which databases may be made.

mod world;

mod authentication;
mod posting;
mod storing;
mod timelines;
