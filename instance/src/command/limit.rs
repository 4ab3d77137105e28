//! The flag `--limit` of commands that list.

use clap::Args;

#[derive(Args, Clone, Copy, Debug)]
pub struct LimitArgs {
    /// The maximum number of results, up to 10,000
    #[arg(long, default_value_t = 100, value_parser = clap::value_parser!(i64).range(1..=10_000))]
    pub(super) limit: i64,
}
