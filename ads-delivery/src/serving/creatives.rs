//! Chooses the creative of a line item.

use ads::resources::account_media::ACCOUNT_MEDIA;
use ads::resources::media_creatives::MEDIA_CREATIVE;
use ads::resources::preroll_call_to_actions::PREROLL_CALL_TO_ACTION;
use ads::resources::promoted_accounts::PROMOTED_ACCOUNT;
use ads::resources::promoted_posts::{self, PROMOTED_POST};
use ads::resources::tracking_tags::TRACKING_TAG;
use ads_engine::{AccountContext, AdsRecord};
use base::{Error, UserId};
use serde_json::{Map, Value, json};
use store::ledger::AdEntity;

use crate::conversations::media_paths;
use crate::eligibility::may_see_post;

#[derive(Clone, Debug)]
pub(crate) struct AdCreative {
    pub(crate) kind: AdEntity,
    pub(crate) id: i64,
    /// The id of the promoted post or user; 0 if there is none.
    pub(crate) subject: i64,
    pub(crate) content: Map<String, Value>,
}

/// Chooses a creative that the viewer may see and that is not used yet; `turn` rotates among several.
pub(super) fn choose_creative(
    ctx: &mut AccountContext<'_, '_>,
    item: &AdsRecord,
    viewer: Option<UserId>,
    (turn, taken): (usize, &[(AdEntity, i64)]),
) -> Result<Option<AdCreative>, Error> {
    let mut all = list_creatives(ctx, item)?;
    if !all.is_empty() {
        let first = turn % all.len();
        all.rotate_left(first);
    }
    for (kind, record) in all {
        let Some(mut creative) = creative_from_record(ctx, item, (kind, &record), viewer)? else {
            continue;
        };
        let key = (kind, creative.subject);
        if creative.subject != 0 && taken.contains(&key) {
            continue;
        }
        add_tracking_tags(ctx, item, &mut creative)?;
        return Ok(Some(creative));
    }
    Ok(None)
}

/// The accepted creatives of a line item.
pub(crate) fn list_creatives(
    ctx: &mut AccountContext<'_, '_>,
    item: &AdsRecord,
) -> Result<Vec<(AdEntity, AdsRecord)>, Error> {
    let mut all = Vec::new();
    for (kind, of) in [
        (AdEntity::PromotedPost, &PROMOTED_POST),
        (AdEntity::PromotedAccount, &PROMOTED_ACCOUNT),
        (AdEntity::MediaCreative, &MEDIA_CREATIVE),
    ] {
        let records = ctx.list_visible_records(of, "line_item_id", item.id)?;
        let accepted = records.into_iter().filter(|record| record.text("approval_status") == "ACCEPTED");
        all.extend(accepted.map(|record| (kind, record)));
    }
    Ok(all)
}

/// `None` if the viewer may not see it.
pub(crate) fn creative_from_record(
    ctx: &mut AccountContext<'_, '_>,
    item: &AdsRecord,
    (kind, record): (AdEntity, &AdsRecord),
    viewer: Option<UserId>,
) -> Result<Option<AdCreative>, Error> {
    let number = |name: &str| record.int(name).unwrap_or(0);
    let mut shown = Map::new();
    let (subject, name) = match kind {
        AdEntity::PromotedPost => {
            // A repost shows the original, which engagement belongs to.
            let Some(post) = promoted_posts::find_visible_post(ctx.tx, number("post_id"))? else {
                return Ok(None);
            };
            if !may_see_post(ctx, viewer, &post)? {
                return Ok(None);
            }
            // Its card may have been deleted since it was promoted.
            if !post.card_uri.is_empty() && !promoted_posts::suits_line_item(ctx.tx, &post, item)? {
                return Ok(None);
            }
            let id = post.id.get();
            shown.insert("post_id".to_owned(), id.to_string().into());
            (id, "promoted_post_id")
        }
        AdEntity::PromotedAccount => {
            let id = number("user_id");
            let user = store::users::find_by_id(ctx.tx, UserId::new(id))?;
            let open = user.is_some_and(|user| user.is_public());
            let known = match viewer {
                Some(viewer) => store::follows::exists(ctx.tx, viewer, UserId::new(id))?,
                None => false,
            };
            if !open || known {
                return Ok(None);
            }
            shown.insert("user_id".to_owned(), id.to_string().into());
            (id, "promoted_account_id")
        }
        _ => {
            let media = ctx.find_record(&ACCOUNT_MEDIA, number("account_media_id"))?;
            let Some(media) = media.filter(|media| !media.deleted) else {
                return Ok(None);
            };
            // Images have an address of their own.
            let mut address = media.text("media_url").to_owned();
            let video = media.text("video_id");
            if !video.is_empty() {
                let Some(path) = media_paths(ctx.tx, video)?.video else {
                    return Ok(None);
                };
                shown.insert("media_key".to_owned(), video.into());
                address = path;
            }
            shown.insert("account_media_id".to_owned(), media.formatted_id().into());
            shown.insert("creative_type".to_owned(), record.text("creative_type").into());
            shown.insert("media_url".to_owned(), address.into());
            shown.insert("landing_url".to_owned(), record.text("landing_url").into());
            (0, "media_creative_id")
        }
    };
    shown.insert(name.to_owned(), record.formatted_id().into());
    Ok(Some(AdCreative { kind, id: record.id, subject, content: shown }))
}

/// Adds tracking tags for the client to call, and calls to action. The server itself calls nobody.
fn add_tracking_tags(
    ctx: &mut AccountContext<'_, '_>,
    item: &AdsRecord,
    creative: &mut AdCreative,
) -> Result<(), Error> {
    let tags = ctx.list_visible_records(&TRACKING_TAG, "line_item_id", item.id)?;
    let tags: Vec<Value> = tags
        .iter()
        .map(|tag| {
            json!({
                "tracking_tag_type": tag.text("tracking_tag_type"),
                "tracking_tag_url": tag.text("tracking_tag_url"),
            })
        })
        .collect();
    creative.content.insert("tracking_tags".to_owned(), tags.into());
    if creative.kind == AdEntity::MediaCreative {
        let calls = ctx.list_visible_records(&PREROLL_CALL_TO_ACTION, "line_item_id", item.id)?;
        if let Some(call) = calls.first() {
            let call_to_action = json!({
                "call_to_action": call.text("call_to_action"),
                "call_to_action_url": call.text("call_to_action_url"),
            });
            creative.content.insert("preroll_call_to_action".to_owned(), call_to_action);
        }
    }
    Ok(())
}
