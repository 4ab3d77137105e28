//! Ads delivery on real stores: SQLite always, PostgreSQL where `LOCUM_TEST_POSTGRES` names a
//! server on which databases may be created.

#[cfg(test)]
mod advice;
#[cfg(test)]
mod auctions;
#[cfg(test)]
mod audiences;
#[cfg(test)]
mod card_media;
#[cfg(test)]
mod deleted_items;
#[cfg(test)]
mod emails;
#[cfg(test)]
mod event_tags;
#[cfg(test)]
mod figures;
#[cfg(test)]
mod insights;
#[cfg(test)]
mod narrow;
#[cfg(test)]
mod profile_facts;
#[cfg(test)]
mod reach;
#[cfg(test)]
mod sandbox;
#[cfg(test)]
mod shop;
#[cfg(test)]
mod world;

#[cfg(test)]
use world::on_each_engine;
