//! Lists that are the same for everyone, from data that is built in or that an operator added.

use base::Error;
use serde_json::Value;
use store::records::OrderValue;

use crate::answer::Answer;
use crate::cursor;
use crate::declare::Reference;
use crate::desk::Desk;
use crate::engine::checked;
use crate::given::Given;
use crate::listing::{exclusive, place, walk};

/// A page of it, or all of it.
pub fn list(desk: &Desk<'_, '_>, of: &Reference, given: &Given) -> Result<Answer, Error> {
    checked(given)?;
    if given.flag("with_total_count") && given.has("cursor") {
        return Err(exclusive("cursor", "with_total_count"));
    }
    let fits = |row: &Value| {
        of.filters.iter().all(|(field, member)| {
            let asked = given.get(field.name.post);
            asked.is_none_or(|asked| row.get(*member) == Some(asked))
        })
    };
    let rows = (of.rows)().into_iter().filter(fits).collect();
    let (mut answer, total) = page(desk, given, rows, of.pages.map(|(usual, _)| usual))?;
    answer.data_type = of.data_type;
    if of.counts || given.flag("with_total_count") {
        answer = answer.total(total);
    }
    Ok(answer)
}

/// The page that was asked for of those rows whose names hold `q`, and how many these are. Without
/// a usual number on a page there is one page.
pub fn page(
    desk: &Desk<'_, '_>,
    given: &Given,
    rows: Vec<Value>,
    usual: Option<i64>,
) -> Result<(Answer, usize), Error> {
    let wanted = given.text("q").unwrap_or_default().to_lowercase();
    let mut rows = rows;
    rows.retain(|row| wanted.is_empty() || named(row).contains(&wanted));
    let total = rows.len();
    let mut next = None;
    if let Some(usual) = usual {
        let count = usize::try_from(given.int("count").unwrap_or(usual)).unwrap_or(1);
        let scope = walk(desk, &given.echo);
        let begin = match place(desk, &scope, given)? {
            Some((OrderValue::Number(begin), _)) => usize::try_from(begin).unwrap_or(total),
            _ => 0,
        };
        let end = begin.saturating_add(count);
        if end < total {
            let at = OrderValue::Number(i64::try_from(end).unwrap_or(i64::MAX));
            next = Some(cursor::seal(&desk.cursor_key, &scope, &(at, 0)));
        }
        rows = rows.into_iter().skip(begin).take(count).collect();
    }
    let mut answer = Answer::one(&Value::Array(rows)).last_page();
    answer.next_cursor = Some(next);
    Ok((answer, total))
}

fn named(row: &Value) -> String {
    let name = row.get("name").and_then(Value::as_str);
    name.unwrap_or_default().to_lowercase()
}
