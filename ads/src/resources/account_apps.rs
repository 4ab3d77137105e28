//! Apps that an account has advertised, recorded on first use.

use ads_engine::{AccountContext, AdsRecord, FieldSpec, Kind, ParsedParams, Resource, ResourceVerb, engine};
use base::{Error, VocabularyWord};
use serde_json::Value;

pub static ACCOUNT_APP: Resource = Resource {
    name: "account_app",
    id: VocabularyWord::same_in_both("account_app_id"),
    path: "account_apps",
    label: "app",
    fields: &[
        FieldSpec::text("app_store_identifier", 1, 255).immutable(),
        FieldSpec::one_of("os_type", &["Android", "iOS"]).immutable(),
        FieldSpec::new("conversion_tracking_enabled", Kind::BOOL).set_by_server().default_flag(false),
        FieldSpec::text("deep_link_pattern", 1, 255).set_by_server(),
    ],
    verbs: &[ResourceVerb::List],
    ..Resource::DEFAULT
};

/// Notes whether the events of an app are tracked.
pub fn set_tracking(
    ctx: &mut AccountContext<'_, '_>,
    (system, identifier): (&str, &str),
    tracked: bool,
) -> Result<(), Error> {
    let account = ctx.account_id()?;
    for row in store::records::list_by_account(ctx.tx, ACCOUNT_APP.name, account)? {
        let mut app = AdsRecord::from_stored(&ACCOUNT_APP, row)?;
        let same = app.text("app_store_identifier") == identifier && app.text("os_type") == system;
        if same && app.flag("conversion_tracking_enabled") != tracked {
            app.set("conversion_tracking_enabled", i64::from(tracked));
            ctx.save_record(&app)?;
        }
    }
    Ok(())
}

pub fn ensure_app(ctx: &mut AccountContext<'_, '_>, system: &str, identifier: &str) -> Result<(), Error> {
    if identifier.is_empty() {
        return Ok(());
    }
    let account = ctx.account_id()?;
    for row in store::records::list_by_account(ctx.tx, ACCOUNT_APP.name, account)? {
        let known = AdsRecord::from_stored(&ACCOUNT_APP, row)?;
        if known.text("app_store_identifier") == identifier && known.text("os_type") == system {
            return Ok(());
        }
    }
    let mut params = ParsedParams::default();
    params.insert("app_store_identifier", Value::from(identifier));
    params.insert("os_type", Value::from(system));
    engine::create(ctx, &ACCOUNT_APP, &params)?;
    Ok(())
}
