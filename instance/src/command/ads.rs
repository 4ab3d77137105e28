//! `locum ads`.

use std::sync::Arc;

use ads::resources::accounts::{self, NewAdsAccount};
use ads::resources::funding_instruments::FUNDING_INSTRUMENT;
use ads::resources::{features, promotable_users};
use ads_delivery::recommendations::RecommendationEngine;
use ads_engine::{AccountContext, AccountTimeZone, AdsRecord, AdsRole, IdFormat, ParsedParams, engine};
use base::{Error, UserId, Vocabulary};
use clap::Subcommand;
use network::audit::AuditActor;
use network::emails::EmailSite;
use network::notifications;
use serde_json::{Value, json};
use store::Tx;

use super::ads_accounts::{AccountCommand, find_account, invalid_parameter, lock_account, render_record, show_account};
use super::ads_report::AdsReportArgs;
use super::ads_tree::{AdsTreeArgs, AudienceCommand};
use super::invite::email_site;
use super::publishers::{self, CuratedCommand, PublisherCommand};
use super::simulation::{self, SimulateArgs};
use super::targeting_options::{self, OptionCommand};
use super::{account_settings, ads_report, ads_tree, find};
use crate::Instance;

#[derive(Clone, Debug, Subcommand)]
pub enum AdsCommand {
    /// Manage advertising accounts
    #[command(subcommand)]
    Account(AccountCommand),
    /// Manage publishers: users whose videos carry ads
    #[command(subcommand)]
    Publisher(PublisherCommand),
    /// Generate simulated events for an account's line items, to test statistics
    Simulate(SimulateArgs),
    /// Show an account's campaigns with their line items, creatives and criteria: why they do not serve, what they spent
    Tree(AdsTreeArgs),
    /// Report an account's statistics
    Report(AdsReportArgs),
    /// Inspect custom audiences
    #[command(subcommand)]
    Audience(AudienceCommand),
    /// Manage curated categories: sets of publishers by country
    #[command(subcommand)]
    CuratedCategory(CuratedCommand),
    /// Manage targeting options: interests, events, …
    #[command(subcommand)]
    Option(OptionCommand),
}

impl AdsCommand {
    /// The result as text, if it is not a table or a column of values.
    pub(super) fn render_text(&self, result: &mut Value) -> Option<String> {
        match self {
            Self::Report(args) if args.csv => Some(ads_report::render_csv(result)),
            Self::Tree(_) => {
                ads_tree::indent_names(result);
                None
            }
            _ => None,
        }
    }
}

pub(super) async fn execute(instance: &Instance, command: AdsCommand) -> Result<Value, Error> {
    let command = match command {
        AdsCommand::Account(command) => command,
        AdsCommand::Publisher(command) => {
            return publishers::execute_publisher_command(instance, command).await;
        }
        AdsCommand::Simulate(args) => return simulation::simulate(instance, args).await,
        AdsCommand::Tree(args) => {
            return instance.store.read(move |tx| ads_tree::build_tree(tx, &args)).await;
        }
        AdsCommand::Report(args) => {
            return instance.store.read(move |tx| ads_report::build_report(tx, &args)).await;
        }
        AdsCommand::Audience(AudienceCommand::Show { audience }) => {
            return instance.store.read(move |tx| ads_tree::show_audience(tx, &audience)).await;
        }
        AdsCommand::CuratedCategory(command) => {
            return publishers::execute_curated_command(instance, command).await;
        }
        AdsCommand::Option(command) => return targeting_options::execute(instance, command).await,
    };
    match command {
        AccountCommand::List { user } => {
            let read = instance.store.read(move |tx| list_user_accounts(tx, &user));
            read.await
        }
        AccountCommand::Recommend { account, dismiss: None } => recommend_for_account(instance, account).await,
        AccountCommand::Show { account } => {
            let read = instance.store.read(move |tx| {
                let account = find_account(tx, &account)?;
                show_account(tx, account)
            });
            read.await
        }
        AccountCommand::Promote { account, user } => {
            let site = email_site(instance).await?;
            let promote = move |tx: &mut Tx<'_>| allow_promotion(tx, &site, &account, &user);
            instance.write(promote).await
        }
        change => {
            let changed = instance.write(move |tx| execute_account_command(tx, &change));
            changed.await
        }
    }
}

