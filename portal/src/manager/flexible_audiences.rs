//! The form of a flexible audience: people in some audiences and not in others.

use ads_engine::OperationOutput;
use base::refusal::AdsProblem;
use base::{Error, Refusal};
use serde_json::{Value, json};
use store::Tx;

use super::choices;
use super::forms::{FormDefinition, FormFieldSpec, SubmittedFields};
use super::request::ManagerAccount;

const BATCH_PATH: &str = "/12/batch/accounts/{}/custom_audiences";
const INCLUDED: [&str; 4] = ["audience_1", "audience_2", "audience_3", "audience_4"];
const EXCLUDED: [&str; 2] = ["excluded_1", "excluded_2"];

pub(super) fn create_form(tx: &mut Tx<'_>, ctx: &ManagerAccount) -> Result<FormDefinition, Error> {
    let audiences = choices::audiences(tx, ctx)?;
    let audience = |name, label: &str| FormFieldSpec::choice(name, label, audiences.clone()).allow_none("None");
    let mut fields = vec![
        FormFieldSpec::text("name", "Name"),
        FormFieldSpec::choice(
            "boolean_operator",
            "People who are in",
            [("OR", "at least one of these audiences"), ("AND", "all of these audiences")],
        ),
    ];
    fields.extend(INCLUDED.iter().zip(1..).map(|(name, number)| audience(name, &format!("Audience {number}"))));
    fields.push(
        FormFieldSpec::choice(
            "lookback_window",
            "Who joined it",
            [
                ("", "At any time"),
                ("1", "In the last day"),
                ("7", "In the last 7 days"),
                ("14", "In the last 14 days"),
                ("30", "In the last 30 days"),
            ],
        )
        .help("When people were added to the audiences above, or did what put them there."),
    );
    fields.extend(EXCLUDED.iter().zip(1..).map(|(name, number)| audience(name, &format!("But not in {number}"))));
    Ok(FormDefinition {
        heading: "Combine audiences".to_owned(),
        lead: "The result follows its audiences. It can’t be changed later.".to_owned(),
        trail: ctx.trail(&[("Audiences", "/audiences")]),
        path: BATCH_PATH.to_owned(),
        fields,
        submit: "Create audience",
        action: ctx.page_path("/audiences/combine"),
        done_code: "created",
        handler: Some(create),
        ..FormDefinition::new(ctx, "/audiences")
    })
}

fn create(
    tx: &mut Tx<'_>,
    ctx: &ManagerAccount,
    form: &FormDefinition,
    sent: &SubmittedFields,
) -> Result<OperationOutput, Error> {
    let chosen = |names: &[&str]| -> Vec<String> {
        let ids = names.iter().map(|name| sent.text(name)).filter(|id| !id.is_empty());
        ids.map(str::to_owned).collect()
    };
    let included = chosen(&INCLUDED);
    let mut problems = Vec::new();
    if sent.text("name").is_empty() {
        problems.push(AdsProblem::missing_parameter("name"));
    }
    if included.is_empty() {
        problems.push(AdsProblem::missing_parameter(INCLUDED[0]));
    }
    if !problems.is_empty() {
        return Err(Refusal::from(problems).into());
    }
    let window = sent.text("lookback_window");
    let leaf = |id: &String| match window.parse::<i64>() {
        Ok(days) => json!({ "custom_audience_id": id, "lookback_window": days }),
        Err(_) => json!({ "custom_audience_id": id }),
    };
    let operator = if sent.text("boolean_operator") == "AND" { "AND" } else { "OR" };
    let members: Vec<Value> = included.iter().map(leaf).collect();
    let mut segments = vec![json!({ "boolean_operator": operator, "child_segments": members })];
    segments.extend(chosen(&EXCLUDED).iter().map(|id| json!({ "custom_audience_id": id, "negate": true })));
    let audience = json!({
        "name": sent.text("name"),
        "audience_type": "FLEXIBLE",
        "segments": { "boolean_operator": "AND", "child_segments": segments },
    });
    ctx.call(tx, ("POST", &form.path), &[], json!([{ "operation_type": "Create", "params": audience }]))
}
