//! Roles on an account, which administrators assign, change and remove.

use ads::account_roles as rules;
use ads_engine::{AdsRole, OperationOutput, RequiredRole};
use base::refusal::AdsProblem;
use base::{Error, UserId};
use network::audit::AuditActor;
use pages::manager::{ActionButton, DataTable, NavLink, PageBlock, TableCell, TableRow};
use store::Tx;

use super::forms::{FormDefinition, FormFieldSpec, FormHandler, SubmittedFields};
use super::labels::role_label;
use super::request::ManagerAccount;
use super::tables::text_column;

/// Everyone with a role on the account; people who do not administer it see only themselves.
pub(super) fn users_block(tx: &mut Tx<'_>, ctx: &ManagerAccount) -> Result<PageBlock, Error> {
    let mut rows = Vec::new();
    let rules = RequiredRole::Admin.allows_role(ctx.role);
    let all = store::ads::list_access_by_account(tx, ctx.record.id)?;
    let users = store::users::find_by_ids(tx, &all.iter().map(|access| access.user_id).collect::<Vec<_>>())?;
    for access in all {
        let own = access.user_id == ctx.request.user;
        let Some(known) = AdsRole::parse(&access.role).filter(|_| own || rules) else {
            continue;
        };
        let user = users.iter().find(|user| user.id == access.user_id);
        let name = user.map_or_else(|| access.user_id.to_string(), |user| user.username.clone());
        let posts = access.can_compose && known.may_compose_posts();
        let act = |text, act: &str| ActionButton {
            text,
            path: ctx.page_path(&format!("/people/{}/{act}", access.user_id)),
            ..ActionButton::default()
        };
        rows.push(TableRow {
            cells: vec![
                TableCell::from_text(format!("@{name}")).with_subtext(if own { "You" } else { "" }),
                TableCell::from_text(role_label(known)),
                TableCell::from_text(if posts { "Yes" } else { "No" }),
            ],
            name,
            action_buttons: if rules { vec![act("Change", "edit"), act("Remove", "remove")] } else { Vec::new() },
            ..TableRow::default()
        });
    }
    let add = NavLink::new("Add person", ctx.page_path("/people/new"));
    Ok(PageBlock::Table(DataTable {
        title: "People".to_owned(),
        lead: if rules {
            "Administrators assign and remove roles. Every change is recorded in the audit log.".to_owned()
        } else {
            "An administrator of the account assigns and removes roles.".to_owned()
        },
        actions: Some(add).filter(|_| rules).into_iter().collect(),
        columns: ["Person", "Role", "Can post"].map(text_column).into(),
        rows,
        ..DataTable::default()
    }))
}

fn role_form(ctx: &ManagerAccount, work: FormHandler) -> FormDefinition {
    FormDefinition {
        trail: ctx.trail(&[("Account", "/account")]),
        required_access: Some(RequiredRole::Admin),
        handler: Some(work),
        ..FormDefinition::new(ctx, "/account")
    }
}

fn role_fields(now: Option<AdsRole>, composes: bool) -> [FormFieldSpec; 2] {
    let all = AdsRole::ALL.map(|one| (one.name(), role_label(one)));
    let all = FormFieldSpec::choice("role", "Role", all).help(
        "Administrators have full access. Ad managers manage campaigns and audiences, creative \
         managers manage creatives. Analysts have read-only access.",
    );
    let writes = [("false", "No"), ("true", "Yes")];
    let writes = FormFieldSpec::choice("composes", "Can post on behalf of the account", writes);
    let role = now.unwrap_or(AdsRole::CampaignAnalyst);
    [all.initial_value(role.name()), writes.initial_value(composes.to_string())]
}

