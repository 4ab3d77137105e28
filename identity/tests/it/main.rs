//! The rules for accounts and apps over real stores: SQLite always, PostgreSQL where `LOCUM_TEST_POSTGRES` names a server on which databases may be
//! created.

#[cfg(test)]
mod account_deletion;
#[cfg(test)]
mod audit;
#[cfg(test)]
mod authentication;
#[cfg(test)]
mod compliance;
#[cfg(test)]
mod confirmed_emails;
#[cfg(test)]
mod connections;
#[cfg(test)]
mod developer_apps;
#[cfg(test)]
mod emails;
#[cfg(test)]
mod encryption;
#[cfg(test)]
mod graph;
#[cfg(test)]
mod oauth1_flow;
#[cfg(test)]
mod oauth2_flow;
#[cfg(test)]
mod post_facts;
#[cfg(test)]
mod registration;
#[cfg(test)]
mod retention;
#[cfg(test)]
mod rules;
#[cfg(test)]
mod sessions;
#[cfg(test)]
mod sign_in;
#[cfg(test)]
mod webhooks;

#[cfg(test)]
use test_stores::on_each_engine;
