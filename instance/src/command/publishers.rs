//! `locum ads publisher` and `locum ads curated-category`.

use ads::resources::categories::is_content_category;
use ads::resources::curated_categories::{self, CURATED_CATEGORY};
use ads::resources::publishers::{self, PUBLISHER};
use ads_engine::{AdsRecord, SHARED_ACCOUNT_ID};
use base::refusal::RefusalKind;
use base::{Error, Refusal, UserId};
use clap::Subcommand;
use serde_json::{Value, json};
use store::records::{self, RecordVisibility};
use store::{Tx, users};

use super::find;
use crate::Instance;

const MAX_RECORDS: usize = 1000;

#[derive(Clone, Debug, Subcommand)]
pub enum PublisherCommand {
    /// Add a publisher or update its settings
    Add {
        /// @username or id
        user: String,
        /// The id of a content category; repeatable
        #[arg(long = "category", required = true, value_name = "ID")]
        categories: Vec<String>,
        /// An ISO 3166-1 country in which the videos may carry ads; repeatable
        #[arg(long = "country", required = true, value_name = "CODE")]
        countries: Vec<String>,
        /// A country in which the videos may be promoted [default: the same countries]
        #[arg(long = "promoted-in", value_name = "CODE")]
        promoted: Vec<String>,
        /// Show no ads for now
        #[arg(long)]
        restricted: bool,
    },
    /// Remove a publisher, also from all curated categories
    Remove {
        /// @username or id
        user: String,
    },
    /// List publishers
    List,
}

#[derive(Clone, Debug, Subcommand)]
pub enum CuratedCommand {
    /// Create a curated category
    Add {
        /// The name
        name: String,
        /// The description
        #[arg(long, default_value = "", hide_default_value = true)]
        description: String,
        /// An ISO 3166-1 country it applies to; repeatable
        #[arg(long = "country", required = true, value_name = "CODE")]
        countries: Vec<String>,
        /// A publisher: @username or id; repeatable
        #[arg(long = "publisher", required = true, value_name = "USER")]
        publishers: Vec<String>,
    },
    /// Remove a curated category
    Remove {
        /// The id
        category: String,
    },
    /// List curated categories
    List,
}

pub(super) async fn execute_publisher_command(instance: &Instance, command: PublisherCommand) -> Result<Value, Error> {
    let is_read = matches!(command, PublisherCommand::List);
    let work = move |tx: &mut Tx<'_>| apply_publisher_command(tx, &command);
    if is_read { instance.store.read(work).await } else { instance.write(work).await }
}

pub fn apply_publisher_command(tx: &mut Tx<'_>, command: &PublisherCommand) -> Result<Value, Error> {
    match command {
        PublisherCommand::Add { user, categories, countries, promoted, restricted } => {
            let user = find::user(tx, user)?;
            let known = publishers::find_by_user(tx, user.id)?;
            if known.is_none() && publishers::list_all(tx)?.len() >= MAX_RECORDS {
                return Err(limit_reached("publisher"));
            }
            let is_new = known.is_none();
            let fresh = || AdsRecord::new(&PUBLISHER, user.id.get(), SHARED_ACCOUNT_ID, tx.now());
            let mut record = known.unwrap_or_else(fresh);
            if let Some(unknown) = categories.iter().find(|id| !is_content_category(id)) {
                let message = "Unknown content category";
                return Err(Refusal::invalid_parameter("category", unknown, message).into());
            }
            let promoted = if promoted.is_empty() { countries } else { promoted };
            record.set("content_category_ids", deduplicate(categories));
            record.set("monetizable_country_codes", country_codes("country", countries)?);
            let promoted = country_codes("promoted-in", promoted)?;
            record.set("promotion_eligible_country_codes", promoted);
            record.set("monetization_restricted", i64::from(*restricted));
            save_record(tx, &mut record, is_new)?;
            Ok(publishers::render_publisher(&record, &user))
        }
        PublisherCommand::Remove { user } => {
            let user = find::user_or_deleted(tx, user)?;
            if publishers::find_by_user(tx, user.id)?.is_none() {
                return Err(find::not_found("publisher", &user.username));
            }
            records::delete(tx, PUBLISHER.name, user.id.get())?;
            leave_categories(tx, user.id)?;
            Ok(json!({ "user_id": user.id.to_string(), "removed": true }))
        }
        PublisherCommand::List => {
            let mut rows = Vec::new();
            for publisher in publishers::list_all(tx)? {
                if let Some(user) = users::find_by_id(tx, UserId::new(publisher.id))? {
                    rows.push(publishers::render_publisher(&publisher, &user));
                }
            }
            Ok(rows.into())
        }
    }
}

