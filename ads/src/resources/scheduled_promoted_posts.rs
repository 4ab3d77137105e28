//! Scheduled promoted posts: they become promoted posts once their scheduled post is published.

use ads_engine::{
    AccountContext, AdsRecord, FieldSpec, Kind, ListFilter, RecordChange, Resource, ResourceVerb, ValidationRule,
};
use base::refusal::AdsProblem;
use base::{Error, PostId, VocabularyWord};

use crate::resources::compositions;
use crate::resources::line_items::{LINE_ITEM, require_product_type};
use crate::resources::promoted_posts::promote_post;
use crate::resources::scheduled_posts::SCHEDULED_POST;

pub static SCHEDULED_PROMOTED_POST: Resource = Resource {
    name: "scheduled_promoted_post",
    id: VocabularyWord::new("scheduled_promoted_post_id", "scheduled_promoted_tweet_id"),
    path: "scheduled_promoted_<posts>",
    label: "scheduled promoted post",
    fields: &[
        FieldSpec::parent("line_item_id", &LINE_ITEM).required(),
        FieldSpec::new("scheduled_post_id", Kind::LONG)
            .label("Scheduled post")
            .legacy_name("scheduled_tweet_id")
            .required()
            .immutable(),
        FieldSpec::new("post_id", Kind::LONG).legacy_name("tweet_id").set_by_server(),
    ],
    filters: &[
        ListFilter::ids("line_item_ids", "line_item_id", &LINE_ITEM),
        ListFilter::ids("scheduled_promoted_post_ids", "id", &SCHEDULED_PROMOTED_POST)
            .legacy_name("scheduled_promoted_tweet_ids"),
    ],
    verbs: &[ResourceVerb::List, ResourceVerb::Get, ResourceVerb::Create, ResourceVerb::Delete],
    rules: &[
        ValidationRule::OnReference("line_item_id", validate_product_type),
        ValidationRule::InContext(validate_scheduled_post),
    ],
    find_duplicate: Some(find_duplicate),
    ..Resource::DEFAULT
};

const PRODUCTS: &[&str] = &["PROMOTED_POSTS", "PROMOTED_ACCOUNT"];

fn validate_product_type(_: &RecordChange, item: &AdsRecord) -> Result<(), AdsProblem> {
    require_product_type(item, PRODUCTS, "promoted posts")
}

/// The post must be unpublished and suit the line item.
fn validate_scheduled_post(ctx: &mut AccountContext<'_, '_>, change: &mut RecordChange) -> Result<(), Error> {
    let id = change.record.int("scheduled_post_id").unwrap_or(-1);
    let Some(post) = ctx.find_record(&SCHEDULED_POST, id)? else {
        if change.verb == ResourceVerb::Delete {
            return Ok(());
        }
        return Err(ctx.not_found_problem(&SCHEDULED_POST, id).into());
    };
    let open = post.text("scheduled_status") == "SCHEDULED";
    if change.verb == ResourceVerb::Delete {
        let now = ctx.now().ms();
        if open && post.int("scheduled_at").is_some_and(|at| at > now) {
            return Ok(());
        }
        let message = "The time of the scheduled post has come";
        return Err(AdsProblem::new("ACTION_NOT_ALLOWED", message).into());
    }
    let name = SCHEDULED_POST.id.name_in(ctx.caller.vocabulary);
    let wrong = |why: &str| {
        let message = format!("The scheduled post {id} {why}");
        AdsProblem::invalid_parameter(name, id, message).with_code("INVALID_TWEET")
    };
    if !open {
        return Err(wrong("is no longer scheduled").into());
    }
    let item = ctx.require_record(&LINE_ITEM, change.record.int("line_item_id").unwrap_or(-1))?;
    if !compositions::suits_line_item(ctx, &post, &item)? {
        return Err(wrong("does not suit the objective of the line item").into());
    }
    Ok(())
}

fn find_duplicate(ctx: &mut AccountContext<'_, '_>, record: &AdsRecord) -> Result<Option<AdsRecord>, Error> {
    let post = record.int("scheduled_post_id").unwrap_or(0);
    let all = ctx.list_records(&SCHEDULED_PROMOTED_POST, "scheduled_post_id", post)?;
    let same = |other: &AdsRecord| other.get("line_item_id") == record.get("line_item_id");
    Ok(all.into_iter().find(same))
}

/// Promotes a published post in the line items that wait for it. A line item that cannot take it does not
/// affect the others.
pub fn promote_published_post(ctx: &mut AccountContext<'_, '_>, scheduled: i64, post: PostId) -> Result<(), Error> {
    for mut waiting in ctx.list_visible_records(&SCHEDULED_PROMOTED_POST, "scheduled_post_id", scheduled)? {
        let item = waiting.int("line_item_id").unwrap_or(-1);
        let Some(item) = ctx.find_record(&LINE_ITEM, item)?.filter(|item| !item.deleted) else {
            continue;
        };
        let made = match promote_post(ctx, &item, post) {
            Ok(made) => made,
            Err(Error::Refused(_)) => continue,
            Err(failed) => return Err(failed),
        };
        waiting.set("post_id", made.int("post_id"));
        waiting.updated_at = ctx.now();
        ctx.save_record(&waiting)?;
    }
    Ok(())
}