fn execute_account_command(tx: &mut Tx<'_>, command: &AccountCommand) -> Result<Value, Error> {
    match command {
        AccountCommand::Create { name, user, timezone, industry, sandbox } => {
            let new = NewAdsAccount {
                name: name.clone(),
                timezone: timezone.clone(),
                industry_type: industry.clone(),
                sandbox: *sandbox,
            };
            create_account(tx, user, &new)
        }
        AccountCommand::Role { account, user, role, composer } => {
            let account = lock_account(tx, account)?;
            let user = find::user(tx, user)?;
            grant_role(tx, &account, user.id, role.as_deref(), *composer)?;
            show_account(tx, account)
        }
        AccountCommand::Feature { account, add, remove } => change_features(tx, account, add, remove),
        AccountCommand::Recommend { account, dismiss } => {
            let account = lock_account(tx, account)?;
            dismiss_recommendation(tx, &account, dismiss.as_deref().unwrap_or_default())?;
            show_account(tx, account)
        }
        AccountCommand::Funding { account, .. } => {
            let account = lock_account(tx, account)?;
            add_funding_instrument(tx, account, command)
        }
        AccountCommand::Set { account, .. } => {
            let account = lock_account(tx, account)?;
            account_settings::update_account(tx, account, command)
        }
        AccountCommand::List { .. } | AccountCommand::Show { .. } | AccountCommand::Promote { .. } => Ok(Value::Null),
    }
}

fn create_account(tx: &mut Tx<'_>, user: &str, new: &NewAdsAccount) -> Result<Value, Error> {
    let user = find::user(tx, user)?;
    if !AccountTimeZone::is_known(&new.timezone) {
        let message = format!("Unknown time zone {}", new.timezone);
        return Err(invalid_parameter("timezone", &new.timezone, &message));
    }
    let made = accounts::insert(tx, user.id, new)?;
    show_account(tx, made)
}

/// Notifies the user by email the first time.
fn allow_promotion(tx: &mut Tx<'_>, site: &EmailSite, account: &str, user: &str) -> Result<Value, Error> {
    let account = lock_account(tx, account)?;
    let user = find::user(tx, user)?;
    let mut context = AccountContext::new_for_operator(tx, user.id, account.clone());
    if promotable_users::find_by_user(&mut context, user.id)?.is_some() {
        return show_account(tx, account);
    }
    promotable_users::add(&mut context, user.id, "REPOSTS_ONLY")?;
    let by = promotable_users::find_own_user(&mut context)?;
    let by = by.map(|by| store::users::find_by_id(tx, by)).transpose()?;
    let by = by.flatten().map_or(String::new(), |by| format!(" of @{}", by.username));
    let text = format!(
        "The advertising account \u{201c}{}\u{201d}{by} may now promote posts of your account \
         @{} by reposting them, because you agreed to that. If you did not, tell the operator of \
         this site.",
        account.text("name"),
        user.username,
    );
    let told = ("Your posts may be promoted", text.as_str());
    notifications::notify_user_by_email(tx, site, user.id, told)?;
    show_account(tx, account)
}

fn grant_role(
    tx: &mut Tx<'_>,
    account: &AdsRecord,
    user: UserId,
    role: Option<&str>,
    composes: bool,
) -> Result<(), Error> {
    let by = AuditActor::operator();
    let Some(name) = role else {
        return ads::account_roles::revoke_role(tx, &by, account, user);
    };
    let role = AdsRole::parse(name).ok_or_else(|| {
        let names: Vec<&str> = AdsRole::ALL.iter().map(|role| role.name()).collect();
        invalid_parameter("role", name, &format!("Expected one of {}", names.join(", ")))
    })?;
    if composes && !role.may_compose_posts() {
        return Err(invalid_parameter("composer", name, &format!("A {name} cannot compose posts")));
    }
    ads::account_roles::grant_role(tx, &by, account, user, (role, composes))
}

fn change_features(tx: &mut Tx<'_>, account: &str, add: &[String], remove: &[String]) -> Result<Value, Error> {
    let account = lock_account(tx, account)?;
    if let Some(unknown) = add.iter().chain(remove).find(|key| !features::ALL_FEATURES.contains(&key.as_str())) {
        return Err(invalid_parameter("feature", unknown, &format!("Unknown feature {unknown}")));
    }
    let mut all: Vec<String> = account.texts("features").into_iter().map(str::to_owned).collect();
    all.extend(add.iter().cloned());
    all.retain(|feature| !remove.contains(feature));
    let mut context = AccountContext::new_for_operator(tx, UserId::new(0), account);
    features::set(&mut context, all)?;
    let id = context.account_id()?;
    let account = accounts::find(tx, id)?.ok_or_else(|| find::not_found("account", ""))?;
    show_account(tx, account)
}

