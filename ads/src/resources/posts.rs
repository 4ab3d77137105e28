//! Posts of the account in the format of the legacy API: drafts, scheduled and published (contract
//! ads §4.11).

use std::collections::HashMap;

use ads_engine::engine::ensure_valid_params;
use ads_engine::field_kind::format_time;
use ads_engine::{
    AccountContext, AdsRecord, COUNT, CURSOR, CustomOperation, FieldRequirement, FieldSpec, Kind, OperationOutput,
    ParsedParams, RequiredRole, Resource, cursor, listing,
};
use base::refusal::AdsProblem;
use base::{Error, PostId, SiteLinks, UserId};
use network::visibility::Viewer;
use serde_json::{Map, Value, json};
use store::posts::{self, Post, PostState};
use store::records::{self, OrderValue};
use view::StatusForm;

use crate::post_preview::{self, SignedPreview};
use crate::resources::account_posts::{self, ACCOUNT_POST};
use crate::resources::compositions;
use crate::resources::draft_posts::DRAFT_POST;
use crate::resources::promotable_users;
use crate::resources::scheduled_posts::SCHEDULED_POST;

pub const POST_TYPES: &[&str] = &["DRAFT", "PUBLISHED", "SCHEDULED"];

const POST_TYPE: FieldSpec = FieldSpec::one_of("post_type", POST_TYPES).legacy_name("tweet_type").required();
const POST_IDS: FieldSpec = FieldSpec::new("post_ids", Kind::LONG.list(1, 200)).legacy_name("tweet_ids");
/// Whether authors are rendered as ids only.
pub const TRIM_USER: FieldSpec = FieldSpec::new("trim_user", Kind::BOOL).default_flag(false);

pub static OPERATIONS: &[CustomOperation] = &[
    CustomOperation::get("getAdsPosts", "<posts>", list_posts)
        .summary("A page of posts of a user of the account, newest first.")
        .requires_role(RequiredRole::CreativeReader)
        .params(&[
            POST_TYPE,
            COUNT,
            CURSOR,
            FieldSpec::new("include_mentions_and_replies", Kind::BOOL).default_flag(false),
            FieldSpec::text("name", 1, 80),
            FieldSpec::one_of("timeline_type", &["ALL", "NULLCAST", "ORGANIC"]).default_word("NULLCAST"),
            TRIM_USER,
            POST_IDS,
            FieldSpec::new("user_id", Kind::ID),
        ]),
    CustomOperation::put("nameAdsPost", "<posts>/{post_id}/name", name_post)
        .summary("Names a published post; an empty name is none.")
        .requires_role(RequiredRole::CreativeWriter)
        .params(&[
            FieldSpec::new("post_id", Kind::LONG).legacy_name("tweet_id").required().update(FieldRequirement::Required),
            FieldSpec::text("name", 1, 80),
        ]),
    CustomOperation::get("getAdsPostPreviews", "<post>_previews", list_previews)
        .summary("Pages that show what some posts look like, for a quarter of an hour.")
        .requires_role(RequiredRole::CreativeReader)
        .params(&[POST_IDS.required(), POST_TYPE]),
];

#[derive(Clone, Debug)]
pub struct PostWithAccountRecord {
    /// An unpublished post as it would be published.
    pub post: Post,
    /// The composition, or the account's record of a published post.
    pub account_record: Option<AdsRecord>,
    kind: &'static str,
    /// Whether the post exists, so that short links lead somewhere.
    is_stored: bool,
}

impl PostWithAccountRecord {
    /// Builds the post of a composition or of a sandbox record.
    pub fn from_record(ctx: &mut AccountContext<'_, '_>, record: AdsRecord) -> Result<Self, Error> {
        Ok(Self {
            post: compositions::to_post(ctx, &record)?,
            kind: if std::ptr::eq(record.resource, &raw const DRAFT_POST) {
                "DRAFT"
            } else if std::ptr::eq(record.resource, &raw const SCHEDULED_POST) {
                "SCHEDULED"
            } else {
                "PUBLISHED"
            },
            account_record: Some(record),
            is_stored: false,
        })
    }

    pub const fn site_links(&self, site: SiteLinks) -> SiteLinks {
        links_for(self.is_stored, site)
    }

    pub const fn from_published(post: Post, account_record: Option<AdsRecord>) -> Self {
        Self { post, account_record, kind: "PUBLISHED", is_stored: true }
    }
}

