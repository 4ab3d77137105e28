//! Where work on an account is done: the transaction, the account, and who works on it.

use std::collections::HashMap;
use std::sync::Arc;

use base::refusal::AdsProblem;
use base::{Error, Time, UserId, Vocabulary};
use store::records;
use store::{Tx, ads};

use crate::access::{AdsRole, RequiredRole};
use crate::config::AdsConfig;
use crate::declaration::Resource;
use crate::evaluator::Evaluator;
use crate::record::AdsRecord;
use crate::record_change::RecordChange;
use crate::request::AdsCaller;
use crate::resources::accounts::ACCOUNT;

/// The account number of records that belong to no account: what an operator made for all.
pub const SHARED_ACCOUNT_ID: i64 = 0;

/// A transaction and what is known of who works in it.
pub struct AccountContext<'t, 'c> {
    /// The transaction.
    pub tx: &'t mut Tx<'c>,
    /// Who asks, and how.
    pub caller: AdsCaller,
    /// The key that cursors are signed with.
    pub cursor_key: [u8; 32],
    /// What a cursor belongs to, as far as the request says.
    pub cursor_scope: String,
    /// Where the site is; what files are found below.
    pub site_url: &'static str,
    /// Who decides who is reached, where users are looked at.
    pub evaluator: Option<Arc<Evaluator>>,
    /// The batch that is being done.
    pub batch: Option<BatchState>,
    /// How many campaigns the account has that have not ended, once they were counted.
    pub live_campaigns: Option<i64>,
    /// How many criteria there are of each kind at a line item, by what those have in common, as far
    /// as they were counted.
    pub criteria_counts: HashMap<i64, i64>,
    /// What the operator decided.
    pub config: AdsConfig,
    account: Option<OpenAccount>,
}

/// A batch that is being done.
#[derive(Debug)]
pub struct BatchState {
    /// Of which records it is.
    pub resource: &'static Resource,
    /// The place of the item that is being done.
    pub item_index: usize,
    /// What was changed so far, with the places of the items that did it.
    pub changes: Vec<(usize, RecordChange)>,
}

/// The account that is worked on.
#[derive(Clone, Debug)]
pub struct OpenAccount {
    /// Its record.
    pub record: AdsRecord,
    /// What the caller is on it.
    pub role: AdsRole,
    /// Whether the caller may make posts in its name.
    pub may_compose_posts: bool,
}

impl<'t, 'c> AccountContext<'t, 'c> {
    /// Without an account.
    pub fn new(tx: &'t mut Tx<'c>, caller: AdsCaller) -> Self {
        Self {
            tx,
            caller,
            cursor_key: [0; 32],
            cursor_scope: String::new(),
            site_url: "",
            evaluator: None,
            batch: None,
            live_campaigns: None,
            criteria_counts: HashMap::new(),
            config: AdsConfig::default(),
            account: None,
        }
    }

    /// For an operator, who may do everything, in the name of a user.
    pub fn new_for_operator(tx: &'t mut Tx<'c>, user: UserId, account: AdsRecord) -> Self {
        let caller = AdsCaller {
            user,
            app: None,
            speech: Vocabulary::Post,
            sandbox: account.flag("sandbox"),
        };
        let mut ctx = Self::new(tx, caller);
        ctx.account = Some(OpenAccount {
            record: account,
            role: AdsRole::Admin,
            may_compose_posts: true,
        });
        ctx
    }

    /// Opens an account for what the caller wants to do. That it is not there and that it is not
    /// for the caller is the same.
    pub fn open_account(&mut self, id: i64, who: RequiredRole, writes: bool, with_deleted: bool) -> Result<(), Error> {
        if writes {
            // All changes of an account come one after the other: limits and sums hold by that.
            records::lock(self.tx, ACCOUNT.name, id)?;
        }
        let access = ads::find_access(self.tx, self.caller.user, id)?;
        let row = records::find_by_id(self.tx, ACCOUNT.name, id)?;
        let (Some(access), Some(row)) = (access, row) else {
            return Err(account_not_found(id));
        };
        let record = AdsRecord::from_stored(&ACCOUNT, &row)?;
        let known = record.flag("sandbox") == self.caller.sandbox && (with_deleted || !record.deleted);
        let Some(role) = AdsRole::parse(&access.role).filter(|_| known) else {
            return Err(account_not_found(id));
        };
        if !who.allows_role(role) {
            let message = "The role on this account does not allow this action";
            return Err(AdsProblem::new("ACTION_NOT_ALLOWED", message).into());
        }
        let approval = record.text("approval_status");
        if writes && who == RequiredRole::CampaignWriter && approval != "ACCEPTED" {
            let message = format!("Campaigns are not changed while the account is {approval}");
            return Err(AdsProblem::new("INVALID_ACCOUNT_SERVICE_LEVEL", message).into());
        }
        self.account = Some(OpenAccount {
            record,
            role,
            may_compose_posts: access.can_compose && role.may_compose_posts(),
        });
        Ok(())
    }

