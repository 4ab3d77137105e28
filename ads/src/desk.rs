//! Where work on an account is done: the transaction, the account, and who works on it.

use std::collections::HashMap;
use std::sync::Arc;

use base::refusal::AdsProblem;
use base::{Error, Time, UserId, Vocabulary};
use store::records;
use store::{Tx, ads};

use crate::access::{Role, Who};
use crate::change::Change;
use crate::declare::Resource;
use crate::evaluator::Evaluator;
use crate::house::House;
use crate::record::Record;
use crate::request::Caller;
use crate::resources::accounts::ACCOUNT;

/// The account number of records that belong to no account: what an operator made for all.
pub const EVERYONE: i64 = 0;

/// A transaction and what is known of who works in it.
pub struct Desk<'t, 'c> {
    /// The transaction.
    pub tx: &'t mut Tx<'c>,
    /// Who asks, and how.
    pub caller: Caller,
    /// The key that cursors are signed with.
    pub cursor_key: [u8; 32],
    /// What a cursor belongs to, as far as the request says.
    pub scope: String,
    /// Where the site is; what files are found below.
    pub site: &'static str,
    /// Who decides who is reached, where users are looked at.
    pub evaluator: Option<Arc<Evaluator>>,
    /// The batch that is being done.
    pub batch: Option<Batch>,
    /// How many campaigns the account has that have not ended, once they were counted.
    pub live_campaigns: Option<i64>,
    /// How many criteria there are of each kind at a line item, by what those have in common, as far
    /// as they were counted.
    pub criteria_alike: HashMap<i64, i64>,
    /// What the operator decided.
    pub house: House,
    account: Option<Account>,
}

/// A batch that is being done.
#[derive(Debug)]
pub struct Batch {
    /// Of which records it is.
    pub of: &'static Resource,
    /// The place of the item that is being done.
    pub place: usize,
    /// What was changed so far, with the places of the items that did it.
    pub changes: Vec<(usize, Change)>,
}

/// The account that is worked on.
#[derive(Clone, Debug)]
pub struct Account {
    /// Its record.
    pub record: Record,
    /// What the caller is on it.
    pub role: Role,
    /// Whether the caller may make posts in its name.
    pub composes: bool,
}

impl<'t, 'c> Desk<'t, 'c> {
    /// Without an account.
    pub fn new(tx: &'t mut Tx<'c>, caller: Caller) -> Self {
        Self {
            tx,
            caller,
            cursor_key: [0; 32],
            scope: String::new(),
            site: "",
            evaluator: None,
            batch: None,
            live_campaigns: None,
            criteria_alike: HashMap::new(),
            house: House::default(),
            account: None,
        }
    }

    /// For an operator, who may do everything, in the name of a user.
    pub fn of_operator(tx: &'t mut Tx<'c>, user: UserId, account: Record) -> Self {
        let caller = Caller {
            user,
            app: None,
            speech: Vocabulary::Post,
            sandbox: account.flag("sandbox"),
        };
        let mut desk = Self::new(tx, caller);
        desk.account = Some(Account {
            record: account,
            role: Role::Admin,
            composes: true,
        });
        desk
    }

    /// Opens an account for what the caller wants to do. That it is not there and that it is not
    /// for the caller is the same.
    pub fn open(
        &mut self,
        id: i64,
        who: Who,
        writes: bool,
        with_deleted: bool,
    ) -> Result<(), Error> {
        if writes {
            // All changes of an account come one after the other: limits and sums hold by that.
            records::lock(self.tx, ACCOUNT.name, id)?;
        }
        let access = ads::find_access(self.tx, self.caller.user, id)?;
        let row = records::find_by_id(self.tx, ACCOUNT.name, id)?;
        let (Some(access), Some(row)) = (access, row) else {
            return Err(no_account(id));
        };
        let record = Record::stored(&ACCOUNT, &row)?;
        let known =
            record.flag("sandbox") == self.caller.sandbox && (with_deleted || !record.deleted);
        let Some(role) = Role::parse(&access.role).filter(|_| known) else {
            return Err(no_account(id));
        };
        if !who.allows(role) {
            let message = "The role on this account does not allow this action";
            return Err(AdsProblem::new("ACTION_NOT_ALLOWED", message).into());
        }
        let approval = record.text("approval_status");
        if writes && who == Who::CampaignWriter && approval != "ACCEPTED" {
            let message = format!("Campaigns are not changed while the account is {approval}");
            return Err(AdsProblem::new("INVALID_ACCOUNT_SERVICE_LEVEL", message).into());
        }
        self.account = Some(Account {
            record,
            role,
            composes: access.can_compose && role.may_compose(),
        });
        Ok(())
    }

