//! Advertising: declared in short form until each operation is built.

mod accounts;
mod audiences;
mod campaigns;
mod cards;
mod creatives;
mod mounted;
mod promoted;
mod serving;

pub use accounts::{ACCOUNT, ACCOUNTS, RECOMMENDATIONS, REFERENCE};
pub use audiences::{AUDIENCES, TAILORED_AUDIENCES};
pub use campaigns::{BATCHES, CAMPAIGNS};
pub use cards::CARDS;
pub use creatives::CREATIVES;
pub(super) use mounted::{mounted, still_planned};
pub use promoted::PROMOTED;
pub use serving::SERVING;

use base::Scopes;

use super::shared::minute;
use crate::endpoint::{Accent, Endpoint, Kind, Param, Window, quarter};

/// A table of operations under `/12/accounts/{account_id}/`, also under `/11/`:
/// `"id" METHOD "path" | "older path" [parameters of the path] => "about" at window,`
macro_rules! account {
    ($(#[$doc:meta])* $name:ident {
        $($id:literal $method:ident $path:literal $(| $older:literal)? [$($part:ident)*]
            => $about:literal $(at $window:expr)?,)*
    }) => {
        $(#[$doc])*
        pub static $name: &[$crate::endpoint::Endpoint] = &[$(
            $crate::operations::ads::planned(
                $id,
                stringify!($method),
                concat!("/12/accounts/{account_id}/", $path),
                $about,
            )
            .aliases(&[
                concat!("/11/accounts/{account_id}/", $path),
                $(
                    concat!("/12/accounts/{account_id}/", $older),
                    concat!("/11/accounts/{account_id}/", $older),
                )?
            ])
            .params(&[&[
                $crate::operations::ads::part("account_id"),
                $($crate::operations::ads::part(stringify!($part)),)*
            ]])
            $(.limits(&[], &[$window]))?,
        )*];
    };
}
use account;

/// An operation that is not built yet. User tokens of OAuth 2.0 come with its scopes.
const fn planned(
    id: &'static str,
    method: &'static str,
    path: &'static str,
    about: &'static str,
) -> Endpoint {
    let windows = match method.as_bytes() {
        b"GET" => READS,
        _ => WRITES,
    };
    Endpoint::new(id, method, path)
        .about(about)
        .permit("1", Scopes::NONE)
        .limits(&[], windows)
        .accent(Accent::Ads)
}

/// A part of the path.
const fn part(name: &'static str) -> Param {
    Param::path(name, Kind::Text(1, 64), "")
}

const READS: &[Window] = &[quarter(2_000)];
const WRITES: &[Window] = &[minute(450)];
