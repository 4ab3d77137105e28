//! `locum cost`: what the calls would have cost.

use clap::Args;
use http::Method;
use serde_json::Value;

use super::{call_control_api, text_of, write_query};
use instance::arguments::GlobalArgs;
use instance::command_error::CommandError;

#[derive(Args, Clone, Debug)]
pub(crate) struct CostArgs {
    /// Only the run with this label
    #[arg(long)]
    pub(crate) label: Option<String>,
    /// Start counting anew
    #[arg(long, conflicts_with = "label")]
    pub(crate) clear: bool,
}

pub(crate) fn run_cost_command(common: &GlobalArgs, args: &CostArgs) -> Result<(), CommandError> {
    let output = common.output_options();
    if args.clear {
        let cleared = call_control_api(common, Method::DELETE, "/costs", None)?;
        output.print_value(&cleared);
        return Ok(());
    }
    let query = write_query(&[("label", args.label.as_deref())]);
    let costs = call_control_api(common, Method::GET, &format!("/costs{query}"), None)?;
    if let Some(label) = args.label.as_deref().filter(|_| costs["runs"].as_array().is_none_or(Vec::is_empty)) {
        return Err(CommandError::Failed(format!(
            "--label {label}: no request had this label; `locum cost` lists runs"
        )));
    }
    output.print_value_or_text(&costs, || render_costs(&costs));
    Ok(())
}

fn render_costs(costs: &Value) -> String {
    let mut lines = Vec::new();
    for app in costs["apps"].as_array().into_iter().flatten() {
        let (name, day) = (text_of(&app["app"], "name"), text_of(app, "day"));
        lines.push(format!("{day} {name}: {} calls would have cost ${}", app["calls"], text_of(app, "total_usd")));
        lines.extend(price_lines(app));
    }
    for run in costs["runs"].as_array().into_iter().flatten() {
        let label = text_of(run, "label");
        lines.push(format!(
            "run {label}: {} calls; this run would have cost ${}",
            run["calls"],
            text_of(run, "total_usd")
        ));
        lines.extend(price_lines(run));
    }
    if lines.is_empty() {
        return "no calls yet".to_owned();
    }
    let list = &costs["price_list"];
    lines.push(format!("Prices of {} from {}.", text_of(list, "date"), text_of(list, "source")));
    lines.join("\n")
}

fn price_lines(account: &Value) -> Vec<String> {
    let lines = account["lines"].as_array().into_iter().flatten();
    let line = |line: &Value| {
        let (price, cost) = (line["price"].as_str().unwrap_or_default(), line["cost_usd"].as_str().unwrap_or_default());
        let repeated = line["repeated"].as_u64().filter(|count| *count > 0);
        let repeated = repeated.map_or_else(String::new, |count| format!(", {count} repeated on the same day free"));
        format!("  {price}: {} charged{repeated}, ${cost}", line["charged"])
    };
    lines.map(line).collect()
}

#[cfg(test)]
mod tests {
    use emulator::costs::PriceList;

    #[test]
    fn each_priced_operation_exists() {
        let endpoints = crate::operations::ENDPOINTS.iter().copied().flatten();
        let known: std::collections::HashSet<&str> = endpoints.map(|endpoint| endpoint.id).collect();
        for operation in PriceList::published().unwrap().operations() {
            assert!(known.contains(operation), "{operation}");
        }
    }
}
