//! Reference lists: built-in data, or data added by an operator, shared by all accounts.

use base::Error;
use serde_json::Value;
use store::records::OrderValue;

use crate::account_context::AccountContext;
use crate::cursor;
use crate::declaration::ReferenceList;
use crate::engine::ensure_valid_params;
use crate::listing::{cursor_scope, exclusive_params, parse_cursor};
use crate::output::OperationOutput;
use crate::parsed_params::ParsedParams;

pub fn list(
    ctx: &AccountContext<'_, '_>,
    list: &ReferenceList,
    params: &ParsedParams,
) -> Result<OperationOutput, Error> {
    ensure_valid_params(params)?;
    if params.flag("with_total_count") && params.has("cursor") {
        return Err(exclusive_params("cursor", "with_total_count"));
    }
    let fits = |row: &Value| {
        list.filters.iter().all(|(field, member)| {
            let value = params.get(field.name.post);
            value.is_none_or(|value| row.get(*member) == Some(value))
        })
    };
    let rows = (list.rows)().into_iter().filter(fits).collect();
    let (mut output, total) = search_page(ctx, params, rows, list.page_size.map(|(usual, _)| usual))?;
    output.data_type = list.data_type;
    if list.always_counts || params.flag("with_total_count") {
        output = output.with_total_count(total);
    }
    Ok(output)
}

/// A page of the rows whose names contain `q`, and the count of them. Without a default page size everything
/// is one page.
pub fn search_page(
    ctx: &AccountContext<'_, '_>,
    params: &ParsedParams,
    rows: Vec<Value>,
    default_size: Option<i64>,
) -> Result<(OperationOutput, usize), Error> {
    let term = params.text("q").unwrap_or_default().to_lowercase();
    let mut rows = rows;
    rows.retain(|row| term.is_empty() || lowercase_name(row).contains(&term));
    let total = rows.len();
    let mut next = None;
    if let Some(default_size) = default_size {
        let count = usize::try_from(params.int("count").unwrap_or(default_size)).unwrap_or(1);
        let scope = cursor_scope(ctx, &params.echo);
        let begin = match parse_cursor(ctx, &scope, params)? {
            Some((OrderValue::Number(begin), _)) => usize::try_from(begin).unwrap_or(total),
            _ => 0,
        };
        let end = begin.saturating_add(count);
        if end < total {
            let at = OrderValue::Number(i64::try_from(end).unwrap_or(i64::MAX));
            next = Some(cursor::encode(&ctx.cursor_key, &scope, &(at, 0))?);
        }
        rows = rows.into_iter().skip(begin).take(count).collect();
    }
    let mut output = OperationOutput::from_value(Value::Array(rows)).as_last_page();
    output.next_cursor = Some(next);
    Ok((output, total))
}

fn lowercase_name(row: &Value) -> String {
    let name = row.get("name").and_then(Value::as_str);
    name.unwrap_or_default().to_lowercase()
}
