use crate::samples::{HOSTILE, development_frame, signed_in_frame};
use pages::FormField;
use pages::console::{FaultEffectGroup, FaultEffectItem, FaultInput, FaultRuleItem, FaultsPage};

pub(crate) fn fault_states() -> Vec<(&'static str, FaultsPage)> {
    let rule = |id: &str, detail: &str, has_ended| FaultRuleItem {
        id: id.to_owned(),
        effect: "status",
        summary: "This status, in the error format of the endpoint; nothing is carried out",
        details: vec![detail.to_owned(), "status: 503".to_owned()],
        matched: 3,
        applied: 1,
        has_ended,
    };
    let filled = vec![rule("f1", "route: GET /2/users/me", false), rule("f2", "nth: 2", true)];
    let mut wrong = faults_page(vec![rule("f3", HOSTILE, false)]);
    wrong.effect = FormField::invalid("status", "The effect status needs status: a whole number from 400 to 599");
    wrong.conditions = vec![fault_input("route", FormField::invalid(HOSTILE, "A route is a path"))];
    vec![("empty", faults_page(Vec::new())), ("filled", faults_page(filled)), ("wrong", wrong)]
}

fn fault_input(name: &'static str, typed: FormField) -> FaultInput {
    FaultInput { name, help: "A path, with a method before it if wanted".to_owned(), typed }
}

fn faults_page(rules: Vec<FaultRuleItem>) -> FaultsPage {
    let effect = |name| FaultEffectItem { name, summary: "What it does", parameters: vec!["status"] };
    FaultsPage {
        frame: development_frame(signed_in_frame()),
        rules,
        groups: vec![
            FaultEffectGroup { scope: "requests", effects: vec![effect("delay"), effect("status")] },
            FaultEffectGroup { scope: "streams", effects: vec![effect("drop-events")] },
        ],
        effect: FormField::new("delay"),
        conditions: vec![fault_input("route", FormField::default())],
        parameters: vec![fault_input("ms", FormField::default())],
    }
}
