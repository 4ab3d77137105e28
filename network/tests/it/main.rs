//! The rules over real stores: SQLite always, PostgreSQL where `LOCUM_TEST_POSTGRES` names a server on which databases may be
//! created.

#[cfg(test)]
mod counters;
#[cfg(test)]
mod languages;
#[cfg(test)]
mod lists;
#[cfg(test)]
mod media;
#[cfg(test)]
mod messages;
#[cfg(test)]
mod polls;
#[cfg(test)]
mod post_actions;
#[cfg(test)]
mod posting;
#[cfg(test)]
mod search_words;
#[cfg(test)]
mod storing;
#[cfg(test)]
mod timelines;

#[cfg(test)]
use test_stores::on_each_engine;