pub(super) async fn execute_curated_command(instance: &Instance, command: CuratedCommand) -> Result<Value, Error> {
    let is_read = matches!(command, CuratedCommand::List);
    let work = move |tx: &mut Tx<'_>| match &command {
        CuratedCommand::Add { name, description, countries, publishers } => {
            let record = build_category(tx, name, description, countries, publishers)?;
            Ok(render_record(&record))
        }
        CuratedCommand::Remove { category } => {
            let id = CURATED_CATEGORY.id_format.parse(category);
            let found = match id {
                Some(id) => curated_categories::find(tx, id)?,
                None => None,
            };
            let mut found = found.ok_or_else(|| find::not_found("curated category", category))?;
            // Line items that target it keep its id; new ones cannot use it.
            found.deleted = true;
            found.level = RecordVisibility::Hidden;
            save_record(tx, &mut found, false)?;
            Ok(json!({ "id": found.formatted_id(), "removed": true }))
        }
        CuratedCommand::List => {
            let all = curated_categories::list_all(tx)?;
            Ok(all.iter().map(render_record).collect())
        }
    };
    if is_read { instance.store.read(work).await } else { instance.write(work).await }
}

fn build_category(
    tx: &mut Tx<'_>,
    name: &str,
    description: &str,
    countries: &[String],
    members: &[String],
) -> Result<AdsRecord, Error> {
    if curated_categories::list_all(tx)?.len() >= MAX_RECORDS {
        return Err(limit_reached("curated category"));
    }
    let name = name.trim();
    if !(1..=255).contains(&name.chars().count()) {
        let message = "The name must have 1 to 255 characters";
        return Err(Refusal::invalid_parameter("name", name, message).into());
    }
    if description.chars().count() > 1000 {
        let message = "The description must have at most 1000 characters";
        return Err(Refusal::invalid_parameter("description", description, message).into());
    }
    let mut ids: Vec<i64> = Vec::new();
    for member in members {
        let user = find::user(tx, member)?;
        if publishers::find_by_user(tx, user.id)?.is_none() {
            let message = "This user is not a publisher";
            return Err(Refusal::invalid_parameter("publisher", member, message).into());
        }
        if !ids.contains(&user.id.get()) {
            ids.push(user.id.get());
        }
    }
    let codes = country_codes("country", countries)?;
    let number = records::next_id(tx, CURATED_CATEGORY.name)?;
    let id = number.saturating_add(CURATED_CATEGORY.id_format.number_offset());
    let mut record = AdsRecord::new(&CURATED_CATEGORY, id, SHARED_ACCOUNT_ID, tx.now());
    record.set("name", name);
    record.set("description", description);
    record.set("country_codes", codes);
    record.set("publisher_user_ids", ids);
    save_record(tx, &mut record, true)?;
    Ok(record)
}

fn leave_categories(tx: &mut Tx<'_>, user: UserId) -> Result<(), Error> {
    for category in curated_categories::list_all(tx)? {
        records::lock(tx, CURATED_CATEGORY.name, category.id)?;
        let Some(mut category) = curated_categories::find(tx, category.id)? else { continue };
        let mut ids = category.items("publisher_user_ids").to_vec();
        let before = ids.len();
        ids.retain(|id| id.as_i64() != Some(user.get()));
        if ids.len() < before {
            category.set("publisher_user_ids", ids);
            save_record(tx, &mut category, false)?;
        }
    }
    Ok(())
}

fn save_record(tx: &mut Tx<'_>, record: &mut AdsRecord, is_new: bool) -> Result<(), Error> {
    record.updated_at = tx.now();
    if is_new {
        record.insert(tx)?;
    } else {
        record.update(tx)?;
    }
    Ok(())
}

fn render_record(record: &AdsRecord) -> Value {
    let mut members = record.render_fields(base::Vocabulary::Post);
    members.insert("id".to_owned(), record.formatted_id().into());
    members.into()
}

fn country_codes(name: &'static str, codes: &[String]) -> Result<Vec<String>, Error> {
    curated_categories::parse_country_codes(name, codes)
        .map_err(|problem| Refusal::invalid_parameter(name, codes.join(","), problem.message.clone()).into())
}

fn deduplicate(texts: &[String]) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    for text in texts {
        if !all.contains(text) {
            all.push(text.clone());
        }
    }
    all
}

fn limit_reached(what: &'static str) -> Error {
    let message = format!("There are already {MAX_RECORDS} of them");
    Refusal::named_reason(RefusalKind::Conflict, what, "", message).into()
}
