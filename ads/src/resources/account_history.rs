//! What was changed on an account, by whom, and how.

use base::refusal::AdsProblem;
use base::{Error, Time, VocabularyWord};
use serde_json::{Value, json};
use store::ads::{self, AdsChangeQuery};
use store::records::OrderValue;

use crate::access::Who;
use crate::answer::Answer;
use crate::cursor;
use crate::declare::{COUNT, CURSOR, Custom, Field};
use crate::desk::Desk;
use crate::engine::checked;
use crate::given::Given;
use crate::kind::{Ids, Kind, instant};
use crate::listing::{place, walk};
use crate::resources::accounts;

const ENTITIES: &[VocabularyWord] = &[
    VocabularyWord::same_in_both("CAMPAIGN"),
    VocabularyWord::same_in_both("LINE_ITEM"),
    VocabularyWord::new("PROMOTED_POST", "PROMOTED_TWEET"),
    VocabularyWord::same_in_both("TARGETING_CRITERIA"),
    VocabularyWord::same_in_both("PROMOTED_ACCOUNT"),
];
const HOUR: i64 = 3_600_000;

/// The one operation.
pub static OPERATIONS: &[Custom] = &[Custom::get(
    "getAdsAccountHistory",
    "account_history",
    "Changes of an account's entities.",
    list,
)
.who(Who::CampaignReader)
.params(&[
    Field::new("entity_type", Kind::Word(ENTITIES)).required(),
    Field::text("entity_id", 1, 20).required(),
    Field::new("start_time", Kind::Time).required(),
    Field::new("end_time", Kind::Time).required(),
    Field::new("user_id", Kind::Long),
    COUNT,
    CURSOR,
])];

fn list(desk: &mut Desk<'_, '_>, given: &Given) -> Result<Answer, Error> {
    checked(given)?;
    accounts::allows(desk, "ACCOUNT_HISTORY")?;
    let (from, to) = hours(given)?;
    let entity = given.text("entity_type").unwrap_or_default();
    let of = Ids::Short.read("entity_id", given.text("entity_id").unwrap_or_default())?;
    let scope = walk(desk, &given.echo);
    let after = match place(desk, &scope, given)? {
        Some((OrderValue::Number(at), id)) => Some((at, id)),
        _ => None,
    };
    let count = given.int("count").unwrap_or(200);
    let mut wanted = AdsChangeQuery {
        account: desk.account_id()?,
        entity,
        entity_id: of,
        includes_children: false,
        from,
        to,
        after,
        limit: count + 1,
    };
    let mut rows = ads::list_changes(desk.tx, &wanted)?;
    if entity == "TARGETING_CRITERIA" {
        // Criteria are found by their line item as well; both are numbered from one.
        wanted.includes_children = true;
        rows.extend(ads::list_changes(desk.tx, &wanted)?);
        rows.sort_by_key(|row| std::cmp::Reverse((row.at, row.id)));
        rows.dedup_by_key(|row| row.id);
    }
    let user = given.int("user_id");
    let count = usize::try_from(count).unwrap_or(1);
    let more = rows.len() > count;
    rows.truncate(count);
    let next = rows.last().filter(|_| more);
    let next = next.map(|row| {
        cursor::seal(
            &desk.cursor_key,
            &scope,
            &(OrderValue::Number(row.at.ms()), row.id),
        )
    });
    rows.retain(|row| user.is_none_or(|user| row.user_id.get() == user));
    let speech = desk.caller.speech;
    let data: Vec<Value> = rows
        .iter()
        .map(|row| {
            let body: Value = serde_json::from_str(&row.body).unwrap_or_default();
            let kind = Kind::Word(ENTITIES);
            json!({
                "change_by": { "user_id": row.user_id.to_string(), "platform": row.platform },
                "change_time": instant(row.at),
                "change_type": row.action,
                "entity": kind.speak(&row.entity.as_str().into(), speech),
                "entity_id": Ids::Short.write(row.entity_id),
                "entity_data": body.get("entity_data"),
                "changes": body.get("changes"),
            })
        })
        .collect();
    let mut answer = Answer::one(&data.into());
    answer.next_cursor = Some(next);
    Ok(answer)
}

/// The span asked for: whole hours, and some of them.
fn hours(given: &Given) -> Result<(Time, Time), AdsProblem> {
    let (from, to) = (
        given.int("start_time").unwrap_or(0),
        given.int("end_time").unwrap_or(0),
    );
    let wrong = |message: &str| AdsProblem::new("INVALID_TIME_WINDOW", message);
    if from % HOUR != 0 || to % HOUR != 0 {
        return Err(wrong("The times must be whole hours"));
    }
    if to <= from {
        return Err(wrong("The end time must be after the start time"));
    }
    Ok((Time::from_ms(from), Time::from_ms(to)))
}
