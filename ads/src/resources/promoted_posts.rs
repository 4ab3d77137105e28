//! Promoted posts: posts that a line item shows.

use ads_engine::engine::{create, ensure_valid_params};
use ads_engine::{
    AccountContext, AdsRateClass, AdsRecord, CONSOLE_APP_ID, CustomOperation, FieldSpec, Kind, ListFilter,
    OperationOutput, ParsedParams, RequiredRole, Resource, ResourceVerb,
};
use base::refusal::AdsProblem;
use base::{Error, Fault, PostId, Vocabulary, VocabularyWord};
use serde_json::Value;
use store::Tx;
use store::posts::{self, Post, PostState};

use crate::resources::accounts::APPROVAL_STATUS;
use crate::resources::line_items::{
    CREATIVE_STATUS, LINE_ITEM, add_timeline_placement, find_same_creative, recount_creatives, require_product_type,
};
use crate::resources::promotable_users;
use crate::resources::{account_posts, all_cards, compositions};

pub static PROMOTED_POST: Resource = Resource {
    name: "promoted_post",
    id: VocabularyWord::new("promoted_post_id", "promoted_tweet_id"),
    path: "promoted_<posts>",
    label: "promoted post",
    not_found: "PROMOTED_TWEET_NOT_FOUND",
    fields: &[
        FieldSpec::parent("line_item_id", &LINE_ITEM).required(),
        FieldSpec::new("post_id", Kind::LONG).legacy_name("tweet_id").required().immutable(),
        CREATIVE_STATUS,
        APPROVAL_STATUS,
    ],
    filters: &[
        ListFilter::ids("line_item_ids", "line_item_id", &LINE_ITEM),
        ListFilter::ids("promoted_post_ids", "id", &PROMOTED_POST).legacy_name("promoted_tweet_ids"),
    ],
    constant_sorts: &["paused"],
    verbs: &[ResourceVerb::List, ResourceVerb::Get, ResourceVerb::Delete],
    rate_class: AdsRateClass::High,
    history_name: "PROMOTED_POST",
    find_duplicate: Some(|ctx, record| find_same_creative(ctx, record, &["post_id"])),
    after_change: Some(recount_creatives),
    ..Resource::DEFAULT
};

pub static OPERATIONS: &[CustomOperation] =
    &[CustomOperation::post("createAdsPromotedPosts", "promoted_<posts>", promote_posts)
        .summary("Promotes posts in a line item: all of them or none.")
        .requires_role(RequiredRole::CampaignWriter)
        .params(&[
            FieldSpec::reference("line_item_id", &LINE_ITEM).required(),
            FieldSpec::new("post_ids", Kind::LONG.list(1, 50)).legacy_name("tweet_ids").required(),
        ])];

fn promote_posts(ctx: &mut AccountContext<'_, '_>, params: &ParsedParams) -> Result<OperationOutput, Error> {
    ensure_valid_params(params)?;
    let item = ctx.require_record(&LINE_ITEM, params.int("line_item_id").unwrap_or(-1))?;
    require_product_type(&item, &["PROMOTED_POSTS", "PROMOTED_ACCOUNT"], "promoted posts")?;
    let mut made = Vec::new();
    for id in params.ints("post_ids") {
        made.push(promote_post(ctx, &item, PostId::new(id))?);
    }
    let count = made.len();
    let output = OperationOutput::from_records(ctx, made)?.as_last_page();
    Ok(output.with_total_count(count))
}

/// Promotes a post, or returns the existing promotion.
pub fn promote_post(ctx: &mut AccountContext<'_, '_>, item: &AdsRecord, id: PostId) -> Result<AdsRecord, Error> {
    let post = require_promotable(ctx, item, id)?;
    let post = resolve_promoted_id(ctx, post)?;
    let mut params = ParsedParams::default();
    params.insert("line_item_id", item.id.into());
    params.insert("post_id", post.into());
    let promoted = create(ctx, &PROMOTED_POST, &params)?;
    if item.text("product_type") == "PROMOTED_ACCOUNT" {
        add_timeline_placement(ctx, item.id)?;
    }
    Ok(promoted)
}

#[derive(Clone, Copy, Debug)]
pub struct PromotablePost {
    pub post: PostId,
    /// True if the author agreed to reposts only, so that a repost is promoted.
    pub via_repost: bool,
}

