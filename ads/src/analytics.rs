//! Figures of what is promoted (contract §4.15): at once, as a file made in the background, and who
//! was reached. All of them come from the ledger.

mod active;
mod ask;
pub mod jobs;
mod metrics;
mod reach;
mod series;

use base::Error;
use serde_json::{Value, json};

use crate::access::Who;
use crate::answer::Answer;
use crate::declare::{COUNT, CURSOR, Custom, Field, Gate, Often};
use crate::desk::Desk;
use crate::given::Given;
use crate::kind::Kind;
use crate::resources::campaigns::CAMPAIGN;
use crate::resources::funding_instruments::FUNDING_INSTRUMENT;
use crate::resources::line_items::LINE_ITEM;
pub use series::bucket_of;

use ask::{Ask, ENTITIES, GRANULARITIES, GROUPS, PLACEMENTS, SEGMENTS};

const ENTITY: Field = Field::new("entity", Kind::Word(ENTITIES)).required();
const IDS: Field = Field::new("entity_ids", Kind::Texts(20, 20)).required();
const START: Field = Field::text("start_time", 1, 40).required();
const END: Field = Field::text("end_time", 1, 40).required();
const GRANULARITY: Field = Field::one_of("granularity", GRANULARITIES).required();
const METRICS: Field = Field::new("metric_groups", Kind::SomeOf(GROUPS)).required();
const PLACEMENT: Field = Field::one_of("placement", PLACEMENTS).required();

const REACH: Gate = Gate::new("REACH_AND_FREQUENCY_ANALYTICS");

/// What can be asked.
pub static OPERATIONS: &[Custom] = &[
    Custom::get(
        "getAdsStats",
        "/stats/accounts/{account_id}",
        "Figures of up to 20 entities and 7 days.",
        stats,
    )
    .who(Who::StatsReader)
    .often(Often::Stats)
    .params(&[ENTITY, IDS, START, END, GRANULARITY, METRICS, PLACEMENT]),
    Custom::change(
        "POST",
        "createAdsStatsJob",
        "/stats/jobs/accounts/{account_id}",
        "Has figures of up to 90 days worked out, as a file.",
        jobs::create,
    )
    .who(Who::StatsReader)
    .often(Often::More)
    .params(&[
        ENTITY,
        IDS,
        START,
        END,
        GRANULARITY,
        METRICS,
        PLACEMENT,
        Field::one_of("segmentation_type", SEGMENTS),
        Field::text("country", 1, 64),
        Field::text("platform", 1, 64),
    ]),
    Custom::get(
        "getAdsStatsJobs",
        "/stats/jobs/accounts/{account_id}",
        "Such jobs, the latest first.",
        jobs::list,
    )
    .who(Who::StatsReader)
    .params(&[Field::new("job_ids", Kind::Longs(200)), COUNT, CURSOR]),
    Custom::change(
        "DELETE",
        "deleteAdsStatsJob",
        "/stats/jobs/accounts/{account_id}/{job_id}",
        "Calls a job off that is not done yet.",
        jobs::cancel,
    )
    .who(Who::StatsReader)
    .params(&[Field::new("job_id", Kind::Long).required()]),
    Custom::get(
        "getAdsActiveEntities",
        "/stats/accounts/{account_id}/active_entities",
        "Entities whose figures changed in some hours.",
        active::list,
    )
    .who(Who::CampaignReader)
    .often(Often::Stats)
    .params(&[
        ENTITY,
        START,
        END,
        Field::new("campaign_ids", Kind::Ids(&CAMPAIGN, 200)),
        Field::new(
            "funding_instrument_ids",
            Kind::Ids(&FUNDING_INSTRUMENT, 200),
        ),
        Field::new("line_item_ids", Kind::Ids(&LINE_ITEM, 200)),
    ]),
    Custom::get(
        "getAdsReachOfCampaigns",
        "/stats/accounts/{account_id}/reach/campaigns",
        "How many viewers campaigns reached, and how often.",
        reach::of_campaigns,
    )
    .gated(REACH)
    .who(Who::CampaignReader)
    .often(Often::Stats)
    .params(&[
        Field::new("campaign_ids", Kind::Ids(&CAMPAIGN, 20)).required(),
        START,
        END,
    ]),
    Custom::get(
        "getAdsReachOfFundingInstruments",
        "/stats/accounts/{account_id}/reach/funding_instruments",
        "How many viewers were reached by what an instrument paid for, and how often.",
        reach::of_instruments,
    )
    .gated(REACH)
    .who(Who::CampaignReader)
    .often(Often::Stats)
    .params(&[
        Field::new("funding_instrument_ids", Kind::Ids(&FUNDING_INSTRUMENT, 20)).required(),
        START,
        END,
    ]),
];

/// Days that are answered at once.
const AT_ONCE: i64 = 7;

fn stats(desk: &mut Desk<'_, '_>, given: &Given) -> Result<Answer, Error> {
    let ask = Ask::read(desk, given, AT_ONCE)?;
    let (length, data) = series::series(desk.tx, &ask)?;
    let mut answer = Answer::one(&data);
    answer.data_type = "stats";
    answer.members = vec![("time_series_length", length.into())];
    answer.echo = ask.echo();
    Ok(answer)
}

/// The figures that a job works out, at once: for a person who looks at those of one thing.
pub fn at_once(desk: &mut Desk<'_, '_>, given: &Given) -> Result<Value, Error> {
    let ask = Ask::long(desk, given)?;
    let (_, data) = series::series(desk.tx, &ask)?;
    Ok(data)
}

/// The whole answer that a job's file holds.
fn whole(ask: &Ask, length: usize, data: &Value) -> String {
    let mut params = ask.echo();
    params.insert("account_id".to_owned(), ask.account_written().into());
    json!({
        "data_type": "stats",
        "time_series_length": length,
        "data": data,
        "request": { "params": params },
    })
    .to_string()
}