    /// The account that is worked on.
    pub fn account(&self) -> Result<&OpenAccount, Error> {
        let missing = || base::Fault::new("an operation without an account looks for one");
        self.account.as_ref().ok_or_else(|| missing().into())
    }

    /// Who decides who is reached.
    pub fn evaluator(&self) -> Result<Arc<Evaluator>, Error> {
        let missing = || base::Fault::new("users are looked at without an evaluator");
        Ok(self.evaluator.clone().ok_or_else(missing)?)
    }

    /// Its id.
    pub fn account_id(&self) -> Result<i64, Error> {
        Ok(self.account()?.record.id)
    }

    /// The time of the work.
    pub const fn now(&self) -> Time {
        self.tx.now()
    }

    /// A record of the account or of everyone, deleted or not.
    pub fn find_record(&mut self, of: &'static Resource, id: i64) -> Result<Option<AdsRecord>, Error> {
        let account = self.account_id()?;
        let row = records::find_by_id(self.tx, of.name, id)?;
        let row = row.filter(|row| [account, SHARED_ACCOUNT_ID].contains(&row.account_id));
        Ok(row.map(|row| AdsRecord::from_stored(of, &row)).transpose()?)
    }

    /// A record of the account that is not deleted, or the refusal that says so.
    pub fn require_record(&mut self, of: &'static Resource, id: i64) -> Result<AdsRecord, Error> {
        let found = self.find_record(of, id)?.filter(|record| !record.deleted);
        found.ok_or_else(|| self.not_found_problem(of, id).into())
    }

    /// That a record is not there.
    pub fn not_found_problem(&self, of: &Resource, id: i64) -> AdsProblem {
        record_not_found(of, of.id.name_in(self.caller.speech), id)
    }

    /// The account's records whose field has a value, oldest first.
    pub fn list_records(
        &mut self,
        of: &'static Resource,
        field: &'static str,
        value: i64,
    ) -> Result<Vec<AdsRecord>, Error> {
        let account = self.account_id()?;
        let rows = records::list_by_field(self.tx, of.name, account, (field, value), false)?;
        let all: Result<Vec<AdsRecord>, _> = rows.iter().map(|row| AdsRecord::from_stored(of, row)).collect();
        Ok(all?)
    }

    /// The same without those that are deleted, hidden or drafts.
    pub fn list_visible_records(
        &mut self,
        of: &'static Resource,
        field: &'static str,
        value: i64,
    ) -> Result<Vec<AdsRecord>, Error> {
        let account = self.account_id()?;
        let rows = records::list_by_field(self.tx, of.name, account, (field, value), true)?;
        let all: Result<Vec<AdsRecord>, _> = rows.iter().map(|row| AdsRecord::from_stored(of, row)).collect();
        Ok(all?)
    }

    /// Notes a change as one of the batch that is being done; no if it is not one of it.
    pub fn add_to_batch(&mut self, change: &RecordChange) -> bool {
        let batch = self.batch.as_mut();
        let own = batch.filter(|batch| std::ptr::eq(batch.resource, change.record.resource));
        if let Some(batch) = own {
            batch.changes.push((batch.item_index, change.clone()));
            return true;
        }
        false
    }

    /// Writes a record as it now is, without anyone being told: what the platform works out.
    pub fn save_record(&mut self, record: &AdsRecord) -> Result<(), Error> {
        Ok(records::update(self.tx, record.resource.name, &record.to_stored())?)
    }
}

/// That a record is not there.
pub fn record_not_found(of: &Resource, name: &'static str, id: i64) -> AdsProblem {
    let written = of.id_format.format(id.max(0));
    let message = format!("The {} {written} was not found", of.label);
    AdsProblem::invalid_parameter(name, written, message).with_code(of.not_found)
}

fn account_not_found(id: i64) -> Error {
    let written = ACCOUNT.id_format.format(id.max(0));
    let message = "User is not associated with this account, or it does not exist".to_owned();
    AdsProblem::invalid_parameter("account_id", written, message)
        .with_code("ACCOUNT_NOT_FOUND")
        .into()
}
