//! The context of work on an account: the transaction, the account and the caller.

use std::borrow::Cow;
use std::collections::HashMap;

use base::refusal::AdsProblem;
use base::{Error, Refusal, SiteLinks, Time, UserId, Vocabulary};
use store::records::{self, RecordVisibility};
use store::{Tx, ads};

use crate::access::{AdsRole, RequiredRole, role_not_allowed};
use crate::config::AdsConfig;
use crate::declaration::Resource;
use crate::record::AdsRecord;
use crate::record_change::RecordChange;
use crate::request::{AdsCaller, SharedEvaluator};

/// The account id of records that belong to no account, created by an operator for all accounts.
pub const SHARED_ACCOUNT_ID: i64 = 0;

pub struct AccountContext<'t, 'c> {
    pub tx: &'t mut Tx<'c>,
    pub caller: AdsCaller,
    pub cursor_key: [u8; 32],
    /// The cursor scope as far as the request determines it.
    pub cursor_scope: String,
    /// The base URL of the site; files are served below it.
    pub site: SiteLinks,
    pub evaluator: Option<SharedEvaluator>,
    pub batch: Option<BatchState>,
    /// The number of campaigns that have not ended, cached once counted.
    pub live_campaigns: Option<i64>,
    /// The number of targeting criteria by group, cached once counted.
    pub criteria_counts: HashMap<i64, i64>,
    pub config: AdsConfig,
    account: Option<OpenAccount>,
}

#[derive(Debug)]
pub struct BatchState {
    pub resource: &'static Resource,
    /// The index of the current item in the request.
    pub item_index: usize,
    /// The changes so far, each with the index of the item that made it.
    pub changes: Vec<(usize, RecordChange)>,
}

#[derive(Clone, Debug)]
pub struct OpenAccount {
    pub record: AdsRecord,
    pub role: AdsRole,
    pub may_compose_posts: bool,
}

impl<'t, 'c> AccountContext<'t, 'c> {
    pub fn new(tx: &'t mut Tx<'c>, caller: AdsCaller) -> Self {
        Self {
            tx,
            caller,
            cursor_key: [0; 32],
            cursor_scope: String::new(),
            site: SiteLinks::default(),
            evaluator: None,
            batch: None,
            live_campaigns: None,
            criteria_counts: HashMap::new(),
            config: AdsConfig::default(),
            account: None,
        }
    }

    /// A context that acts for an operator with full rights, in the name of `user`.
    pub fn new_for_operator(tx: &'t mut Tx<'c>, user: UserId, account: AdsRecord) -> Self {
        let caller = AdsCaller { user, app: None, vocabulary: Vocabulary::Post, sandbox: account.flag("sandbox") };
        let mut ctx = Self::new(tx, caller);
        ctx.account = Some(OpenAccount { record: account, role: AdsRole::Admin, may_compose_posts: true });
        ctx
    }