pub(super) fn add_form(ctx: &ManagerAccount) -> FormDefinition {
    let [role, writes] = role_fields(None, false);
    FormDefinition {
        heading: "Add person".to_owned(),
        lead: "The account appears in their Ads Manager immediately.".to_owned(),
        fields: vec![
            FormFieldSpec::text("username", "Username").help("The person must have an account on this server."),
            role,
            writes,
        ],
        submit: "Add person",
        action: ctx.page_path("/people/new"),
        done_code: "joined",
        ..role_form(ctx, |tx, ctx, _, sent| {
            let name = sent.text("username");
            let name = name.strip_prefix('@').unwrap_or(name);
            if name.is_empty() {
                return Err(AdsProblem::missing_parameter("username").into());
            }
            let user = store::users::find_by_username(tx, name)?;
            let user = user.filter(|user| user.state == store::users::UserState::Active);
            let Some(user) = user else {
                let message = "No user has this username";
                return Err(AdsProblem::invalid_parameter("username", name, message).into());
            };
            if store::ads::find_access(tx, user.id, ctx.record.id)?.is_some() {
                let message = "This person already has a role on the account";
                return Err(AdsProblem::invalid_parameter("username", name, message).into());
            }
            grant_role(tx, ctx, user.id, sent)
        })
    }
}

fn audit_actor(ctx: &ManagerAccount) -> AuditActor {
    AuditActor::user(ctx.request.user, &ctx.request.client_address)
}

fn grant_role(
    tx: &mut Tx<'_>,
    ctx: &ManagerAccount,
    user: UserId,
    sent: &SubmittedFields,
) -> Result<OperationOutput, Error> {
    let role = sent.text("role");
    let Some(role) = AdsRole::parse(role) else {
        return Err(AdsProblem::invalid_parameter("role", role, "Choose a role").into());
    };
    let composes = sent.text("composes") == "true";
    rules::grant_role(tx, &audit_actor(ctx), &ctx.record, user, (role, composes))?;
    Ok(OperationOutput::default())
}

fn find_user(
    tx: &mut Tx<'_>,
    ctx: &ManagerAccount,
    id: &str,
) -> Result<Option<(String, store::ads::AdsAccountAccess)>, Error> {
    let Some(id) = UserId::parse(id).filter(|_| RequiredRole::Admin.allows_role(ctx.role)) else {
        return Ok(None);
    };
    let Some(access) = store::ads::find_access(tx, id, ctx.record.id)? else {
        return Ok(None);
    };
    let user = store::users::find_by_id(tx, id)?;
    let name = user.map_or_else(|| id.to_string(), |user| format!("@{}", user.username));
    Ok(Some((name, access)))
}

fn form_user_id(plan: &FormDefinition) -> UserId {
    let id = plan.ids.first().and_then(|id| UserId::parse(id));
    id.unwrap_or(UserId::new(0))
}

pub(super) fn edit_form(tx: &mut Tx<'_>, ctx: &ManagerAccount, id: &str) -> Result<Option<FormDefinition>, Error> {
    let found = find_user(tx, ctx, id)?;
    Ok(found.map(|(name, access)| FormDefinition {
        heading: format!("Change the role of {name}"),
        ids: vec![id.to_owned()],
        fields: role_fields(AdsRole::parse(&access.role), access.can_compose).into(),
        submit: "Save changes",
        action: ctx.page_path(&format!("/people/{id}/edit")),
        ..role_form(ctx, |tx, ctx, plan, sent| grant_role(tx, ctx, form_user_id(plan), sent))
    }))
}

pub(super) fn remove_form(tx: &mut Tx<'_>, ctx: &ManagerAccount, id: &str) -> Result<Option<FormDefinition>, Error> {
    let found = find_user(tx, ctx, id)?;
    Ok(found.map(|(name, _)| FormDefinition {
        heading: format!("Remove {name} from the account?"),
        lead: "What they created stays. They lose access to the account.".to_owned(),
        ids: vec![id.to_owned()],
        submit: "Remove",
        is_dangerous: true,
        action: ctx.page_path(&format!("/people/{id}/remove")),
        done_code: "left",
        ..role_form(ctx, |tx, ctx, plan, _| {
            rules::revoke_role(tx, &audit_actor(ctx), &ctx.record, form_user_id(plan))?;
            Ok(OperationOutput::default())
        })
    }))
}
