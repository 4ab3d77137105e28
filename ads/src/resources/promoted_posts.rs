//! Promoted posts: posts that a line item shows.

use ads_engine::engine::{create, ensure_valid_params};
use ads_engine::{
    AccountContext, AdsRateClass, AdsRecord, CONSOLE_APP_ID, CustomOperation, FieldSpec, Kind, ListFilter,
    OperationOutput, ParsedParams, RequiredRole, Resource, ResourceVerb,
};
use base::refusal::AdsProblem;
use base::{Error, Fault, PostId, VocabularyWord};
use store::Tx;
use store::posts::{self, Post, PostState};

use crate::resources::accounts::APPROVAL_STATUS;
use crate::resources::line_items::{
    CREATIVE_STATUS, LINE_ITEM, find_same_creative, recount_creatives, require_product_type,
};
use crate::resources::promotable_users;
use crate::resources::{account_posts, compositions};

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
    verbs: &[ResourceVerb::List, ResourceVerb::Get, ResourceVerb::Delete],
    rate_class: AdsRateClass::High,
    history_name: "PROMOTED_POST",
    find_duplicate: Some(|ctx, record| find_same_creative(ctx, record, "post_id")),
    after_change: Some(recount_creatives),
    ..Resource::DEFAULT
};

pub static OPERATIONS: &[CustomOperation] = &[CustomOperation::mutation(
    "POST",
    "createAdsPromotedPosts",
    "promoted_<posts>",
    "Promotes posts in a line item: all of them or none.",
    promote_posts,
)
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
    create(ctx, &PROMOTED_POST, &params)
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
    let unsuited = || {
        let why = "does not suit the objective of the line item";
        post_problem(id, "INVALID_TWEET", why)
    };
    if let Some(tried) = account_posts::find_sandbox_post(ctx, id.get())? {
        if !compositions::suits_line_item(&tried, item) {
            return Err(unsuited());
        }
        let (post, by_repost) = (id, false);
        return Ok(PromotablePost { post, via_repost: by_repost });
    }
    let Some(post) = find_original_post(ctx, id)? else {
        return Err(post_problem(id, "TWEET_NOT_FOUND", "was not found"));
    };
    let promotable = promotable_users::find_by_user(ctx, post.author_id)?;
    let Some(promotable) = promotable else {
        let why = "is not by a promotable user of this account";
        return Err(post_problem(id, "INVALID_TWEET", why));
    };
    let author = store::users::find_by_id(ctx.tx, post.author_id)?;
    let open = author.is_some_and(|author| author.is_public());
    let for_some = post.members_only || post.followers_only || post.repost_of_id.is_some();
    if !open || for_some {
        return Err(post_problem(id, "INVALID_TWEET", "is not public"));
    }
    if !suits_line_item(&post, item) {
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
        return Err(post_problem(promotable.post, "INVALID_TWEET", "cannot be reposted by anyone"));
    };
    let app = ctx.caller.app.filter(|app| *app != CONSOLE_APP_ID);
    match network::reposts::repost_for_promotion(ctx.tx, full, app, promotable.post) {
        Ok(repost) => Ok(repost.id.get()),
        // For example, because of a block.
        Err(Error::Refused(_)) => Err(post_problem(promotable.post, "INVALID_TWEET", "cannot be reposted")),
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

fn post_problem(id: PostId, code: &'static str, why: &str) -> Error {
    let message = format!("The post {id} {why}");
    AdsProblem::invalid_parameter("post_ids", id, message).with_code(code).into()
}

/// Whether a post's content suits a line item's objective (contract ads §4.5).
pub fn suits_line_item(post: &Post, item: &AdsRecord) -> bool {
    let shows = ContentTraits {
        links: post.entities.contains("\"urls\""),
        card: !post.card_uri.is_empty(),
        media_keys: &post.media_keys.split(',').collect::<Vec<_>>(),
    };
    shows.suits_line_item(item)
}

#[derive(Clone, Copy, Debug)]
pub struct ContentTraits<'a> {
    pub links: bool,
    pub card: bool,
    pub media_keys: &'a [&'a str],
}

impl ContentTraits<'_> {
    pub fn suits_line_item(self, item: &AdsRecord) -> bool {
        let (links, card) = (self.links, self.card);
        let plays = self.media_keys.iter().any(|key| ["7_", "13_", "16_"].iter().any(|kind| key.starts_with(kind)));
        match item.text("objective") {
            "WEBSITE_CLICKS" => links || card,
            "VIDEO_VIEWS" => plays || card,
            "APP_INSTALLS" | "APP_ENGAGEMENTS" => card,
            "PREROLL_VIEWS" => false,
            _ => true,
        }
    }
}