    /// The account that is worked on.
    pub fn account(&self) -> Result<&Account, Error> {
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
    pub fn find(&mut self, of: &'static Resource, id: i64) -> Result<Option<Record>, Error> {
        let account = self.account_id()?;
        let row = records::find_by_id(self.tx, of.name, id)?;
        let row = row.filter(|row| [account, EVERYONE].contains(&row.account_id));
        Ok(row.map(|row| Record::stored(of, &row)).transpose()?)
    }

    /// A record of the account that is not deleted, or the refusal that says so.
    pub fn need(&mut self, of: &'static Resource, id: i64) -> Result<Record, Error> {
        let found = self.find(of, id)?.filter(|record| !record.deleted);
        found.ok_or_else(|| self.not_found(of, id).into())
    }

    /// That a record is not there.
    pub fn not_found(&self, of: &Resource, id: i64) -> AdsProblem {
        not_found(of, of.id.name_in(self.caller.speech), id)
    }

    /// The account's records whose field has a value, oldest first.
    pub fn with(
        &mut self,
        of: &'static Resource,
        field: &'static str,
        value: i64,
    ) -> Result<Vec<Record>, Error> {
        let account = self.account_id()?;
        let rows = records::list_by_field(self.tx, of.name, account, (field, value), false)?;
        let all: Result<Vec<Record>, _> = rows.iter().map(|row| Record::stored(of, row)).collect();
        Ok(all?)
    }

    /// The same without those that are deleted, hidden or drafts.
    pub fn shown(
        &mut self,
        of: &'static Resource,
        field: &'static str,
        value: i64,
    ) -> Result<Vec<Record>, Error> {
        let account = self.account_id()?;
        let rows = records::list_by_field(self.tx, of.name, account, (field, value), true)?;
        let all: Result<Vec<Record>, _> = rows.iter().map(|row| Record::stored(of, row)).collect();
        Ok(all?)
    }

    /// Notes a change as one of the batch that is being done; no if it is not one of it.
    pub fn joins_batch(&mut self, change: &Change) -> bool {
        let batch = self.batch.as_mut();
        let own = batch.filter(|batch| std::ptr::eq(batch.of, change.record.of));
        if let Some(batch) = own {
            batch.changes.push((batch.place, change.clone()));
            return true;
        }
        false
    }

    /// Writes a record as it now is, without anyone being told: what the platform works out.
    pub fn keep(&mut self, record: &Record) -> Result<(), Error> {
        Ok(records::update(
            self.tx,
            record.of.name,
            &record.to_store(),
        )?)
    }
}

/// That a record is not there.
pub fn not_found(of: &Resource, name: &'static str, id: i64) -> AdsProblem {
    let written = of.ids.write(id.max(0));
    let message = format!("The {} {written} was not found", of.about);
    AdsProblem::invalid_parameter(name, written, message).with_code(of.not_found)
}

fn no_account(id: i64) -> Error {
    let written = ACCOUNT.ids.write(id.max(0));
    let message = "User is not associated with this account, or it does not exist".to_owned();
    AdsProblem::invalid_parameter("account_id", written, message)
        .with_code("ACCOUNT_NOT_FOUND")
        .into()
}
