//! Planned Ads API operations, replaced by generated ones as they are built.

mod accounts;
mod audiences;
mod campaigns;
mod cards;
mod creatives;
mod generated;
mod promoted;
mod serving;

pub use accounts::{ACCOUNT, ACCOUNTS, RECOMMENDATIONS, REFERENCE};
pub use audiences::{AUDIENCES, TAILORED_AUDIENCES};
pub use campaigns::{BATCHES, CAMPAIGNS};
pub use cards::CARDS;
pub use creatives::CREATIVES;
pub(super) use generated::{built_endpoints, unbuilt_endpoints};
pub use promoted::PROMOTED;
pub use serving::SERVING;

use base::Scopes;

/// Operations under `/12/accounts/{account_id}/`, also under `/11/`:
/// `"id" METHOD "path" | "older path" [path parameters] => "summary" at window,`
macro_rules! account {
    ($(#[$doc:meta])* $name:ident {
        $($id:literal $method:ident $path:literal $(| $older:literal)? [$($part:ident)*]
            => $summary:literal $(at $window:expr)?,)*
    }) => {
        $(#[$doc])*
        pub static $name: &[web::endpoint::Endpoint] = &[$(
            $crate::operations::ads::planned_endpoint(
                $id,
                stringify!($method),
                concat!("/12/accounts/{account_id}/", $path),
                $summary,
            )
            .aliases(&[
                concat!("/11/accounts/{account_id}/", $path),
                $(
                    concat!("/12/accounts/{account_id}/", $older),
                    concat!("/11/accounts/{account_id}/", $older),
                )?
            ])
            .params(&[&[
                $crate::operations::ads::path_param("account_id"),
                $($crate::operations::ads::path_param(stringify!($part)),)*
            ]])
            $(.limits(&[], &[$window]))?,
        )*];
    };
}
use account;
use web::endpoint::{Endpoint, EndpointParam, ErrorFormat, ParamType, RateWindow, per_minute, per_quarter_hour};

const fn planned_endpoint(
    id: &'static str,
    method: &'static str,
    path: &'static str,
    summary: &'static str,
) -> Endpoint {
    let windows = match method.as_bytes() {
        b"GET" => READS,
        _ => WRITES,
    };
    Endpoint::new(id, method, path)
        .summary(summary)
        .permit("1", Scopes::NONE)
        .limits(&[], windows)
        .error_format(ErrorFormat::Ads)
}

const fn path_param(name: &'static str) -> EndpointParam {
    EndpointParam::path(name, ParamType::Text(1, 64), "")
}

const READS: &[RateWindow] = &[per_quarter_hour(2_000)];
const WRITES: &[RateWindow] = &[per_minute(450)];
