//! Advertising accounts as commands name and show them.

use ads::resources::accounts::ACCOUNT;
use ads::resources::{accounts, promotable_users};
use ads_engine::{AccountContext, AdsRecord, IdFormat, engine};
use base::{Error, Refusal, UserId, Vocabulary};
use clap::Subcommand;
use serde_json::{Value, json};
use store::{Tx, records};

use super::find;

#[derive(Clone, Debug, Subcommand)]
pub enum AccountCommand {
    /// Create an account; the user administers it and is its promotable user
    Create {
        /// The name
        name: String,
        /// @username or id
        #[arg(long)]
        user: String,
        /// The IANA time zone
        #[arg(long, default_value = "America/Los_Angeles")]
        timezone: String,
        /// The industry: `RETAIL`, `TRAVEL`, …
        #[arg(long, default_value = "", hide_default_value = true)]
        industry: String,
        /// Create the account in the sandbox
        #[arg(long)]
        sandbox: bool,
    },
    /// List the accounts on which a user has a role
    List {
        /// @username or id
        user: String,
    },
    /// Show an account, its users and its promotable users
    Show {
        /// The id
        account: String,
    },
    /// Set or remove a user's role on an account
    Role {
        /// The id
        account: String,
        /// @username or id
        user: String,
        /// `ACCOUNT_ADMIN`, `AD_MANAGER`, `CREATIVE_MANAGER`, `CAMPAIGN_ANALYST`, `ANALYST` or
        /// `PARTNER_AUDIENCE_MANAGER`; omit to remove the role
        role: Option<String>,
        /// Allow composing posts on behalf of the account
        #[arg(long)]
        composer: bool,
    },
    /// Allow an account to promote a user's posts by reposting them, with that user's consent
    Promote {
        /// The id
        account: String,
        /// @username or id
        user: String,
    },
    /// Add or remove account features
    Feature {
        /// The id
        account: String,
        /// A feature to add; repeatable
        #[arg(long)]
        add: Vec<String>,
        /// A feature to remove; repeatable
        #[arg(long)]
        remove: Vec<String>,
    },
    /// Add a funding instrument to an account
    Funding {
        /// The id
        account: String,
        /// `INSERTION_ORDER`, `CREDIT_LINE`, `CREDIT_CARD`, `AGENCY_CREDIT_LINE` or `PARTNER_MANAGED`
        #[arg(long = "type", value_name = "TYPE", default_value = "INSERTION_ORDER")]
        kind: String,
        /// The ISO 4217 currency code
        #[arg(long, default_value = "USD")]
        currency: String,
        /// The app that may change a `PARTNER_MANAGED` instrument: name or id [default: none]
        #[arg(long, value_name = "APP")]
        managed_by: Option<String>,
        /// The funded amount or credit limit, in whole units of the currency
        #[arg(long)]
        amount: Option<i64>,
        /// The start time [default: now]
        #[arg(long)]
        start: Option<String>,
        /// The end time
        #[arg(long)]
        end: Option<String>,
    },
    /// Refresh an account's recommendations now instead of waiting for the daily run
    Recommend {
        /// The id
        account: String,
        /// Dismiss this recommendation instead
        #[arg(long, value_name = "RECOMMENDATION")]
        dismiss: Option<String>,
    },
    /// Set an account's limits, feature gates or review status
    Set {
        /// The id
        account: String,
        /// The maximum number of active campaigns, up to 8,000
        #[arg(long)]
        campaigns: Option<i64>,
        /// The maximum number of active line items, up to 8,000
        #[arg(long, value_name = "COUNT")]
        line_items: Option<i64>,
        /// `strict` rejects requests that need a feature the account lacks; `lenient` allows most of them
        #[arg(long)]
        gates: Option<String>,
        /// `ACCEPTED`, `UNDER_REVIEW` or `REJECTED`
        #[arg(long)]
        approval: Option<String>,
        /// The business the account belongs to; accounts of one business may share audiences
        #[arg(long, value_name = "ID")]
        business: Option<String>,
        /// Enable `ACCOUNT_HISTORY` or `RECOMMENDATIONS`
        #[arg(long, value_name = "NAME")]
        allow: Vec<String>,
        /// Disable `ACCOUNT_HISTORY` or `RECOMMENDATIONS`
        #[arg(long, value_name = "NAME")]
        refuse: Vec<String>,
        /// The precision of audience estimates: `rounded` or `exact`
        #[arg(long)]
        estimate: Option<String>,
    },
}

pub(super) fn invalid_parameter(name: &'static str, value: &str, message: &str) -> Error {
    Refusal::invalid_parameter(name, value, message).into()
}

pub(super) fn find_account(tx: &mut Tx<'_>, text: &str) -> Result<AdsRecord, Error> {
    let id = IdFormat::Short.parse(text);
    let found = match id {
        Some(id) => accounts::find(tx, id)?,
        None => None,
    };
    found.ok_or_else(|| find::not_found("account", text))
}

/// For changes: writers of an account are serialized.
pub(super) fn lock_account(tx: &mut Tx<'_>, text: &str) -> Result<AdsRecord, Error> {
    let id = find_account(tx, text)?.id;
    records::lock(tx, ACCOUNT.name, id)?;
    find_account(tx, text)
}

pub(super) fn show_account(tx: &mut Tx<'_>, account: AdsRecord) -> Result<Value, Error> {
    let roles: Vec<Value> = store::ads::list_access_by_account(tx, account.id)?
        .iter()
        .map(|access| {
            json!({
                "user": access.user_id.to_string(),
                "role": access.role,
                "composer": access.can_compose,
            })
        })
        .collect();
    let features = account.texts("features").into_iter().map(Value::from).collect::<Vec<_>>();
    let sandbox = account.flag("sandbox");
    let limits = ["campaign_limit", "line_item_limit"].map(|name| (name, account.int(name)));
    let gates = match account.text("feature_gates") {
        "" => "lenient",
        gates => gates,
    }
    .to_owned();
    let mut context = AccountContext::new_for_operator(tx, UserId::new(0), account.clone());
    let promotable: Vec<Value> = promotable_users::list_all(&mut context)?
        .iter()
        .map(|one| {
            let user = one.int("user_id").unwrap_or(0).to_string();
            json!({ "user": user, "type": one.text("promotable_user_type") })
        })
        .collect();
    let mut shown = render_record(&mut context, &account)?;
    if let Some(members) = shown.as_object_mut() {
        members.insert("sandbox".to_owned(), sandbox.into());
        members.insert("features".to_owned(), features.into());
        members.insert("feature_gates".to_owned(), gates.into());
        for (name, limit) in limits {
            members.insert(name.to_owned(), limit.into());
        }
        members.insert("roles".to_owned(), roles.into());
        members.insert("promotable_users".to_owned(), promotable.into());
    }
    Ok(shown)
}

pub(super) fn render_record(context: &mut AccountContext<'_, '_>, record: &AdsRecord) -> Result<Value, Error> {
    let mut text = String::new();
    engine::view_record(context, record.clone())?.write_json(&mut text, Vocabulary::Post);
    Ok(serde_json::from_str(&text).unwrap_or_default())
}
