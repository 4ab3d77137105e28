//! Apps that an account has advertised, noted when they are first named.

use base::{Error, VocabularyWord};
use serde_json::Value;

use crate::declare::{Field, Resource, Verb};
use crate::desk::Desk;
use crate::engine;
use crate::given::Given;
use crate::kind::Kind;
use crate::record::Record;

/// An app of an account.
pub static ACCOUNT_APP: Resource = Resource {
    name: "account_app",
    id: VocabularyWord::same_in_both("account_app_id"),
    path: "account_apps",
    about: "app",
    fields: &[
        Field::text("app_store_identifier", 1, 255).fixed(),
        Field::one_of("os_type", &["Android", "iOS"]).fixed(),
        Field::new("conversion_tracking_enabled", Kind::Bool)
            .kept()
            .or_flag(false),
        Field::text("deep_link_pattern", 1, 255).kept(),
    ],
    verbs: &[Verb::List],
    ..Resource::DEFAULT
};

/// Notes an app that is not known yet.
pub fn note(desk: &mut Desk<'_, '_>, system: &str, identifier: &str) -> Result<(), Error> {
    if identifier.is_empty() {
        return Ok(());
    }
    let account = desk.account_id()?;
    for row in store::records::list_by_account(desk.tx, ACCOUNT_APP.name, account)? {
        let known = Record::stored(&ACCOUNT_APP, &row)?;
        if known.text("app_store_identifier") == identifier && known.text("os_type") == system {
            return Ok(());
        }
    }
    let mut given = Given::default();
    given.put("app_store_identifier", Value::from(identifier));
    given.put("os_type", Value::from(system));
    engine::create(desk, &ACCOUNT_APP, &given)?;
    Ok(())
}
