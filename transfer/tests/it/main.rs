//! Imports and exports over real stores: SQLite always, PostgreSQL where `LOCUM_TEST_POSTGRES`
//! names a server on which databases may be made.

#[cfg(test)]
mod archives;
#[cfg(test)]
mod carried;
#[cfg(test)]
mod doctored;
#[cfg(test)]
mod interrupted;
#[cfg(test)]
mod lines;
#[cfg(test)]
mod people;
#[cfg(test)]
mod real;
#[cfg(test)]
mod sample;
#[cfg(test)]
mod search;
#[cfg(test)]
mod talks;
#[cfg(test)]
mod world;

#[cfg(test)]
use world::on_each_engine;
