//! What the calls would cost.

use base::Error;
use base::clock::wall_time;
use emulator::costs::{CostAccount, CostSummary, PriceList, dollars};
use serde_json::{Value, json};
use web::HttpReply;
use web::endpoint::{Endpoint, Kind, Parameter};
use web::request_context::RequestContext;

use super::control_operation;

const LABEL: &[Parameter] = &[Parameter::query("label", Kind::text(1, 64), "Only the run with this label.")];

pub(super) static ENDPOINTS: &[Endpoint] = &[
    control_operation("showCosts", "GET", "/control/v1/costs", &show)
        .params(&[LABEL])
        .summary("What the calls would have cost by the public price list, per app and day and per run."),
    control_operation("clearCosts", "DELETE", "/control/v1/costs", &clear).summary("Starts counting anew."),
];

async fn show(call: RequestContext) -> Result<HttpReply, Error> {
    let meter = &call.emulator()?.costs;
    let label = call.query_text("label");
    let summaries = meter.summaries();
    let (mut apps, mut runs) = (Vec::new(), Vec::new());
    for summary in &summaries {
        match &summary.account {
            CostAccount::AppDay { app, day } if label.is_none() => apps.push(with_lines(
                json!({"app": {"id": app.to_string(), "name": summary.app_name}, "day": day.to_date_string()}),
                summary,
            )),
            CostAccount::Run { label: run } if label.is_none_or(|label| label == run) => {
                runs.push(with_lines(json!({ "label": run }), summary));
            }
            CostAccount::AppDay { .. } | CostAccount::Run { .. } => {}
        }
    }
    let prices = PriceList::published().map(|list| json!({"source": list.source, "date": list.date}));
    let today = dollars(meter.today_micros(wall_time()));
    let data = json!({"today_usd": today, "apps": apps, "runs": runs, "price_list": prices});
    Ok(HttpReply::json(200, &json!({ "data": data })))
}

fn with_lines(mut account: Value, summary: &CostSummary) -> Value {
    let lines = summary.lines.iter().map(|(name, line)| {
        json!({"price": name, "charged": line.charged, "repeated": line.repeated, "cost_usd": dollars(line.micros)})
    });
    if let Some(members) = account.as_object_mut() {
        members.insert("total_usd".to_owned(), dollars(summary.total_micros).into());
        members.insert("calls".to_owned(), summary.calls.into());
        members.insert("lines".to_owned(), lines.collect());
    }
    account
}

async fn clear(call: RequestContext) -> Result<HttpReply, Error> {
    call.emulator()?.costs.clear();
    Ok(HttpReply::json(200, &json!({"data": {"today_usd": "0.00"}})))
}