    /// Opens an account for the caller. A missing account and one the caller has no role on give the same
    /// error.
    pub fn open_account(
        &mut self,
        (accounts, id): (&'static Resource, i64),
        required_role: RequiredRole,
        writes: bool,
        with_deleted: bool,
    ) -> Result<(), Error> {
        if writes {
            // Writers of an account are serialized; limits and sums rely on that.
            records::lock(self.tx, accounts.name, id)?;
        }
        let access = ads::find_access(self.tx, self.caller.user, id)?;
        let (Some(access), Some(record)) = (access, AdsRecord::find(self.tx, accounts, id)?) else {
            return Err(account_not_found(accounts, id));
        };
        let known = record.flag("sandbox") == self.caller.sandbox && (with_deleted || !record.deleted);
        let Some(role) = AdsRole::parse(&access.role).filter(|_| known) else {
            return Err(account_not_found(accounts, id));
        };
        if !required_role.allows_role(role) {
            return Err(role_not_allowed());
        }
        let approval = record.text("approval_status");
        if writes && required_role == RequiredRole::CampaignWriter && approval != "ACCEPTED" {
            let message = format!("Campaigns are not changed while the account is {approval}");
            return Err(AdsProblem::new("INVALID_ACCOUNT_SERVICE_LEVEL", message).into());
        }
        self.account =
            Some(OpenAccount { record, role, may_compose_posts: access.can_compose && role.may_compose_posts() });
        Ok(())
    }

    pub fn account(&self) -> Result<&OpenAccount, Error> {
        let missing = || base::Fault::new("the operation has no account");
        self.account.as_ref().ok_or_else(|| missing().into())
    }

    pub fn account_id(&self) -> Result<i64, Error> {
        Ok(self.account()?.record.id)
    }

    pub const fn now(&self) -> Time {
        self.tx.now()
    }

    /// Finds a record of the account or a shared one, including deleted ones.
    pub fn find_record(&mut self, resource: &'static Resource, id: i64) -> Result<Option<AdsRecord>, Error> {
        let account = self.account_id()?;
        let found = AdsRecord::find(self.tx, resource, id)?;
        Ok(found.filter(|record| [account, SHARED_ACCOUNT_ID].contains(&record.account_id)))
    }

    /// Records of the account and shared ones, including deleted ones, in no order.
    pub fn find_records(&mut self, resource: &'static Resource, ids: &[i64]) -> Result<Vec<AdsRecord>, Error> {
        let known = [self.account_id()?, SHARED_ACCOUNT_ID];
        let rows = records::find_by_ids(self.tx, resource.name, ids)?;
        let rows = rows.into_iter().filter(|row| known.contains(&row.account_id));
        let all: Result<Vec<AdsRecord>, _> = rows.map(|row| AdsRecord::from_stored(resource, row)).collect();
        Ok(all?)
    }

    /// Like [`Self::find_record`], but refuses deleted and missing records.
    pub fn require_record(&mut self, resource: &'static Resource, id: i64) -> Result<AdsRecord, Error> {
        let found = self.find_record(resource, id)?.filter(|record| !record.deleted);
        found.ok_or_else(|| self.not_found_problem(resource, id).into())
    }

    pub fn not_found_problem(&self, resource: &Resource, id: i64) -> AdsProblem {
        record_not_found(resource, resource.id.name_in(self.caller.vocabulary), id)
    }

    /// Records of the account whose field has this value, oldest first.
    pub fn list_records(
        &mut self,
        resource: &'static Resource,
        field: &'static str,
        value: i64,
    ) -> Result<Vec<AdsRecord>, Error> {
        self.list_by_field(resource, (field, value), RecordVisibility::Hidden)
    }

    /// Like [`Self::list_records`] without deleted records and those below them.
    pub fn list_undeleted_records(
        &mut self,
        resource: &'static Resource,
        field: &'static str,
        value: i64,
    ) -> Result<Vec<AdsRecord>, Error> {
        self.list_by_field(resource, (field, value), RecordVisibility::Draft)
    }

    /// Like [`Self::list_records`] without deleted, hidden and draft records.
    pub fn list_visible_records(
        &mut self,
        resource: &'static Resource,
        field: &'static str,
        value: i64,
    ) -> Result<Vec<AdsRecord>, Error> {
        self.list_by_field(resource, (field, value), RecordVisibility::Listed)
    }

    fn list_by_field(
        &mut self,
        resource: &'static Resource,
        key: (&'static str, i64),
        up_to: RecordVisibility,
    ) -> Result<Vec<AdsRecord>, Error> {
        let account = self.account_id()?;
        let rows = records::list_by_field(self.tx, resource.name, account, key, up_to)?;
        Ok(AdsRecord::from_rows(resource, rows)?)
    }

    /// Adds the change to the current batch. Returns false if there is no batch or it is for another resource.
    pub fn add_to_batch(&mut self, change: &RecordChange) -> bool {
        let batch = self.batch.as_mut();
        let own = batch.filter(|batch| std::ptr::eq(batch.resource, change.record.resource));
        if let Some(batch) = own {
            batch.changes.push((batch.item_index, change.clone()));
            return true;
        }
        false
    }

    /// Updates a record without history entries or events, for computed values.
    pub fn save_record(&mut self, record: &AdsRecord) -> Result<(), Error> {
        Ok(record.update(self.tx)?)
    }
}

pub fn record_not_found(resource: &Resource, name: &'static str, id: i64) -> AdsProblem {
    unknown_record(resource, name, &resource.id_format.format(id.max(0)))
}

/// Like [`record_not_found`], for an id as the request has it.
pub fn unknown_record(resource: &Resource, name: impl Into<Cow<'static, str>>, sent: &str) -> AdsProblem {
    let shown: String = sent.chars().take(100).collect();
    let message = format!("The {} {shown} was not found", resource.label);
    AdsProblem::invalid_parameter(name, shown, message).with_code(resource.not_found)
}

/// Whether a refusal says that the caller has no access to the account.
pub fn is_unknown_account(refusal: &Refusal) -> bool {
    matches!(refusal, Refusal::Ads(declined) if declined.problems.iter().any(|problem| problem.code == "ACCOUNT_NOT_FOUND"))
}

fn account_not_found(accounts: &Resource, id: i64) -> Error {
    let written = accounts.id_format.format(id.max(0));
    let message = "User is not associated with this account, or it does not exist".to_owned();
    AdsProblem::invalid_parameter("account_id", written, message).with_code("ACCOUNT_NOT_FOUND").into()
}
