//! The advertising floor over real stores: SQLite always, PostgreSQL where `LOCUM_TEST_POSTGRES`
//! names a server on which databases may be made.

#[cfg(test)]
mod advice;
#[cfg(test)]
mod auctions;
#[cfg(test)]
mod insights;
#[cfg(test)]
mod letters;
#[cfg(test)]
mod narrow;
#[cfg(test)]
mod reach;
#[cfg(test)]
mod shop;
#[cfg(test)]
mod told;
#[cfg(test)]
mod world;
