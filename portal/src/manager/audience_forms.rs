//! Forms of audiences, their people and their sharing.

use ads::resources::audience_permissions::AUDIENCE_PERMISSION;
use ads::resources::custom_audiences::CUSTOM_AUDIENCE;
use ads_engine::{OperationOutput, RecordView};
use base::Error;
use base::refusal::AdsProblem;
use pages::manager::NavLink;
use serde_json::{Value, json};
use store::Tx;

use super::audience_members::{IDENTIFIER_KINDS, parse_submitted};
use super::audiences::PERMISSIONS_PATH;
use super::fields::declared_fields;
use super::forms::{FormDefinition, FormFieldSpec, FormRedirect, SubmittedFields};
use super::request::ManagerAccount;

pub(super) fn create_form(tx: &mut Tx<'_>, ctx: &ManagerAccount) -> Result<FormDefinition, Error> {
    Ok(FormDefinition {
        heading: "Create an audience".to_owned(),
        lead: "The audience starts empty. Add people on its page.".to_owned(),
        trail: ctx.trail(&[("Audiences", "/audiences")]),
        fields: declared_fields(tx, ctx, &CUSTOM_AUDIENCE, None, &["name", "description"])?,
        submit: "Create audience",
        redirect: FormRedirect::Created(ctx.page_path("/audiences")),
        ..FormDefinition::create(ctx, &CUSTOM_AUDIENCE, "/audiences", "new")
    })
}

fn audience_trail(ctx: &ManagerAccount, now: &RecordView) -> Vec<NavLink> {
    let here = ctx.page_path(&format!("/audiences/{}", now.id()));
    vec![NavLink::new("Audiences", ctx.page_path("/audiences")), NavLink::new(now.text("name"), here)]
}

pub(super) fn edit_form(tx: &mut Tx<'_>, ctx: &ManagerAccount, id: &str) -> Result<FormDefinition, Error> {
    let now = ctx.get(tx, &CUSTOM_AUDIENCE, id)?;
    let here = format!("/audiences/{id}");
    Ok(FormDefinition {
        heading: "Edit audience".to_owned(),
        trail: audience_trail(ctx, &now),
        fields: declared_fields(tx, ctx, &CUSTOM_AUDIENCE, Some(&now), &["name", "description"])?,
        ..FormDefinition::update(ctx, &CUSTOM_AUDIENCE, id, (&here, &here))
    })
}

/// A form whose operation belongs to an audience.
fn audience_form(
    tx: &mut Tx<'_>,
    ctx: &ManagerAccount,
    id: &str,
    (act, path): (&str, &str),
) -> Result<FormDefinition, Error> {
    let now = ctx.get(tx, &CUSTOM_AUDIENCE, id)?;
    let here = format!("/audiences/{id}");
    Ok(FormDefinition {
        trail: audience_trail(ctx, &now),
        path: path.to_owned(),
        ids: vec![id.to_owned()],
        action: ctx.page_path(&format!("{here}/{act}")),
        ..FormDefinition::new(ctx, &here)
    })
}

pub(super) fn audience_members_form(tx: &mut Tx<'_>, ctx: &ManagerAccount, id: &str) -> Result<FormDefinition, Error> {
    let now = ctx.get(tx, &CUSTOM_AUDIENCE, id)?;
    let here = format!("/audiences/{id}");
    Ok(FormDefinition {
        trail: audience_trail(ctx, &now),
        action: ctx.page_path(&format!("{here}/people")),
        ..members_form(ctx, &here, &IDENTIFIER_KINDS, ("custom_audiences/{}/users", id))
    })
}

/// Changes who is on a list; `path` is that of the operation.
pub(super) fn members_form(
    ctx: &ManagerAccount,
    back: &str,
    kinds: &[(&'static str, &'static str)],
    (path, id): (&str, &str),
) -> FormDefinition {
    let acts = [("Update", "Add people"), ("Delete", "Remove people")];
    FormDefinition {
        heading: "Add or remove people".to_owned(),
        lead: "Identifiers are hashed (SHA-256) on upload. The file is not stored, and nobody learns \
               who on the list has an account here."
            .to_owned(),
        path: path.to_owned(),
        ids: vec![id.to_owned()],
        fields: vec![
            FormFieldSpec::choice("operation_type", "Action", acts),
            FormFieldSpec::choice("identifier", "Identifier type", kinds.iter().copied()).help(
                "A file with a header row can have several columns: email, username, user_id, \
                 phone, device_id.",
            ),
            FormFieldSpec::file("list", "File", ".csv,.txt,text/csv,text/plain")
                .error_aliases(&["users"])
                .help("CSV, or one per line. At most 50,000 people and 5 MB."),
            FormFieldSpec::text_area("text", "Or paste a list").help("One per line."),
        ],
        submit: "Upload list",
        done_code: "listed",
        handler: Some(submit_members),
        ..FormDefinition::new(ctx, back)
    }
}

fn submit_members(
    tx: &mut Tx<'_>,
    ctx: &ManagerAccount,
    form: &FormDefinition,
    sent: &SubmittedFields,
) -> Result<OperationOutput, Error> {
    if !form.has_option("identifier", sent.text("identifier")) {
        return Err(AdsProblem::invalid_parameter("identifier", "", "Choose an identifier type").into());
    }
    let users = parse_submitted(sent)?;
    let act = if sent.text("operation_type") == "Delete" { "Delete" } else { "Update" };
    form.send_params(tx, ctx, json!([{ "operation_type": act, "params": { "users": users } }]))
}

pub(super) fn share_form(tx: &mut Tx<'_>, ctx: &ManagerAccount, id: &str) -> Result<FormDefinition, Error> {
    let levels = [("READ_ONLY", "Target it"), ("READ_WRITE", "Target it, and add or remove people")];
    let names = ["granted_account_id", "permission_level"];
    let form = FormDefinition {
        heading: "Share audience".to_owned(),
        lead: "The other account sees the audience’s name and size, but not who is in it.".to_owned(),
        fields: declared_fields(tx, ctx, &AUDIENCE_PERMISSION, None, &names)?,
        submit: "Share",
        done_code: "shared",
        ..audience_form(tx, ctx, id, ("share", PERMISSIONS_PATH))?
    };
    Ok(form.adjust_field("permission_level", |field| field.with_options(&levels)))
}

pub(super) fn revoke_form(ctx: &ManagerAccount, id: &str) -> FormDefinition {
    FormDefinition {
        method: "DELETE",
        path: format!("{PERMISSIONS_PATH}/{{}}"),
        ids: vec![id.to_owned()],
        submit: "",
        done_code: "revoked",
        handler: Some(|tx, ctx, form, sent| {
            let mut ids: Vec<&str> = form.ids.iter().map(String::as_str).collect();
            ids.push(sent.text("permission_id"));
            ctx.call(tx, (form.method, &form.path), &ids, Value::Null)
        }),
        ..FormDefinition::new(ctx, &format!("/audiences/{id}"))
    }
}
