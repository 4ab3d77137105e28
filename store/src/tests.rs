//! Checks of the statements and declared rows in the source.

mod crates_above;
mod declared_rows;
mod parameter_order;
