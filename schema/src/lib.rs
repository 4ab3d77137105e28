//! Declarations of parameters and body members: their kinds, how they are read and checked, and their JSON Schema.

mod id_format;
pub mod json_schema;
mod kind;
mod object;
mod parameter;
mod reading;
mod rendering;
mod time;

pub use id_format::IdFormat;
pub use kind::{CustomKind, Kind, TextPattern, ValueKind};
pub use object::{MAX_PROBLEMS, ObjectProblem, check_object};
pub use parameter::{DefaultValue, FieldRequirement, Parameter, ParameterLocation};
pub use reading::{RawParam, ReadingRules, Violation, ViolationKind, parse_flag, read, truncate_for_echo};
pub use time::{format_time, parse_time, write_time};
