//! From a request to the body of its answer.

use base::refusal::{AdsProblem, ProblemLocation, ResourceRef};
use base::{Error, Refusal};
use serde_json::json;
use store::Tx;
use store::records::{IndexedFields, RecordIndex};

use crate::answer::Answer;
use crate::declare::{Resource, Verb};
use crate::desk::Desk;
use crate::given::Given;
use crate::operations::{Does, Operation};
use crate::request::Request;
use crate::resources::{RESOURCES, features};
use crate::{batch, engine, listing, reference};

/// Does what a request asks for; the body of the answer, and headers of its own.
pub fn run(tx: &mut Tx<'_>, request: &Request) -> Result<Answered, Error> {
    let given = Given::read(request);
    match act(tx, request, &given) {
        Ok(answer) => Ok(Answered {
            body: answer.envelope(&given.echo),
            headers: answer.headers,
        }),
        Err(Error::Refused(Refusal::Ads(mut declined))) => {
            if declined.request.is_empty() {
                declined.request = json!({ "params": given.echo }).to_string();
            }
            Err(Refusal::Ads(declined).into())
        }
        Err(other) => Err(other),
    }
}

/// What is sent back.
#[derive(Clone, Debug)]
pub struct Answered {
    /// The body.
    pub body: String,
    /// Headers that only this answer has.
    pub headers: Vec<(&'static str, String)>,
}

fn act(tx: &mut Tx<'_>, request: &Request, given: &Given) -> Result<Answer, Error> {
    let operation = request.operation;
    if operation.sandbox && !request.caller.sandbox {
        let message = "This operation exists in the sandbox only";
        return Err(AdsProblem::new("METHOD_NOT_ALLOWED", message).into());
    }
    let user = store::users::find_by_id(tx, request.caller.user)?;
    if user.is_none_or(|user| user.state != store::users::UserState::Active) {
        let subject = ResourceRef::new("user", "user", request.caller.user);
        return Err(Refusal::Suspended(subject).into());
    }
    let mut desk = Desk::new(tx, request.caller);
    desk.cursor_key = request.cursor_key;
    desk.site = request.site;
    desk.evaluator.clone_from(&request.evaluator);
    desk.house.clone_from(&request.house);
    operation.id.clone_into(&mut desk.scope);
    if request.path.iter().any(|(name, _)| *name == "account_id") {
        let id = given.int("account_id").unwrap_or(-1);
        let with_deleted = operation.reads_deleted_accounts() && given.flag("with_deleted");
        desk.open(id, operation.who, operation.writes, with_deleted)?;
    }
    match operation.does {
        Does::Verb(of, verb) => {
            let mut answer = of_verb(&mut desk, of, verb, given)?;
            let told = of.echoes.iter();
            answer
                .echo
                .extend(told.map(|(name, value)| ((*name).to_owned(), (*value).into())));
            Ok(answer)
        }
        Does::Batch(of) => batch::run(&mut desk, of, given),
        Does::Custom(custom) => {
            if let Some(gate) = &custom.gate {
                features::pass(&desk, gate, ProblemLocation::Request)?;
            }
            (custom.act)(&mut desk, given)
        }
        Does::Reference(of) => reference::list(&desk, of, given),
    }
}

fn of_verb(
    desk: &mut Desk<'_, '_>,
    of: &'static Resource,
    verb: Verb,
    given: &Given,
) -> Result<Answer, Error> {
    let record = match verb {
        Verb::List => return listing::list(desk, of, given),
        Verb::Get => engine::get(desk, of, given)?,
        Verb::Create => engine::create(desk, of, given)?,
        Verb::Update => {
            let id = engine::id_of(of, given)?;
            engine::update(desk, of, id, given)?
        }
        Verb::Delete => {
            engine::checked(given)?;
            let id = engine::id_of(of, given)?;
            engine::delete(desk, of, id)?
        }
    };
    Ok(Answer::raw(engine::show_one(desk, &record)?))
}

impl Operation {
    /// Whether it may be asked about an account that was deleted.
    fn reads_deleted_accounts(&self) -> bool {
        self.id == "getAdsAccount"
    }
}

/// The indexes that the declarations lead to.
pub fn indexes() -> Vec<RecordIndex> {
    let mut all = Vec::new();
    for of in RESOURCES {
        let filters = of.filtered_numbers();
        if of.is_listed_widely() {
            let beside = IndexedFields {
                filter_fields: filters.clone(),
                sort_fields: of.sorts.to_vec(),
            };
            let under = |name| RecordIndex::CoveringFilter(of.name, name, beside.clone());
            all.extend(filters.into_iter().map(under));
            all.push(RecordIndex::CoveringName(of.name, beside));
        } else {
            let filter = |name| RecordIndex::Filter(of.name, name);
            all.extend(filters.into_iter().map(filter));
        }
        all.extend(of.sorts.iter().map(|name| RecordIndex::Sort(of.name, name)));
    }
    all.extend(crate::resources::INDEXES.iter().cloned());
    all
}
