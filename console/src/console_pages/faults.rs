//! `GET /console/faults`.

use base::{Error, Refusal};
use emulator::faults::{
    EFFECTS, EffectDeclaration, FaultField, FaultRuleSummary, FaultScope, MATCH_FIELDS, effect_fields, rule_from_texts,
};
use pages::FormField;
use pages::console::{FaultEffectGroup, FaultEffectItem, FaultInput, FaultRuleItem, FaultsPage};
use portal::{BrowserVisit, PageExit, SubmittedForm, portal_page, redirect_to};
use serde_json::Value;
use web::HttpReply;
use web::endpoint::{BodySpec, Endpoint, MAX_SHORT_TEXT};
use web::request_context::RequestContext;
use web::text_members;

use crate::fault_rules::add_rules;

const PATH: &str = "/console/faults";

pub(super) static ENDPOINTS: &[Endpoint] = &[
    portal_page("consoleFaults", "GET", PATH, &show).summary("The rules for faults, and a form for another."),
    portal_page("consoleChangeFaults", "POST", PATH, &submit)
        .body(BodySpec::Form(text_members! { MAX_SHORT_TEXT;
            csrf do rule effect method route app user account stream webhook nth after every probability times until
            ms max_ms p99_ms status reset_seconds bytes chunk_bytes interval_ms seconds
        }))
        .summary("Adds a rule, or removes one or all."),
];

/// What a form was refused with.
#[derive(Default)]
struct RefusedForm {
    /// By name.
    texts: Vec<(&'static str, String)>,
    /// The field at fault, and why.
    problem: Option<(String, String)>,
}

async fn show(call: RequestContext) -> Result<HttpReply, PageExit> {
    let visit = BrowserVisit::from_call(&call).await?;
    let page = faults_page(&call, &visit, &RefusedForm::default())?;
    Ok(visit.render_page(&call, &page)?)
}

async fn submit(call: RequestContext) -> Result<HttpReply, PageExit> {
    let (visit, form) = BrowserVisit::accept_form(&call).await?;
    let rules = &call.emulator()?.faults;
    match form.text("do").as_str() {
        "clear" => {
            rules.clear();
        }
        "remove" => {
            rules.remove(&form.text("rule"));
        }
        _ => {
            if let Some(refused) = add_rule(&call, &form).await? {
                let page = faults_page(&call, &visit, &refused)?;
                return Ok(HttpReply { status: 400, ..visit.render_page(&call, &page)? });
            }
        }
    }
    Ok(redirect_to(PATH))
}

/// Returns the form if the rule was refused.
async fn add_rule(call: &RequestContext, form: &SubmittedForm<'_>) -> Result<Option<RefusedForm>, Error> {
    let fields = MATCH_FIELDS.iter().chain(effect_fields()).map(|field| field.name);
    let names = std::iter::once("effect").chain(fields);
    let texts: Vec<(&'static str, String)> =
        names.filter_map(|name| Some((name, form.optional_text(name)?.trim().to_owned()))).collect();
    let rule = rule_from_texts(texts.iter().map(|(name, text)| (*name, text.as_str())));
    let added = match rule {
        Ok(rule) => add_rules(call, &[rule]).await,
        Err(problem) => Err(Refusal::invalid_parameter(problem.path, problem.value, problem.message).into()),
    };
    match added {
        Ok(_) => Ok(None),
        Err(Error::Refused(Refusal::InvalidParameters(wrong))) => {
            let problem = wrong.into_iter().next();
            let problem = problem.map(|wrong| {
                let field = wrong.parameter.rsplit('.').next().unwrap_or_default().to_owned();
                (field, capitalize(&wrong.message))
            });
            Ok(Some(RefusedForm { texts, problem }))
        }
        Err(Error::Refused(Refusal::NamedReason { message, .. })) => {
            Ok(Some(RefusedForm { texts, problem: Some((String::new(), capitalize(&message))) }))
        }
        Err(error) => Err(error),
    }
}

fn capitalize(message: &str) -> String {
    let mut letters = message.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}

fn faults_page(call: &RequestContext, visit: &BrowserVisit, refused: &RefusedForm) -> Result<FaultsPage, Error> {
    let rules = call.emulator()?.faults.list(call.now());
    let inputs = |fields: Vec<&'static FaultField>| {
        let input = |field: &FaultField| FaultInput {
            name: field.name,
            help: field.summary.to_owned(),
            typed: refused.form_field(field.name),
        };
        fields.into_iter().map(input).collect::<Vec<_>>()
    };
    let (conditions, parameters) = (inputs(MATCH_FIELDS.iter().collect()), inputs(effect_fields()));
    let mut effect = refused.form_field("effect");
    // What no other field shows.
    if let Some((field, why)) = &refused.problem
        && !conditions.iter().chain(&parameters).any(|input| input.name == field)
    {
        effect.error = Some(why.clone());
    }
    Ok(FaultsPage {
        frame: visit.page_frame(call),
        rules: rules.iter().map(rule_item).collect(),
        groups: FaultScope::ALL.into_iter().map(effect_group).collect(),
        effect,
        conditions,
        parameters,
    })
}

impl RefusedForm {
    fn form_field(&self, name: &str) -> FormField {
        let text = self.texts.iter().find(|(known, _)| *known == name);
        let error = self.problem.as_ref().filter(|(field, _)| field == name);
        FormField {
            value: text.map(|(_, text)| text.clone()).unwrap_or_default(),
            error: error.map(|(_, why)| why.clone()),
        }
    }
}

fn rule_item(rule: &FaultRuleSummary) -> FaultRuleItem {
    let details = rule.match_fields.iter().chain(&rule.effect_fields).map(|(name, value)| match value {
        Value::String(text) => format!("{name}: {text}"),
        value => format!("{name}: {value}"),
    });
    FaultRuleItem {
        id: rule.id.clone(),
        effect: rule.effect.name,
        summary: rule.effect.summary,
        details: details.collect(),
        matched: rule.matched,
        applied: rule.applied,
        has_ended: rule.has_ended,
    }
}

fn effect_group(scope: FaultScope) -> FaultEffectGroup {
    let item = |effect: &'static EffectDeclaration| FaultEffectItem {
        name: effect.name,
        summary: effect.summary,
        parameters: effect.fields().map(|field| field.name).collect(),
    };
    let effects = EFFECTS.iter().filter(|effect| effect.scope == scope).map(item).collect();
    FaultEffectGroup { scope: scope.name(), effects }
}

#[cfg(test)]
mod tests {
    use emulator::faults::{MATCH_FIELDS, effect_fields};
    use web::endpoint::BodySpec;

    #[test]
    fn the_form_has_every_field_that_rules_have() {
        let BodySpec::Form(members) = super::ENDPOINTS[1].body else { panic!("no form") };
        for field in MATCH_FIELDS.iter().chain(effect_fields()) {
            assert!(members.iter().any(|member| member.name.post == field.name), "{}", field.name);
        }
    }
}
