//! The real binary as people and programs meet it. The suite runs on SQLite, or, where
//! `LOCUM_TEST_POSTGRES` holds the address of a PostgreSQL server, on that.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::string_slice,
    reason = "helpers of tests fail the test"
)]

mod account_data;
mod acme;
mod activity;
mod ads;
mod analytics;
mod annotations;
mod audit;
mod authorization;
mod backup;
mod bad_input;
mod bearer;
mod bookmarks;
mod cli;
mod communities;
mod compliance;
mod configuration;
mod console;
mod counters;
mod data_transfer;
mod database_limits;
mod database_outage;
mod doctor;
mod documents;
mod durability;
mod emails;
mod emulation;
mod engines;
mod entitlements;
mod event_order;
mod exhaustion;
mod first_run;
mod graph;
mod harness;
mod isolation;
mod keys;
mod launcher;
mod likes;
mod limits;
mod linearizability;
mod link_facts;
mod link_fetches;
mod lists;
mod lost_data;
mod media;
mod members;
mod messages;
mod mixed_writes;
mod moderation;
mod news;
mod nodes;
mod notes;
mod oauth1;
mod oauth1_tokens;
mod observability;
mod operations;
mod packaging;
mod pages;
mod passkeys;
mod polls;
mod portal;
mod post_features;
mod posts;
mod powerstream;
mod production;
mod query_limits;
mod random;
mod replies;
mod reposts;
mod restore;
mod revocation;
mod roles;
mod round_trips;
mod sandbox;
mod search;
mod shared_limits;
mod short_links;
mod shutdown;
mod sign_explain;
mod spaces;
mod stream_rules;
mod streams;
mod table;
mod testing;
mod timelines;
mod tls;
mod token_endpoint;
mod trends;
mod two_factor;
mod upgrade;
mod usage;
mod users;
mod users_search_and_names;
mod views;
mod webhooks;