fn add_funding_instrument(tx: &mut Tx<'_>, account: AdsRecord, command: &AccountCommand) -> Result<Value, Error> {
    let AccountCommand::Funding { kind, currency, managed_by, amount, start, end, .. } = command else {
        return Ok(Value::Null);
    };
    let manager = managed_by.as_deref().map(|app| Ok::<_, Error>(find::app(tx, app)?.id)).transpose()?;
    if let Some(app) = managed_by.as_ref().filter(|_| kind != "PARTNER_MANAGED") {
        return Err(invalid_parameter("managed-by", app, &format!("No app manages a {kind}")));
    }
    let amount = amount.map(|amount| amount.saturating_mul(1_000_000).to_string());
    let funded = matches!(kind.as_str(), "INSERTION_ORDER" | "PARTNER_MANAGED");
    let (funds, limit) = if funded { (amount, None) } else { (None, amount) };
    let start = start.clone().unwrap_or_else(|| ads_engine::field_kind::format_time(tx.now()));
    let members = [
        ("type", Some(kind.clone())),
        ("currency", Some(currency.clone())),
        ("start_time", Some(start)),
        ("end_time", end.clone()),
        ("funded_amount_local_micro", funds),
        ("credit_limit_local_micro", limit),
    ];
    let members = members.into_iter().filter_map(|(name, value)| Some((name.to_owned(), Value::from(value?))));
    let params = ads_engine::operations::field_params(&FUNDING_INSTRUMENT, true);
    let given = ParsedParams::parse_item(&params, &members.collect(), Vocabulary::Post, false);
    let owner = UserId::new(0);
    let mut context = AccountContext::new_for_operator(tx, owner, account);
    let mut made = engine::create(&mut context, &FUNDING_INSTRUMENT, &given)?;
    if let Some(app) = manager {
        made.set("managing_app_id", app.get());
        made.update(context.tx)?;
    }
    render_record(&mut context, &made)
}

async fn recommend_for_account(instance: &Instance, account: String) -> Result<Value, Error> {
    let adviser = recommendation_engine(instance).await?;
    let find = move |tx: &mut Tx<'_>| {
        let account = find_account(tx, &account)?;
        let instruments = ads_delivery::recommendations::funding_instrument_ids(tx, account.id)?;
        Ok((account, instruments))
    };
    let (account, instruments) = instance.store.read(find).await?;
    for id in instruments {
        recommend_for_instrument(instance, &adviser, id, false).await?;
    }
    let shown = instance.store.read(move |tx| show_account(tx, account.clone()));
    shown.await
}

pub async fn recommendation_engine(instance: &Instance) -> Result<RecommendationEngine, Error> {
    Ok(RecommendationEngine {
        evaluator: Arc::clone(&instance.evaluator),
        config: instance.settings.ads_config(),
        site: email_site(instance).await?,
    })
}

pub async fn recommend_for_instrument(
    instance: &Instance,
    adviser: &RecommendationEngine,
    id: i64,
    due: bool,
) -> Result<(), Error> {
    let shared = adviser.clone();
    let found = instance.store.read(move |tx| shared.find_improvements(tx, id)).await?;
    let says = adviser.clone();
    let say = instance.write(move |tx| says.publish_findings(tx, id, due, &found));
    say.await
}

fn dismiss_recommendation(tx: &mut Tx<'_>, account: &AdsRecord, text: &str) -> Result<(), Error> {
    let id = IdFormat::Twelve.parse(text).unwrap_or(-1);
    let mut context = AccountContext::new_for_operator(tx, UserId::new(0), account.clone());
    if ads_delivery::recommendations::dismiss(&mut context, id)? {
        return Ok(());
    }
    Err(find::not_found("recommendation", text))
}

fn list_user_accounts(tx: &mut Tx<'_>, user: &str) -> Result<Value, Error> {
    let user = find::user(tx, user)?;
    let mut rows = Vec::new();
    for access in store::ads::list_access_by_user(tx, user.id)? {
        if let Some(account) = accounts::find(tx, access.account_id)? {
            rows.push(json!({
                "id": account.formatted_id(),
                "name": account.text("name"),
                "role": access.role,
                "sandbox": account.flag("sandbox"),
                "deleted": account.deleted,
            }));
        }
    }
    Ok(rows.into())
}
