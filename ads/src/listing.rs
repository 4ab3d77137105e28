//! Pages of a resource: filtered, ordered, continued.

use base::Error;
use base::refusal::AdsProblem;
use serde_json::{Map, Value};
use store::records::{
    self, OrderValue, RecordListing, RecordOrder, RecordOrderKey, RecordVisibility,
};

use crate::answer::Answer;
use crate::cursor::{self, Place};
use crate::declare::Resource;
use crate::desk::Desk;
use crate::engine::{checked, show_all};
use crate::given::Given;
use crate::kind::Kind;
use crate::record::Record;

const USUAL: [&str; 3] = ["created_at", "updated_at", "deleted"];

/// What a list is asked for.
struct Wanted {
    ids: Option<Vec<i64>>,
    numbers: Vec<(&'static str, Vec<i64>)>,
    words: Vec<(&'static str, Vec<String>)>,
    prefix: String,
    drafts: bool,
    deleted: bool,
    orders: Vec<RecordOrder>,
    after: Option<records::RecordCursor>,
    count: usize,
}

/// A page of a resource.
pub fn list(
    desk: &mut Desk<'_, '_>,
    of: &'static Resource,
    given: &Given,
) -> Result<Answer, Error> {
    checked(given)?;
    let totals = given.flag("with_total_count");
    if totals && given.has("cursor") {
        return Err(exclusive("cursor", "with_total_count"));
    }
    if let Some(looks) = of.looks {
        looks(desk, given)?;
    }
    let scope = walk(desk, &given.echo);
    let wanted = wanted(desk, of, given, &scope)?;
    let (rows, total) = match &wanted.ids {
        Some(ids) => of_ids(desk, of, &wanted, ids)?,
        None => of_account(desk, of, &wanted, totals)?,
    };
    let total = total.filter(|_| totals);
    page(desk, rows, &wanted, &scope, total)
}

/// How many records are looked at together where each must be looked at.
const CHUNK: usize = 500;

/// A page of those records that are kept: of kinds that no index finds by what is asked for.
pub fn kept(
    desk: &mut Desk<'_, '_>,
    of: &'static Resource,
    given: &Given,
    keeps: &dyn Fn(&Record) -> bool,
) -> Result<Answer, Error> {
    let mut given = given.clone();
    // Where names begin is for those who keep to find out.
    given.drop("q");
    let (records, next) = chosen(desk, of, &given, keeps)?;
    let mut answer = Answer::raw(show_all(desk, &records)?);
    answer.next_cursor = Some(next);
    Ok(answer)
}

/// The same records as they are, with the cursor of the next page.
pub fn chosen(
    desk: &mut Desk<'_, '_>,
    of: &'static Resource,
    given: &Given,
    keeps: &dyn Fn(&Record) -> bool,
) -> Result<(Vec<Record>, Option<String>), Error> {
    checked(given)?;
    let scope = walk(desk, &given.echo);
    let mut wanted = wanted(desk, of, given, &scope)?;
    let count = std::mem::replace(&mut wanted.count, CHUNK);
    let mut rows = Vec::new();
    loop {
        let (found, _) = of_account(desk, of, &wanted, false)?;
        let is_last = found.len() <= CHUNK;
        wanted.after = found.last().map(|(at, record)| (at.clone(), record.id));
        rows.extend(found.into_iter().filter(|(_, record)| keeps(record)));
        if is_last || rows.len() > count {
            break;
        }
    }
    Ok(first(desk, rows, count, &scope))
}

/// As many rows as a page holds, and where the next one begins.
fn first(
    desk: &Desk<'_, '_>,
    mut rows: Vec<(Vec<OrderValue>, Record)>,
    count: usize,
    scope: &str,
) -> (Vec<Record>, Option<String>) {
    let more = rows.len() > count;
    rows.truncate(count);
    let next = rows.last().filter(|_| more);
    let next = next.map(|(at, record)| cursor::seal_all(&desk.cursor_key, scope, at, record.id));
    (rows.into_iter().map(|(_, record)| record).collect(), next)
}

fn page(
    desk: &mut Desk<'_, '_>,
    rows: Vec<(Vec<OrderValue>, Record)>,
    wanted: &Wanted,
    scope: &str,
    total: Option<i64>,
) -> Result<Answer, Error> {
    let (records, next) = first(desk, rows, wanted.count, scope);
    let mut answer = Answer::raw(show_all(desk, &records)?);
    answer.next_cursor = Some(next);
    answer.total_count = total;
    Ok(answer)
}

/// Two parameters that exclude each other.
pub fn exclusive(one: &'static str, other: &str) -> Error {
    let message = format!("{one} and {other} cannot be used together");
    let problem = AdsProblem {
        location: base::refusal::ProblemLocation::Parameter(one.into()),
        ..AdsProblem::new("EXCLUSIVE_PARAMETERS", message)
    };
    problem.into()
}

/// What a cursor belongs to: the operation, and everything that was asked for but the page.
pub fn walk(desk: &Desk<'_, '_>, echo: &Map<String, Value>) -> String {
    let mut echo = echo.clone();
    for name in ["count", "cursor", "with_total_count"] {
        echo.remove(name);
    }
    format!("{} {}", desk.scope, Value::Object(echo))
}

/// The place that a cursor leads to.
pub fn place(desk: &Desk<'_, '_>, scope: &str, given: &Given) -> Result<Option<Place>, AdsProblem> {
    let Some(text) = given.text("cursor") else {
        return Ok(None);
    };
    let place = cursor::open(&desk.cursor_key, scope, text);
    place.map(Some).ok_or_else(|| foreign(text))
}

fn foreign(cursor: &str) -> AdsProblem {
    AdsProblem::invalid_parameter("cursor", cursor, "The cursor does not belong to this list")
}

fn wanted(
    desk: &Desk<'_, '_>,
    of: &'static Resource,
    given: &Given,
    scope: &str,
) -> Result<Wanted, Error> {
    let mut wanted = Wanted {
        ids: None,
        numbers: Vec::new(),
        words: Vec::new(),
        prefix: given.text("q").unwrap_or_default().to_lowercase(),
        drafts: given.flag("with_draft"),
        deleted: given.flag("with_deleted"),
        orders: orders(of, given)?,
        after: None,
        count: usize::try_from(given.int("count").unwrap_or(of.count.0)).unwrap_or(1),
    };
    if let Some(text) = given.text("cursor") {
        let place = cursor::open_all(&desk.cursor_key, scope, text);
        // What was asked for is part of what a cursor belongs to, the orders too.
        let place = place.filter(|(at, _)| at.len() == wanted.orders.len());
        wanted.after = Some(place.ok_or_else(|| foreign(text))?);
    }
    // A filter without a field is one that the resource looks at by itself.
    let filters = of.filters.iter().filter(|filter| !filter.field.is_empty());
    for filter in filters.filter(|filter| given.has(filter.name.post)) {
        let name = filter.name.post;
        match (filter.field, filter.kind) {
            ("id", _) => {
                let mut ids = given.ints(name);
                // Ids may be asked for in two ways.
                ids.retain(|id| wanted.ids.as_ref().is_none_or(|known| known.contains(id)));
                wanted.ids = Some(ids);
            }
            (field, Kind::SomeOf(_) | Kind::Texts(..)) => {
                wanted.words.push((field, given.texts(name)));
            }
            (field, kind) if kind.is_list() => wanted.numbers.push((field, given.ints(name))),
            (field, Kind::OneOf(_) | Kind::Text(..)) => {
                let word = given.text(name).unwrap_or_default();
                wanted.words.push((field, vec![word.to_owned()]));
            }
            (field, _) => wanted
                .numbers
                .push((field, given.int(name).into_iter().collect())),
        }
    }
    Ok(wanted)
}

/// `attribute-asc` or `attribute-desc`; where the first of several leaves records together, the
/// next decides.
fn orders(of: &'static Resource, given: &Given) -> Result<Vec<RecordOrder>, AdsProblem> {
    let asked = given.texts("sort_by");
    let mut orders: Vec<RecordOrder> = Vec::new();
    for text in &asked {
        let known = text.rsplit_once('-').and_then(|(name, way)| {
            let falling = match way {
                "asc" => false,
                "desc" => true,
                _ => return None,
            };
            Some(RecordOrder {
                key: by(of, name)?,
                descending: falling,
            })
        });
        let wrong = || {
            let message =
                format!("Expected an attribute and -asc or -desc, got \"{text}\" for sort_by");
            AdsProblem::invalid_parameter("sort_by", text, message)
        };
        let order = known.ok_or_else(wrong)?;
        // An attribute that is named again has nothing left to decide.
        if orders.iter().all(|known| known.key != order.key) {
            orders.push(order);
        }
    }
    if orders.is_empty() {
        orders.push(RecordOrder::NEWEST);
    }
    Ok(orders)
}

fn by(of: &'static Resource, name: &str) -> Option<RecordOrderKey> {
    match name {
        "created_at" => Some(RecordOrderKey::Created),
        "updated_at" => Some(RecordOrderKey::Updated),
        "deleted" => Some(RecordOrderKey::Deleted),
        "name" => of.field("name").map(|_| RecordOrderKey::Name),
        _ => {
            let known = of.sorts.iter().find(|known| **known == name);
            known.map(|name| RecordOrderKey::Field(name))
        }
    }
}

/// Names by which a resource's list may be ordered.
pub fn sorts(of: &Resource) -> Vec<&'static str> {
    let name = of.field("name").map(|_| "name");
    USUAL
        .into_iter()
        .chain(name)
        .chain(of.sorts.iter().copied())
        .collect()
}

type Found = (Vec<(Vec<OrderValue>, Record)>, Option<i64>);

fn of_account(
    desk: &mut Desk<'_, '_>,
    of: &'static Resource,
    wanted: &Wanted,
    totals: bool,
) -> Result<Found, Error> {
    let leads = of.is_listed_widely().then(|| of.filtered_numbers());
    let listing = RecordListing {
        kind: of.name,
        account: desk.account_id()?,
        number_filters: &wanted.numbers,
        text_filters: &wanted.words,
        name_prefix: &wanted.prefix,
        include_drafts: wanted.drafts,
        include_deleted: wanted.deleted,
        orders: &wanted.orders,
        after: wanted.after.clone(),
        limit: i64::try_from(wanted.count + 1).unwrap_or(i64::MAX),
        indexed_fields: leads.as_deref(),
    };
    let is_empty = |(_, values): &(&str, Vec<i64>)| values.is_empty();
    if wanted.numbers.iter().any(is_empty) || wanted.words.iter().any(|(_, words)| words.is_empty())
    {
        return Ok((Vec::new(), Some(0)));
    }
    let (rows, total) = records::page_with_total(desk.tx, &listing, totals)?;
    let rows = rows.into_iter();
    let rows: Result<Vec<_>, _> = rows
        .map(|(at, row)| Ok::<_, base::Fault>((at, Record::stored(of, &row)?)))
        .collect();
    Ok((rows?, total))
}

/// A page of records that are at hand: few enough to be looked at one by one.
pub fn of_records(
    desk: &mut Desk<'_, '_>,
    of: &'static Resource,
    given: &Given,
    records: Vec<Record>,
) -> Result<Answer, Error> {
    checked(given)?;
    let totals = given.flag("with_total_count");
    if totals && given.has("cursor") {
        return Err(exclusive("cursor", "with_total_count"));
    }
    let scope = walk(desk, &given.echo);
    let wanted = wanted(desk, of, given, &scope)?;
    let (rows, total) = cut(records, &wanted);
    page(desk, rows, &wanted, &scope, total.filter(|_| totals))
}

/// The records with some ids; at most 200, so the rest is done in hand.
fn of_ids(
    desk: &mut Desk<'_, '_>,
    of: &'static Resource,
    wanted: &Wanted,
    ids: &[i64],
) -> Result<Found, Error> {
    let account = desk.account_id()?;
    let mut records = Vec::new();
    for row in records::find_by_ids(desk.tx, of.name, ids)? {
        if row.account_id == account {
            records.push(Record::stored(of, &row)?);
        }
    }
    Ok(cut(records, wanted))
}

/// What of some records is wanted: one more than the page holds, and how many there are in all.
fn cut(records: Vec<Record>, wanted: &Wanted) -> Found {
    let rows = records.into_iter().filter_map(|record| {
        let name_key = record.name_key();
        let fits = matches(&record, &name_key, wanted);
        let orders = wanted.orders.iter();
        let place: Vec<OrderValue> = orders
            .map(|order| placed(&record, &name_key, order.key))
            .collect();
        fits.then_some((place, record))
    });
    let mut rows: Vec<(Vec<OrderValue>, Record)> = rows.collect();
    let total = i64::try_from(rows.len()).ok();
    let orders = &wanted.orders;
    rows.sort_by(|(one_at, one), (other_at, other)| {
        records::compare_cursors(orders, (one_at, one.id), (other_at, other.id))
    });
    if let Some((at, id)) = &wanted.after {
        rows.retain(|(here, record)| {
            records::compare_cursors(orders, (here, record.id), (at, *id)).is_gt()
        });
    }
    rows.truncate(wanted.count + 1);
    (rows, total)
}

fn matches(record: &Record, name_key: &[u8], wanted: &Wanted) -> bool {
    let level = match record.level {
        RecordVisibility::Listed => true,
        RecordVisibility::Draft => wanted.drafts,
        RecordVisibility::Hidden => wanted.deleted,
    };
    let number = |(field, values): &(&'static str, Vec<i64>)| {
        record
            .int(field)
            .is_some_and(|value| values.contains(&value))
    };
    let word = |(field, values): &(&'static str, Vec<String>)| {
        values.iter().any(|value| value == record.text(field))
    };
    level
        && name_key.starts_with(wanted.prefix.as_bytes())
        && wanted.numbers.iter().all(number)
        && wanted.words.iter().all(word)
}

fn placed(record: &Record, name_key: &[u8], by: RecordOrderKey) -> OrderValue {
    match by {
        RecordOrderKey::Created => OrderValue::Number(record.created_at.ms()),
        RecordOrderKey::Updated => OrderValue::Number(record.updated_at.ms()),
        RecordOrderKey::Deleted => OrderValue::Number(record.deleted.into()),
        RecordOrderKey::Name => OrderValue::Name(name_key.to_vec()),
        RecordOrderKey::Field(name) => OrderValue::Number(record.int(name).unwrap_or(-1)),
    }
}
