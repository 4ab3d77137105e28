//! Operations that the declarations of advertising lead to, in the table of all operations.

use std::collections::HashSet;
use std::sync::LazyLock;

use ads::declaration::{AdsRateClass, FieldRequirement};
use ads::field_kind::FieldKind as Holds;
use ads::operations::OperationParamLocation as At;
use base::{Entitlement, Scope, Scopes};

use crate::endpoint::{
    Accent, Body, Endpoint, Kind, Limits, Param, Place, Shared, Window, quarter,
};
use crate::operations::shared::minute;

/// What is declared and not built: the plans in whose place nothing has come yet.
pub(in crate::operations) fn still_planned(planned: &'static [Endpoint]) -> &'static [Endpoint] {
    static BUILT: LazyLock<HashSet<(&str, String)>> = LazyLock::new(|| {
        let all = ads::operations().iter();
        all.map(|operation| (operation.method, shape(operation.path)))
            .collect()
    });
    let open = planned
        .iter()
        .filter(|plan| !BUILT.contains(&(plan.method, shape(plan.path))));
    Vec::leak(open.copied().collect())
}

/// The built ones. They keep the names that their plans had.
pub(in crate::operations) fn mounted(planned: &[&'static [Endpoint]]) -> &'static [Endpoint] {
    let plans: Vec<&Endpoint> = planned
        .iter()
        .copied()
        .flatten()
        .filter(|plan| plan.accent == Accent::Ads)
        .collect();
    let all = ads::operations().iter().map(|operation| {
        let plan = plans.iter().find(|plan| {
            plan.method == operation.method && shape(plan.path) == shape(operation.path)
        });
        endpoint(operation, plan.map_or(operation.id, |plan| plan.id))
    });
    Vec::leak(all.collect())
}

fn endpoint(operation: &'static ads::AdsOperation, id: &'static str) -> Endpoint {
    let params: &'static [Param] = Vec::leak(operation.params.iter().map(param).collect());
    let (windows, shared): (&'static [Window], _) = match operation.rate_class {
        // All changes are counted together.
        AdsRateClass::PerMinute(CHANGES) => (&[], Some(&WRITES)),
        often => (Vec::leak(vec![window(often)]), None),
    };
    let scopes = if operation.is_write { WRITE } else { READ };
    Endpoint {
        id,
        method: operation.method,
        path: operation.path,
        aliases: operation.aliases,
        about: operation.summary,
        needs: Some(Entitlement::Ads),
        limits: Limits {
            app: &[],
            user: windows,
            shared,
        },
        params: Vec::leak(vec![params]),
        body: Body::Own,
        act: Some(crate::ads::act),
        ads: Some(operation),
        ..Endpoint::DEFAULT
    }
    .permit("12", scopes)
    .accent(Accent::Ads)
}

const READ: Scopes = Scopes::from_slice(&[Scope::AdsRead]);
const WRITE: Scopes = Scopes::from_slice(&[Scope::AdsWrite]);

/// Changes of whatever kind that a user may make in a minute.
const CHANGES: u32 = 450;
static WRITES: Shared = Shared {
    name: "ads changes",
    window: minute(CHANGES),
};

/// A path without the names of its parameters, in the posts vocabulary.
fn shape(path: &str) -> String {
    let path = path.replace("<posts>", "posts").replace("<post>", "post");
    let parts = path
        .split('/')
        .map(|part| if part.starts_with('{') { "*" } else { part });
    parts.collect::<Vec<_>>().join("/")
}

const fn window(often: AdsRateClass) -> Window {
    match often {
        AdsRateClass::Standard => quarter(2_000),
        AdsRateClass::High => quarter(10_000),
        AdsRateClass::Low => quarter(5),
        AdsRateClass::Options => quarter(400),
        AdsRateClass::Insights => quarter(500),
        AdsRateClass::Stats => quarter(250),
        AdsRateClass::PerMinute(calls) | AdsRateClass::AccountPerMinute(calls) => minute(calls),
    }
}

fn param(param: &ads::OperationParam) -> Param {
    let aliases: Vec<&'static str> = param
        .aliases
        .iter()
        .copied()
        .chain((param.name.post != param.name.tweet).then_some(param.name.tweet))
        .collect();
    let place = match param.location {
        At::Path => Place::Path,
        At::Input => Place::Query,
    };
    Param {
        name: param.name.post,
        // One path has one name for each of its parts.
        aliases: if place == Place::Path {
            &[]
        } else {
            Vec::leak(aliases)
        },
        place,
        required: param.requirement == FieldRequirement::Required,
        kind: kind(param),
        about: "",
    }
}

/// What a parameter holds, for the OpenAPI document.
fn kind(param: &ads::OperationParam) -> Kind {
    const ANY: Kind = Kind::Text(0, 100_000);
    let usual = param
        .default_value
        .as_ref()
        .and_then(serde_json::Value::as_i64);
    match param.kind {
        Holds::Text(least, most) => Kind::Text(least, most),
        Holds::Bool => Kind::Bool,
        Holds::Int(least, most) => Kind::Int(least, most, usual.unwrap_or(least)),
        Holds::Money => Kind::Int(1, i64::MAX, 1),
        Holds::OneOf(words) => Kind::OneOf(words),
        Holds::SomeOf(words) => Kind::SomeOf(words),
        Holds::Word(words) => Kind::OneOf(Vec::leak(words.iter().map(|word| word.post).collect())),
        Holds::User | Holds::Long => Kind::Id,
        Holds::Longs(most) => Kind::Ids(1, most),
        Holds::Time => Kind::Time,
        Holds::Url => Kind::Text(8, 2048),
        Holds::Reference(..) | Holds::Account | Holds::MediaKey => Kind::Text(1, 64),
        Holds::Texts(..)
        | Holds::Ids(..)
        | Holds::MediaKeys(_)
        | Holds::CardUris(_)
        | Holds::Shape(_) => ANY,
    }
}