/// Resolves a requested post to what is promoted.
pub fn require_promotable(
    ctx: &mut AccountContext<'_, '_>,
    item: &AdsRecord,
    id: PostId,
) -> Result<PromotablePost, Error> {
    let vocabulary = ctx.caller.vocabulary;
    let unsuited = || {
        let why = "does not suit the objective of the line item";
        post_problem(vocabulary, id, "INVALID_TWEET", why)
    };
    if let Some(tried) = account_posts::find_sandbox_post(ctx, id.get())? {
        if !compositions::suits_line_item(ctx, &tried, item)? {
            return Err(unsuited());
        }
        let (post, by_repost) = (id, false);
        return Ok(PromotablePost { post, via_repost: by_repost });
    }
    let Some(post) = find_original_post(ctx, id)? else {
        return Err(post_problem(vocabulary, id, "TWEET_NOT_FOUND", "was not found"));
    };
    let promotable = promotable_users::find_by_user(ctx, post.author_id)?;
    let Some(promotable) = promotable else {
        let why = "is not by a promotable user of this account";
        return Err(post_problem(vocabulary, id, "INVALID_TWEET", why));
    };
    let author = store::users::find_by_id(ctx.tx, post.author_id)?;
    let open = author.is_some_and(|author| author.is_public());
    let for_some = post.members_only || post.followers_only || post.repost_of_id.is_some();
    if !open || for_some {
        return Err(post_problem(vocabulary, id, "INVALID_TWEET", "is not public"));
    }
    if !suits_line_item(ctx.tx, &post, item)? {
        return Err(unsuited());
    }
    Ok(PromotablePost { post: post.id, via_repost: promotable.text("promotable_user_type") != "FULL" })
}

/// The live post with an id; for a repost by the account's own user, the original.
fn find_original_post(ctx: &mut AccountContext<'_, '_>, id: PostId) -> Result<Option<Post>, Error> {
    let live = |post: &Post| post.state == PostState::Live;
    let Some(post) = posts::find_by_id(ctx.tx, id)?.filter(live) else {
        return Ok(None);
    };
    match post.repost_of_id {
        Some(original) if promotable_users::find_own_user(ctx)? == Some(post.author_id) => {
            Ok(posts::find_by_id(ctx.tx, original)?.filter(live))
        }
        _ => Ok(Some(post)),
    }
}

/// The post itself, or a promoted-only repost of it by the account's own user, created if needed (contract ads
/// §8.11).
fn resolve_promoted_id(ctx: &mut AccountContext<'_, '_>, promotable: PromotablePost) -> Result<i64, Error> {
    if !promotable.via_repost {
        return Ok(promotable.post.get());
    }
    if ctx.account()?.record.flag("sandbox") {
        return account_posts::find_or_create_sandbox_repost(ctx, promotable.post);
    }
    let Some(full) = promotable_users::find_own_user(ctx)? else {
        return Err(post_problem(
            ctx.caller.vocabulary,
            promotable.post,
            "INVALID_TWEET",
            "cannot be reposted by anyone",
        ));
    };
    let app = ctx.caller.app.filter(|app| *app != CONSOLE_APP_ID);
    match network::reposts::repost_for_promotion(ctx.tx, full, app, promotable.post) {
        Ok(repost) => Ok(repost.id.get()),
        // For example, because of a block.
        Err(Error::Refused(_)) => {
            Err(post_problem(ctx.caller.vocabulary, promotable.post, "INVALID_TWEET", "cannot be reposted"))
        }
        Err(failed) => Err(failed),
    }
}

/// The post viewers see, if it may be shown publicly; for a repost, the original.
pub fn find_visible_post(tx: &mut Tx<'_>, id: i64) -> Result<Option<Post>, Fault> {
    let live = |post: &Post| post.state == PostState::Live;
    let Some(post) = posts::find_by_id(tx, PostId::new(id))?.filter(live) else {
        return Ok(None);
    };
    let Some(original) = post.repost_of_id else {
        return Ok(Some(post));
    };
    let by = store::users::find_by_id(tx, post.author_id)?;
    if by.is_none_or(|by| !by.is_public()) {
        return Ok(None);
    }
    Ok(posts::find_by_id(tx, original)?.filter(live))
}

