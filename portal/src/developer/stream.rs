//! The rules of an app's filtered stream: testing, adding, deleting.

use base::{Error, Refusal};
use identity::apps::AccessLevel;
use network::rules::{self, NewStreamRule};
use pages::{AppTab, FormField, StreamRuleItem, StreamRulesPage};
use query::{AccessTier, ParsedQuery, QueryDialect, parse};
use store::rules::{StreamProduct, StreamRule};
use web::request_context::{HttpReply, RequestContext};

use super::search_console::{SCANNED_POSTS, query_errors, scan_newest_posts};
use super::{OwnedApp, outcome_or_page};
use crate::site::forms::{self, accept_form};
use crate::site::page_ranges::{build_pager, cut_page};
use crate::site::submitted_forms::{new_form_id, write_once};
use crate::site::{PageExit, redirect_to};

const PAGE_SIZE: i64 = 50;
/// In characters.
const MAX_TAG_LENGTH: usize = 255;

pub(crate) async fn list(call: RequestContext) -> Result<HttpReply, PageExit> {
    let own = OwnedApp::from_call(&call).await?;
    let page = rules_page(&call, &own).await?;
    Ok(own.visit.render_page(&call, &page)?)
}

/// `POST /developer/apps/{id}/stream`: tries a rule, or adds it.
pub(crate) async fn submit_rule(call: RequestContext) -> Result<HttpReply, PageExit> {
    let own = OwnedApp::from_call(&call).await?;
    let form = accept_form(&call, &own.visit).await?;
    let (value, tag) = (form.text("value"), form.text("tag"));
    let adds = form.text("do") == "add";
    let mut page = rules_page(&call, &own).await?;
    page.value = FormField::new(&value);
    page.tag = FormField::new(&tag);
    let dialect = rule_dialect(&own);
    let query = match parse(&value, dialect) {
        Ok(query) => query,
        Err(problems) => {
            page.value.error = Some("The rule is invalid.".to_owned());
            page.query_errors = query_errors(&problems);
            return Ok(own.visit.render_page(&call, &page)?.status(400));
        }
    };
    if tag.chars().count() > MAX_TAG_LENGTH {
        page.tag.error = Some(format!("Use at most {MAX_TAG_LENGTH} characters."));
        return Ok(own.visit.render_page(&call, &page)?.status(400));
    }
    if !adds {
        page.tried_posts = Some(scan_newest_posts(&call, query).await?);
        return Ok(own.visit.render_page(&call, &page)?);
    }
    let form_id = form.text("form");
    let refused = add_rule(&call, &own, (value, tag), &query, (dialect.max_rules(), &form_id)).await?;
    if refused.is_some() {
        page.value.error = refused;
        return Ok(own.visit.render_page(&call, &page)?.status(400));
    }
    Ok(redirect_to(&format!("{}?added", page.action)))
}

/// `Some` with the reason if the rule was not added.
async fn add_rule(
    call: &RequestContext,
    own: &OwnedApp,
    (value, tag): (String, String),
    query: &ParsedQuery,
    (max, form_id): (usize, &str),
) -> Result<Option<String>, PageExit> {
    let new = NewStreamRule { value, canonical: query.to_string(), tag };
    let app = own.app.id;
    let work = move |tx: &mut store::Tx<'_>| {
        rules::add(tx, app, StreamProduct::Stream, max, std::slice::from_ref(&new), false)
    };
    match write_once(call, own.visit.person.user.id, form_id, work).await {
        Ok(Some(added)) if added.rules.is_empty() => Ok(Some("The app already has this rule.".into())),
        Ok(_) => Ok(None),
        Err(Error::Refused(Refusal::RuleLimitReached { limit: max })) => {
            Ok(Some(format!("The app has reached its limit of {max} rules.")))
        }
        Err(stop) => Err(stop.into()),
    }
}

pub(crate) async fn delete(call: RequestContext) -> Result<HttpReply, PageExit> {
    let own = OwnedApp::from_call(&call).await?;
    let form = accept_form(&call, &own.visit).await?;
    let ids: Vec<i64> = form.text("rule").parse().into_iter().collect();
    let app = own.app.id;
    let work = move |tx: &mut store::Tx<'_>| rules::remove(tx, app, StreamProduct::Stream, &ids);
    let removed = call.write(work).await;
    let removed = outcome_or_page(&call, &own.visit, removed)?;
    let notice = if removed > 0 { "deleted" } else { "gone" };
    Ok(redirect_to(&format!("{}?{notice}", AppTab::Stream.path_for_app(&own.app_ref()))))
}

pub(super) fn is_enterprise(own: &OwnedApp) -> bool {
    own.app.access_level == AccessLevel::Enterprise
}

fn rule_dialect(own: &OwnedApp) -> QueryDialect {
    let level = if is_enterprise(own) { AccessTier::Enterprise } else { AccessTier::SelfServe };
    QueryDialect::new(query::QueryProduct::Stream, level)
}

async fn rules_page(call: &RequestContext, own: &OwnedApp) -> Result<StreamRulesPage, PageExit> {
    let query = forms::PageQuery::from_call(call).ok();
    let has_param = |name: &str| query.as_ref().is_some_and(|query| query.get_raw(name).is_some());
    let after = query.as_ref().and_then(|query| query.get("after")?.parse().ok());
    let (app, after) = (own.app.id, after.unwrap_or(0));
    let work = move |tx: &mut store::Tx<'_>| {
        let count = store::rules::count(tx, app, StreamProduct::Stream)?;
        let rules = store::rules::list_by_app(tx, app, StreamProduct::Stream, after, PAGE_SIZE + 1)?;
        Ok((count, rules))
    };
    let (count, mut rules) = call.read(work).await?;
    let next = cut_page(&mut rules, PAGE_SIZE, |rule| rule.id);
    let shown = own.app_ref();
    let path = AppTab::Stream.path_for_app(&shown);
    let mut frame = own.visit.page_frame(call);
    let notices = [
        ("added", "The rule was added."),
        ("deleted", "The rule was deleted."),
        ("gone", "The rule had already been deleted."),
    ];
    let notices = notices.into_iter().filter(|(name, _)| has_param(name));
    frame.notices.extend(notices.map(|(_, text)| pages::Notice::success(text)));
    Ok(StreamRulesPage {
        frame,
        action: path.clone(),
        delete: format!("{path}/delete"),
        live: format!("{path}/live"),
        form_id: new_form_id(call)?,
        value: FormField::default(),
        tag: FormField::default(),
        query_errors: Vec::new(),
        tried_posts: None,
        search_scope: format!("Searched the newest {SCANNED_POSTS} public posts."),
        pager: build_pager(&path, "after", true, next),
        rules: rules.iter().map(rule_item).collect(),
        count: (u64::try_from(count).unwrap_or(0), u64::try_from(rule_dialect(own).max_rules()).unwrap_or(0)),
        app: shown,
    })
}

fn rule_item(rule: &StreamRule) -> StreamRuleItem {
    StreamRuleItem { id: rule.id.to_string(), value: rule.value.clone(), tag: rule.tag.clone(), added: rule.created_at }
}
