//! Configuration: one table of keys, and the places that their values come from.
//!
//! A flag beats the environment, which beats the file, which beats the default.

mod environment;
mod file;
mod key;
mod load;
mod parse;
mod settings;
mod show;
mod table;
mod values;
mod webhooks;

pub(crate) use key::{Key, Kind, Mode, Preset};
pub(crate) use load::{Sources, data_dir, load};
pub(crate) use parse::{RateLimits, check, span};
pub(crate) use settings::{Settings, own_url};
pub(crate) use show::rows;
pub(crate) use table::KEYS;
pub(crate) use values::Values;