fn post_problem(vocabulary: Vocabulary, id: PostId, code: &'static str, why: &str) -> Error {
    let message = format!("The post {id} {why}");
    let name = VocabularyWord::new("post_ids", "tweet_ids").name_in(vocabulary);
    AdsProblem::invalid_parameter(name, id, message).with_code(code).into()
}

/// Whether a post's content suits a line item's objective.
pub fn suits_line_item(tx: &mut Tx<'_>, post: &Post, item: &AdsRecord) -> Result<bool, Fault> {
    let entities: Value = serde_json::from_str(&post.entities).unwrap_or_default();
    let shows = ContentTraits {
        links: entities.get("urls").and_then(Value::as_array).map_or(0, Vec::len),
        card_type: &all_cards::find_card_type(tx, &post.card_uri)?,
        media_keys: &post.media_keys.split(',').collect::<Vec<_>>(),
    };
    Ok(shows.suits_objective(item.text("objective")))
}

#[derive(Clone, Copy, Debug)]
pub struct ContentTraits<'a> {
    /// The number of links in the text.
    pub links: usize,
    /// Empty without a card.
    pub card_type: &'a str,
    pub media_keys: &'a [&'a str],
}

impl ContentTraits<'_> {
    /// Contract ads §4.5. Cards whose medium is a video are videos, whatever else they are.
    pub fn suits_objective(self, objective: &str) -> bool {
        let card = self.card_type;
        let is_website = card.ends_with("WEBSITE");
        let is_app = card.ends_with("_APP") || card.ends_with("_APP_DOWNLOAD");
        let is_playable = |key: &&str| ["7_", "13_", "16_"].iter().any(|kind| key.starts_with(kind));
        let plays = card.starts_with("VIDEO_") || card.starts_with("MIXED_MEDIA_");
        match objective {
            "WEBSITE_CLICKS" => self.links + usize::from(is_website) == 1,
            "VIDEO_VIEWS" => plays || self.media_keys.iter().any(is_playable),
            "APP_INSTALLS" | "APP_ENGAGEMENTS" => is_app,
            "PREROLL_VIEWS" => false,
            _ => true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::ContentTraits;

    /// Whether the content suits clicks on websites, views of videos, and installations of apps.
    fn suits(links: usize, card_type: &str, media_keys: &[&str]) -> [bool; 3] {
        let content = ContentTraits { links, card_type, media_keys };
        ["WEBSITE_CLICKS", "VIDEO_VIEWS", "APP_INSTALLS"].map(|objective| content.suits_objective(objective))
    }

    #[test]
    fn content_suits_the_objective_that_it_leads_to() {
        for (card_type, suited) in [
            ("IMAGE_WEBSITE", [true, false, false]),
            ("IMAGE_CAROUSEL_WEBSITE", [true, false, false]),
            ("IMAGE_MULTI_DEST_CAROUSEL_WEBSITE", [true, false, false]),
            ("VIDEO_WEBSITE", [true, true, false]),
            ("MIXED_MEDIA_SINGLE_DEST_CAROUSEL_WEBSITE", [true, true, false]),
            ("WEBSITE", [true, false, false]),
            ("IMAGE_APP", [false, false, true]),
            ("VIDEO_CAROUSEL_APP", [false, true, true]),
            ("IMAGE_APP_DOWNLOAD", [false, false, true]),
            ("VIDEO_APP_DOWNLOAD", [false, true, true]),
            ("TEXT_POLLS", [false, false, false]),
            ("IMAGE_CONVERSATION", [false, false, false]),
            ("VIDEO_CONVERSATION", [false, true, false]),
            ("", [false, false, false]),
        ] {
            assert_eq!(suits(0, card_type, &[]), suited, "{card_type}");
        }
        assert_eq!(suits(1, "", &["3_1"]), [true, false, false]);
        assert_eq!(suits(1, "IMAGE_WEBSITE", &[]), [false, false, false]);
        assert_eq!(suits(2, "", &[]), [false, false, false]);
        for key in ["7_1", "13_1", "16_1"] {
            assert_eq!(suits(0, "", &[key]), [false, true, false], "{key}");
        }
    }
}