/// The resource that stores posts of a type; `None` if the platform stores them.
fn find_resource(ctx: &AccountContext<'_, '_>, kind: &str) -> Result<Option<&'static Resource>, Error> {
    Ok(match kind {
        "DRAFT" => Some(&DRAFT_POST),
        "SCHEDULED" => Some(&SCHEDULED_POST),
        _ if ctx.account()?.record.flag("sandbox") => Some(&ACCOUNT_POST),
        _ => None,
    })
}

/// Excludes scheduled posts that were already published.
fn is_unpublished(record: &AdsRecord) -> bool {
    let status = record.resource.field("scheduled_status");
    status.is_none() || record.text("scheduled_status") == "SCHEDULED"
}

fn list_posts(ctx: &mut AccountContext<'_, '_>, params: &ParsedParams) -> Result<OperationOutput, Error> {
    ensure_valid_params(params)?;
    let user = match params.int("user_id") {
        Some(user) => UserId::new(user),
        None => promotable_users::find_own_user(ctx)?.unwrap_or(UserId::new(-1)),
    };
    let kind = params.text("post_type").unwrap_or_default();
    let (posts, next) = if params.has("post_ids") {
        let mut posts = find_by_ids(ctx, kind, &params.ints("post_ids"))?;
        posts.retain(|one| one.post.author_id == user && matches_timeline(&one.post, params));
        slice_page(ctx, posts, params)?
    } else if let Some(resource) = find_resource(ctx, kind)? {
        list_record_posts(ctx, resource, user, params)?
    } else if params.has("name") {
        list_named_posts(ctx, user, params)?
    } else {
        list_platform_posts(ctx, user, params)?
    };
    let form = StatusForm { extended: true, trim_user: params.flag("trim_user") };
    let mut output = OperationOutput::from_value(render_posts(ctx, posts, form)?);
    output.next_cursor = Some(next);
    Ok(output)
}

fn matches_timeline(post: &Post, params: &ParsedParams) -> bool {
    let timeline = match params.text("timeline_type") {
        Some("ALL") => true,
        Some("ORGANIC") => !post.nullcast,
        _ => post.nullcast,
    };
    let is_reply = post.in_reply_to_user_id.is_some() || post.text.starts_with('@');
    timeline && (!is_reply || params.flag("include_mentions_and_replies"))
}

/// Posts of a type by id, newest first; others are omitted.
pub fn find_by_ids(
    ctx: &mut AccountContext<'_, '_>,
    kind: &str,
    ids: &[i64],
) -> Result<Vec<PostWithAccountRecord>, Error> {
    let mut posts = Vec::new();
    if let Some(resource) = find_resource(ctx, kind)? {
        let account = ctx.account_id()?;
        for row in records::find_by_ids(ctx.tx, resource.name, ids)? {
            let record = AdsRecord::from_stored(resource, row)?;
            if record.account_id == account && !record.deleted && is_unpublished(&record) {
                posts.push(PostWithAccountRecord::from_record(ctx, record)?);
            }
        }
    } else {
        let mut known: HashMap<i64, AdsRecord> = account_posts::find_by_posts(ctx, ids)?
            .into_iter()
            .filter_map(|one| Some((one.int("post_id")?, one)))
            .collect();
        let ids: Vec<PostId> = ids.iter().copied().map(PostId::new).collect();
        for post in posts::find_by_ids(ctx.tx, &ids)? {
            let theirs = promotable_users::find_by_user(ctx, post.author_id)?.is_some();
            if theirs && post.state == PostState::Live {
                let account_record = known.remove(&post.id.get());
                posts.push(PostWithAccountRecord::from_published(post, account_record));
            }
        }
    }
    posts.sort_by_key(|one| std::cmp::Reverse(one.post.id));
    Ok(posts)
}

type PostPage = (Vec<PostWithAccountRecord>, Option<String>);

fn slice_page(
    ctx: &AccountContext<'_, '_>,
    mut posts: Vec<PostWithAccountRecord>,
    params: &ParsedParams,
) -> Result<PostPage, Error> {
    let scope = listing::cursor_scope(ctx, &params.echo);
    let below = match listing::parse_cursor(ctx, &scope, params)? {
        Some((_, id)) => id,
        None => i64::MAX,
    };
    posts.retain(|one| one.post.id.get() < below);
    let count = page_size(params);
    let more = posts.len() > count;
    posts.truncate(count);
    let last = posts.last().filter(|_| more).map(|one| one.post.id.get());
    let next = last.map(|id| cursor::encode(&ctx.cursor_key, &scope, &(OrderValue::Number(id), id)));
    let next = next.transpose()?;
    Ok((posts, next))
}

fn page_size(params: &ParsedParams) -> usize {
    usize::try_from(params.int("count").unwrap_or(200)).unwrap_or(1)
}

