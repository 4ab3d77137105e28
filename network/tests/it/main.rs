//! The rules over real stores: SQLite always, PostgreSQL where `LOCUM_TEST_POSTGRES` names a
//! server on which databases may be made.

#[cfg(test)]
mod world;

#[cfg(test)]
mod post_actions;

#[cfg(test)]
mod account_deletion;
#[cfg(test)]
mod audit;
#[cfg(test)]
mod authentication;
#[cfg(test)]
mod compliance;
mod confirmed_emails;
#[cfg(test)]
mod connections;
#[cfg(test)]
mod counters;
#[cfg(test)]
mod developer_apps;
#[cfg(test)]
mod emails;
#[cfg(test)]
mod encryption;
#[cfg(test)]
mod graph;
#[cfg(test)]
mod languages;
mod lists;
#[cfg(test)]
mod media;
#[cfg(test)]
mod messages;
#[cfg(test)]
mod oauth1_flow;
#[cfg(test)]
mod oauth2_flow;
#[cfg(test)]
mod polls;
#[cfg(test)]
mod post_facts;
#[cfg(test)]
mod posting;
#[cfg(test)]
mod registration;
#[cfg(test)]
mod retention;
#[cfg(test)]
mod rules;
#[cfg(test)]
mod search;
#[cfg(test)]
mod sessions;
#[cfg(test)]
mod sign_in;
#[cfg(test)]
mod storing;
#[cfg(test)]
mod timelines;
#[cfg(test)]
mod webhooks;
