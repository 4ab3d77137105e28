//! Scheduled promoted posts: they become promoted posts when their scheduled post is published.

use base::refusal::AdsProblem;
use base::{Error, PostId, VocabularyWord};

use crate::change::Change;
use crate::declare::{Field, Filter, Resource, Rule, Verb};
use crate::desk::Desk;
use crate::kind::Kind;
use crate::record::Record;
use crate::resources::compositions;
use crate::resources::line_items::{self, LINE_ITEM, sells};
use crate::resources::promoted_posts::promote_one;
use crate::resources::scheduled_posts::SCHEDULED_POST;

/// A scheduled post that a line item will show.
pub static SCHEDULED_PROMOTED_POST: Resource = Resource {
    name: "scheduled_promoted_post",
    id: VocabularyWord::new("scheduled_promoted_post_id", "scheduled_promoted_tweet_id"),
    path: "scheduled_promoted_<posts>",
    about: "scheduled promoted post",
    fields: &[
        Field::parent("line_item_id", &LINE_ITEM).required(),
        Field::new("scheduled_post_id", Kind::Long)
            .older("scheduled_tweet_id")
            .required()
            .fixed(),
        Field::new("post_id", Kind::Long).older("tweet_id").kept(),
    ],
    filters: &[
        Filter::ids("line_item_ids", "line_item_id", &LINE_ITEM),
        Filter::ids(
            "scheduled_promoted_post_ids",
            "id",
            &SCHEDULED_PROMOTED_POST,
        )
        .older("scheduled_promoted_tweet_ids"),
    ],
    verbs: &[Verb::List, Verb::Get, Verb::Create, Verb::Delete],
    rules: &[
        Rule::Beside("line_item_id", shows_posts),
        Rule::Within(waits),
    ],
    twin: Some(twin),
    ..Resource::DEFAULT
};

const PRODUCTS: &[&str] = &["PROMOTED_POSTS", "PROMOTED_ACCOUNT"];

fn shows_posts(_: &Change, item: &Record) -> Result<(), AdsProblem> {
    sells(item, PRODUCTS, "promoted posts")
}

/// Whether the post is still to come, and suits the line item.
fn waits(desk: &mut Desk<'_, '_>, change: &mut Change) -> Result<(), Error> {
    let id = change.record.int("scheduled_post_id").unwrap_or(-1);
    let Some(post) = desk.find(&SCHEDULED_POST, id)? else {
        if change.verb == Verb::Delete {
            return Ok(());
        }
        return Err(desk.not_found(&SCHEDULED_POST, id).into());
    };
    let open = post.text("scheduled_status") == "SCHEDULED";
    if change.verb == Verb::Delete {
        let now = desk.now().ms();
        if open && post.int("scheduled_at").is_some_and(|at| at > now) {
            return Ok(());
        }
        let message = "The time of the scheduled post has come";
        return Err(AdsProblem::new("ACTION_NOT_ALLOWED", message).into());
    }
    let name = SCHEDULED_POST.id.name_in(desk.caller.speech);
    let wrong = |why: &str| {
        let message = format!("The scheduled post {id} {why}");
        AdsProblem::invalid_parameter(name, id, message).with_code("INVALID_TWEET")
    };
    if !open {
        return Err(wrong("is not scheduled any longer").into());
    }
    let item = desk.need(&LINE_ITEM, change.record.int("line_item_id").unwrap_or(-1))?;
    if !compositions::suits(&post, &item) {
        return Err(wrong("does not suit the objective of the line item").into());
    }
    Ok(())
}

fn twin(desk: &mut Desk<'_, '_>, record: &Record) -> Result<Option<Record>, Error> {
    let post = record.int("scheduled_post_id").unwrap_or(0);
    let all = desk.with(&SCHEDULED_PROMOTED_POST, "scheduled_post_id", post)?;
    let same = |other: &Record| other.get("line_item_id") == record.get("line_item_id");
    Ok(all.into_iter().find(same))
}

/// Promotes a post that was just published in the line items that wait for it. One that cannot
/// take it any longer does not keep the others from it.
pub fn published(desk: &mut Desk<'_, '_>, scheduled: i64, post: PostId) -> Result<(), Error> {
    for mut waiting in desk.shown(&SCHEDULED_PROMOTED_POST, "scheduled_post_id", scheduled)? {
        let item = waiting.int("line_item_id").unwrap_or(-1);
        let Some(item) = desk.find(&LINE_ITEM, item)?.filter(|item| !item.deleted) else {
            continue;
        };
        let made = match promote_one(desk, &item, post) {
            Ok(made) => made,
            Err(Error::Refused(_)) => continue,
            Err(failed) => return Err(failed),
        };
        if item.text("product_type") == "PROMOTED_ACCOUNT" {
            line_items::add_placement(desk, &item, "TWITTER_TIMELINE")?;
        }
        waiting.set("post_id", made.int("post_id"));
        waiting.updated_at = desk.now();
        desk.keep(&waiting)?;
    }
    Ok(())
}