fn list_record_posts(
    ctx: &mut AccountContext<'_, '_>,
    resource: &'static Resource,
    user: UserId,
    params: &ParsedParams,
) -> Result<PostPage, Error> {
    let timeline = params.text("timeline_type").unwrap_or_default().to_owned();
    let is_reply = params.flag("include_mentions_and_replies");
    let keeps = |record: &AdsRecord| {
        let timeline = match timeline.as_str() {
            "ALL" => true,
            "ORGANIC" => !record.flag("nullcast"),
            _ => record.flag("nullcast"),
        };
        let own = record.int("user_id") == Some(user.get());
        own && timeline && is_unpublished(record) && (is_reply || !record.text("text").starts_with('@'))
    };
    let (records, next) = listing::find_matching(ctx, resource, &name_prefix_params(params), &keeps)?;
    let mut posts = Vec::new();
    for record in records {
        posts.push(PostWithAccountRecord::from_record(ctx, record)?);
    }
    Ok((posts, next))
}

/// Published posts that have a name, most recently named first.
fn list_named_posts(ctx: &mut AccountContext<'_, '_>, user: UserId, params: &ParsedParams) -> Result<PostPage, Error> {
    let keeps = |record: &AdsRecord| record.int("user_id") == Some(user.get());
    let (records, next) = listing::find_matching(ctx, &ACCOUNT_POST, &name_prefix_params(params), &keeps)?;
    let ids: Vec<i64> = records.iter().filter_map(|one| one.int("post_id")).collect();
    let mut posts = find_by_ids(ctx, "PUBLISHED", &ids)?;
    posts.retain(|one| matches_timeline(&one.post, params));
    Ok((posts, next))
}

/// Parameters with the name prefix as lists expect it.
fn name_prefix_params(params: &ParsedParams) -> ParsedParams {
    let mut params = params.clone();
    if let Some(name) = params.text("name").map(str::to_owned) {
        params.insert("q", name.into());
    }
    params
}

fn list_platform_posts(
    ctx: &mut AccountContext<'_, '_>,
    user: UserId,
    params: &ParsedParams,
) -> Result<PostPage, Error> {
    let Some(known) = promotable_users::find_by_user(ctx, user)? else {
        return Ok((Vec::new(), None));
    };
    // Only public posts of other promotable users are listed; their promoted-only posts are private.
    let own = known.text("promotable_user_type") == "FULL" || ctx.caller.user == user;
    let (promoted, organic) = match params.text("timeline_type") {
        Some("ALL") => (own, true),
        Some("ORGANIC") => (false, true),
        _ => (own, false),
    };
    let scope = listing::cursor_scope(ctx, &params.echo);
    let below = match listing::parse_cursor(ctx, &scope, params)? {
        Some((_, id)) => id,
        None => i64::MAX,
    };
    let limit = i64::try_from(page_size(params) + 1).unwrap_or(i64::MAX);
    let is_reply = params.flag("include_mentions_and_replies");
    let mut all = Vec::new();
    for (asked, nullcast) in [(promoted, true), (organic, false)] {
        if asked {
            let resource = (user, nullcast, is_reply);
            all.extend(posts::list_own_posts(ctx.tx, resource, below, limit)?);
        }
    }
    all.sort_by_key(|post| std::cmp::Reverse(post.id));
    let ids: Vec<i64> = all.iter().map(|post| post.id.get()).collect();
    let mut known: HashMap<i64, AdsRecord> = account_posts::find_by_posts(ctx, &ids)?
        .into_iter()
        .filter_map(|one| Some((one.int("post_id")?, one)))
        .collect();
    let posts = all.into_iter().map(|post| {
        let account_record = known.remove(&post.id.get());
        PostWithAccountRecord::from_published(post, account_record)
    });
    slice_page(ctx, posts.collect(), params)
}

/// Links of posts that are not published are rendered as written.
const fn links_for(is_stored: bool, site: SiteLinks) -> SiteLinks {
    if is_stored { site } else { SiteLinks { codec: None, ..site } }
}

