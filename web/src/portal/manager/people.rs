//! Who works on an account: administrators give roles, change them and take them away.

use ads::access::{AdsRole, RequiredRole};
use ads::account_roles as rules;
use base::refusal::AdsProblem;
use base::{Error, UserId};
use network::audit::AuditActor;
use pages::manager::{Act, Block, Cell, Link, Row, Table};
use serde_json::Value;
use store::Tx;

use super::ask::Desk;
use super::column;
use super::forms::{Ask, Plan, Work};
use super::stand::Sent;
use super::words::role;

/// Everybody who works on the account; whoever does not administer it sees themselves.
pub(super) fn table(tx: &mut Tx<'_>, desk: &Desk) -> Result<Block, Error> {
    let mut rows = Vec::new();
    let rules = RequiredRole::Admin.allows_role(desk.role);
    for access in store::ads::list_access_by_account(tx, desk.account.id)? {
        let own = access.user_id == desk.asking.user;
        let Some(known) = AdsRole::parse(&access.role).filter(|_| own || rules) else {
            continue;
        };
        let user = store::users::find_by_id(tx, access.user_id)?;
        let name = user.map_or_else(|| access.user_id.to_string(), |user| user.username);
        let posts = access.can_compose && known.may_compose_posts();
        let act = |text, act: &str| Act {
            text,
            path: desk.path(&format!("/people/{}/{act}", access.user_id)),
            ..Act::default()
        };
        rows.push(Row {
            cells: vec![
                Cell::of(format!("@{name}")).below(if own { "You" } else { "" }),
                Cell::of(role(known)),
                Cell::of(if posts { "Yes" } else { "No" }),
            ],
            name,
            acts: if rules {
                vec![act("Change", "edit"), act("Remove", "remove")]
            } else {
                Vec::new()
            },
        });
    }
    let add = Link::to("Add a person", desk.path("/people/new"));
    Ok(Block::Table(Table {
        title: "People".to_owned(),
        lead: if rules {
            "Administrators give roles and take them away. Every change is kept in the record."
                .to_owned()
        } else {
            "An administrator of the account gives roles and takes them away.".to_owned()
        },
        actions: Some(add).filter(|_| rules).into_iter().collect(),
        columns: ["Person", "Role", "Writes posts"].map(column).into(),
        rows,
        ..Table::default()
    }))
}

fn plan(desk: &Desk, work: Work) -> Plan {
    Plan {
        trail: vec![Link::to("Account", desk.path("/account"))],
        who: Some(RequiredRole::Admin),
        work: Some(work),
        ..Plan::at(desk, "/account")
    }
}

fn roles(now: Option<AdsRole>, composes: bool) -> [Ask; 2] {
    let all = AdsRole::ALL.map(|one| (one.name().to_owned(), role(one).to_owned()));
    let all = Ask::choice("role", "Role", all.into()).help(
        "Administrators do everything. Ad managers work on campaigns and audiences, creative \
         managers on creatives. Analysts look.",
    );
    let writes = [("false", "No"), ("true", "Yes")];
    let writes = writes.map(|(value, text)| (value.to_owned(), text.to_owned()));
    let writes = Ask::choice(
        "composes",
        "Writes posts in the account’s name",
        writes.into(),
    );
    [
        match now {
            Some(now) => all.at_first(now.name()),
            None => all.at_first(AdsRole::CampaignAnalyst.name()),
        },
        writes.at_first(composes.to_string()),
    ]
}

/// The form that gives somebody a role.
pub(super) fn add(desk: &Desk) -> Plan {
    let [role, writes] = roles(None, false);
    Plan {
        heading: "Add a person".to_owned(),
        lead: "They find the account under Ads Manager at once.".to_owned(),
        asks: vec![
            Ask::text("username", "Username").help("Of somebody who has an account here."),
            role,
            writes,
        ],
        submit: "Add person",
        action: desk.path("/people/new"),
        done: "joined",
        ..plan(desk, |tx, desk, _, sent| {
            let name = sent.text("username");
            let name = name.strip_prefix('@').unwrap_or(name);
            if name.is_empty() {
                return Err(AdsProblem::missing_parameter("username").into());
            }
            let user = store::users::find_by_username(tx, name)?;
            let user = user.filter(|user| user.state == store::users::UserState::Active);
            let Some(user) = user else {
                let message = "Nobody here has this username";
                return Err(AdsProblem::invalid_parameter("username", name, message).into());
            };
            if store::ads::find_access(tx, user.id, desk.account.id)?.is_some() {
                let message = "This person works on the account already";
                return Err(AdsProblem::invalid_parameter("username", name, message).into());
            }
            give(tx, desk, user.id, sent)
        })
    }
}

fn by(desk: &Desk) -> AuditActor {
    AuditActor::user(desk.asking.user, &desk.asking.address)
}

fn give(tx: &mut Tx<'_>, desk: &Desk, user: UserId, sent: &Sent) -> Result<Value, Error> {
    let role = sent.text("role");
    let Some(role) = AdsRole::parse(role) else {
        return Err(AdsProblem::invalid_parameter("role", role, "Choose a role").into());
    };
    let composes = sent.text("composes") == "true";
    rules::grant_role(tx, &by(desk), &desk.account, user, (role, composes))?;
    Ok(Value::Null)
}

/// Somebody who works on the account.
fn known(
    tx: &mut Tx<'_>,
    desk: &Desk,
    id: &str,
) -> Result<Option<(String, store::ads::AdsAccountAccess)>, Error> {
    let Some(id) = UserId::parse(id).filter(|_| RequiredRole::Admin.allows_role(desk.role)) else {
        return Ok(None);
    };
    let Some(access) = store::ads::find_access(tx, id, desk.account.id)? else {
        return Ok(None);
    };
    let user = store::users::find_by_id(tx, id)?;
    let name = user.map_or_else(|| id.to_string(), |user| format!("@{}", user.username));
    Ok(Some((name, access)))
}

fn named(plan: &Plan) -> UserId {
    let id = plan.ids.first().and_then(|id| UserId::parse(id));
    id.unwrap_or(UserId::new(0))
}

/// The form that changes somebody's role.
pub(super) fn edit(tx: &mut Tx<'_>, desk: &Desk, id: &str) -> Result<Option<Plan>, Error> {
    let found = known(tx, desk, id)?;
    Ok(found.map(|(name, access)| Plan {
        heading: format!("Change the role of {name}"),
        ids: vec![id.to_owned()],
        asks: roles(AdsRole::parse(&access.role), access.can_compose).into(),
        submit: "Save changes",
        action: desk.path(&format!("/people/{id}/edit")),
        ..plan(desk, |tx, desk, plan, sent| {
            give(tx, desk, named(plan), sent)
        })
    }))
}

/// The form that takes somebody's role away.
pub(super) fn remove(tx: &mut Tx<'_>, desk: &Desk, id: &str) -> Result<Option<Plan>, Error> {
    let found = known(tx, desk, id)?;
    Ok(found.map(|(name, _)| Plan {
        heading: format!("Remove {name} from the account?"),
        lead: "What they made stays. They do not find the account any more.".to_owned(),
        ids: vec![id.to_owned()],
        submit: "Remove",
        danger: true,
        action: desk.path(&format!("/people/{id}/remove")),
        done: "left",
        ..plan(desk, |tx, desk, plan, _| {
            rules::revoke_role(tx, &by(desk), &desk.account, named(plan))?;
            Ok(Value::Null)
        })
    }))
}