pub fn render_posts(
    ctx: &mut AccountContext<'_, '_>,
    seen: Vec<PostWithAccountRecord>,
    form: StatusForm,
) -> Result<Value, Error> {
    let mut by_author: HashMap<(UserId, bool), Vec<Post>> = HashMap::new();
    for one in &seen {
        let own = by_author.entry((one.post.author_id, one.is_stored)).or_default();
        own.push(one.post.clone());
    }
    let full = promotable_users::find_own_user(ctx)?;
    let mut statuses = HashMap::new();
    for ((author, is_stored), posts) in by_author {
        // Posts by others are rendered as the account's own user sees them.
        let viewer = match full {
            Some(full) if ctx.caller.user != author => full,
            _ => author,
        };
        let viewer = Viewer::user(viewer);
        statuses.extend(view::legacy_statuses_json(ctx.tx, viewer, posts, form, links_for(is_stored, ctx.site))?);
    }
    let vocabulary = ctx.caller.vocabulary;
    let mut all = Vec::new();
    for one in &seen {
        let Some(Value::Object(mut status)) = statuses.remove(&one.post.id) else {
            continue;
        };
        status.extend(advertiser_fields(one, vocabulary));
        all.push(Value::Object(status));
    }
    Ok(all.into())
}

/// Members for advertisers only.
fn advertiser_fields(post: &PostWithAccountRecord, vocabulary: base::Vocabulary) -> Map<String, Value> {
    let account_record = post.account_record.as_ref();
    let text = |name: &str| -> Value {
        let account_record = account_record.filter(|account_record| account_record.resource.field(name).is_some());
        account_record.and_then(|account_record| account_record.get(name)).cloned().unwrap_or_default()
    };
    let at = account_record.filter(|account_record| account_record.resource.field("scheduled_at").is_some());
    let at = at.and_then(|account_record| account_record.time("scheduled_at"));
    let card = Some(post.post.card_uri.as_str()).filter(|uri| !uri.is_empty());
    let members = json!({
        "name": text("name"),
        "nullcast": post.post.nullcast,
        base::VocabularyWord::new("post_id", "tweet_id").name_in(vocabulary): post.post.id.to_string(),
        base::VocabularyWord::new("post_type", "tweet_type").name_in(vocabulary): post.kind,
        "scheduled_at": at.map(format_time),
        "card_uri": card,
        "conversation_settings": conversation_settings(&post.post.reply_settings),
    });
    match members {
        Value::Object(members) => members,
        _ => Map::new(),
    }
}

/// Maps reply settings to the words of the Ads API.
fn conversation_settings(reply: &str) -> String {
    match reply {
        "" | "everyone" => "EVERYONE".to_owned(),
        "mentionedUsers" => "MENTIONED_USERS".to_owned(),
        other => other.to_ascii_uppercase(),
    }
}

fn name_post(ctx: &mut AccountContext<'_, '_>, params: &ParsedParams) -> Result<OperationOutput, Error> {
    ensure_valid_params(params)?;
    let id = params.int("post_id").unwrap_or(-1);
    let Some(one) = find_by_ids(ctx, "PUBLISHED", &[id])?.pop() else {
        let name = ACCOUNT_POST.id.name_in(ctx.caller.vocabulary);
        let message = format!("The post {id} was not found");
        let problem = AdsProblem::invalid_parameter(name, id, message);
        return Err(problem.with_code(ACCOUNT_POST.not_found).into());
    };
    let mut one = one;
    if params.has("name") {
        let is_known = one.account_record.is_some();
        let mut account_record = match one.account_record.take() {
            Some(account_record) => account_record,
            None => account_posts::new_record(ctx, id, one.post.author_id.get())?,
        };
        account_record.set("name", params.get("name").cloned().unwrap_or_default());
        account_record.updated_at = ctx.now();
        if is_known {
            ctx.save_record(&account_record)?;
        } else {
            account_posts::insert(ctx, &account_record)?;
        }
        one.account_record = Some(account_record);
    }
    let form = StatusForm { extended: true, trim_user: false };
    let shown = render_posts(ctx, vec![one], form)?;
    Ok(OperationOutput::from_value(shown.get(0).cloned().unwrap_or_default()))
}

fn list_previews(ctx: &mut AccountContext<'_, '_>, params: &ParsedParams) -> Result<OperationOutput, Error> {
    ensure_valid_params(params)?;
    let kind = params.text("post_type").unwrap_or_default();
    let ids = params.ints("post_ids");
    let found: Vec<i64> = find_by_ids(ctx, kind, &ids)?.iter().map(|one| one.post.id.get()).collect();
    let name = ACCOUNT_POST.id.name_in(ctx.caller.vocabulary);
    let mut all = Vec::new();
    for id in ids.into_iter().filter(|id| found.contains(id)) {
        let path = SignedPreview::new(ctx, kind, id, post_preview::QUARTER_HOUR_MS)?.signed_path(&ctx.cursor_key);
        let page = format!("<iframe class='tweet-preview' src='{}{path}'></iframe>", ctx.site.files_url);
        all.push(json!({ name: id.to_string(), "preview": page }));
    }
    Ok(OperationOutput::from_value(all.into()).as_last_page())
}
