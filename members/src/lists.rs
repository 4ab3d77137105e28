//! `/lists`: one's own and followed lists, their posts and members, and the forms that change them.

use std::sync::Arc;

use base::{Error, Fault, Id, Refusal, SplitRefusal, UserId, order_by_keys, sorted_distinct};
use network::lists::{self, DESCRIPTION_LENGTH, ListChanges, NAME_LENGTH, NewList};
use network::timelines;
use network::visibility::{Visibility, list_visibility};
use pages::FormField;
use pages::members::{
    AddToListPage, DeleteListPage, EditListPage, LISTS_PATH, ListCard, ListForm, ListMembersPage, ListRelationship,
    ListTimelinePage, ListsPage, ListsTab, NewListPage, PersonCard, PostFeed,
};
use portal::submitted_forms::{new_form_id, write_once};
use portal::{BrowserVisit, MemberVisit, PageExit, PageQuery, SubmittedForm, found_or_exit, redirect_to};
use store::Tx;
use store::lists::{self as stored, List};
use store::posts::PageRange;
use store::users;
use web::HttpReply;
use web::error_formats::error_message;
use web::request_context::RequestContext;

use crate::page_ranges::{PAGE_SIZE, build_pager, cursor_of, cut_page, range_before};
use crate::people::load_edge_cards;
use crate::post_cards::{CardViewer, load_post_cards, record_views};
use crate::profile::find_profile;

pub(crate) async fn list(call: RequestContext) -> Result<HttpReply, PageExit> {
    let visit = MemberVisit::from_call(&call).await?;
    let user = visit.person.user.id;
    let query = PageQuery::from_call(&call).unwrap_or_default();
    let tab = if query.get("tab") == Some("followed") { ListsTab::Followed } else { ListsTab::Own };
    let is_first = cursor_of(&query).is_none();
    let (viewer, range) = (CardViewer::new(&call, &visit), one_more(&range_before(&query)));
    let read = call.read(move |tx| {
        let (lists, next) = load_tab(tx, user, tab, &range)?;
        let pinned = if is_first && tab == ListsTab::Own { load_pinned(tx, user)? } else { Vec::new() };
        Ok((load_list_cards(tx, viewer, pinned)?, load_list_cards(tx, viewer, lists)?, next))
    });
    let (pinned, lists, next) = read.await?;
    let pager = build_pager(tab.path(), is_first, next);
    let page = ListsPage { frame: visit.page_frame(&call), tab, pinned, lists, pager };
    Ok(visit.render_page(&call, &page)?)
}

pub(crate) const fn one_more(range: &PageRange) -> PageRange {
    PageRange { limit: PAGE_SIZE + 1, ..*range }
}

fn load_tab(
    tx: &mut Tx<'_>,
    user: UserId,
    tab: ListsTab,
    range: &PageRange,
) -> Result<(Vec<List>, Option<i64>), Fault> {
    if tab == ListsTab::Own {
        let mut lists = stored::page_by_owner(tx, user, true, range)?;
        let next = cut_page(&mut lists, |list| list.id);
        return Ok((lists, next));
    }
    let mut edges = stored::followed_page(tx, user, range)?;
    let next = cut_page(&mut edges, |edge| edge.1);
    let ids: Vec<i64> = edges.into_iter().map(|edge| edge.0).collect();
    Ok((load_ordered_lists(tx, &ids)?, next))
}

fn load_pinned(tx: &mut Tx<'_>, user: UserId) -> Result<Vec<List>, Fault> {
    let ids = stored::list_pinned(tx, user)?;
    load_ordered_lists(tx, &ids)
}

fn load_ordered_lists(tx: &mut Tx<'_>, ids: &[i64]) -> Result<Vec<List>, Fault> {
    let mut found = stored::find_by_ids(tx, ids)?;
    order_by_keys(&mut found, ids, |list| list.id);
    Ok(found)
}

/// In the order of `lists`, without those that the viewer may not see.
fn load_list_cards(tx: &mut Tx<'_>, viewer: CardViewer, lists: Vec<List>) -> Result<Vec<ListCard>, Fault> {
    let owners = sorted_distinct(lists.iter().map(|list| list.owner_id));
    let owners = users::find_by_ids(tx, &owners)?;
    let cards = lists.into_iter().filter_map(|list| {
        let owner = owners.iter().find(|owner| owner.id == list.owner_id);
        let is_visible = list_visibility(viewer.viewer, &list, owner) == Visibility::Visible;
        is_visible.then(|| ListCard {
            id: list.id.to_string(),
            name: list.name,
            description: list.description,
            owner: owner.map(|owner| owner.username.clone()).unwrap_or_default(),
            is_private: list.private,
            members: list.member_count,
            followers: list.follower_count,
        })
    });
    Ok(cards.collect())
}

fn path_list_id(call: &RequestContext) -> Result<i64, Error> {
    call.path_id::<()>("id").map(Id::get)
}

fn list_path(id: i64) -> String {
    format!("{LISTS_PATH}/{id}")
}

/// Refused if the viewer may not see the list.
fn find_list(tx: &mut Tx<'_>, viewer: CardViewer, id: i64) -> Result<(List, ListCard), Error> {
    let list = lists::find_visible(tx, viewer.viewer, id)?.ok_or(Refusal::RouteNotFound)?;
    let card = load_list_cards(tx, viewer, vec![list.clone()])?.pop().ok_or(Refusal::RouteNotFound)?;
    Ok((list, card))
}

/// Refused unless the list is the viewer's own.
fn find_own_list(tx: &mut Tx<'_>, viewer: CardViewer, id: i64) -> Result<(List, ListCard), Error> {
    let (list, card) = find_list(tx, viewer, id)?;
    if viewer.viewer.user != Some(list.owner_id) {
        return Err(Refusal::RouteNotFound.into());
    }
    Ok((list, card))
}

pub(crate) async fn show(call: RequestContext) -> Result<HttpReply, PageExit> {
    let visit = BrowserVisit::from_call(&call).await?;
    let (id, viewer) = (path_list_id(&call)?, CardViewer::new(&call, &visit));
    let query = PageQuery::from_call(&call).unwrap_or_default();
    let range = range_before(&query);
    let home_timelines = Arc::clone(&call.state.home_timelines);
    let read = call.read(move |tx| {
        let (list, card) = find_list(tx, viewer, id)?;
        let found = timelines::load_list_page(tx, &home_timelines, &list, &range)?;
        let next = found.scanned_range.map(|(_, oldest)| oldest.get()).filter(|_| found.more);
        let relationship = viewer.viewer.user.map(|user| load_list_relationship(tx, user, &list)).transpose()?;
        Ok((card, relationship, load_post_cards(tx, viewer, found.posts)?, next))
    });
    let (list, relationship, posts, next) = found_or_exit(&call, &visit, read.await)?;
    record_views(&call, viewer.viewer.user, &posts);
    let path = list.path();
    let page = ListTimelinePage {
        frame: visit.page_frame(&call),
        list,
        relationship,
        feed: PostFeed { posts, pager: build_pager(&path, cursor_of(&query).is_none(), next) },
    };
    Ok(visit.render_page(&call, &page)?)
}

fn load_list_relationship(tx: &mut Tx<'_>, user: UserId, list: &List) -> Result<ListRelationship, Fault> {
    Ok(ListRelationship {
        is_own: list.owner_id == user,
        is_following: stored::is_follower(tx, list.id, user)?,
        is_pinned: stored::list_pinned(tx, user)?.contains(&list.id),
    })
}

pub(crate) async fn show_new(call: RequestContext) -> Result<HttpReply, PageExit> {
    let visit = MemberVisit::from_call(&call).await?;
    render_new(&call, &visit, ListForm::default())
}

fn render_new(call: &RequestContext, visit: &BrowserVisit, form: ListForm) -> Result<HttpReply, PageExit> {
    let form = ListForm { form_id: new_form_id(call)?, ..form };
    Ok(visit.render_page(call, &NewListPage { frame: visit.page_frame(call), form })?)
}

fn read_list_form(form: &SubmittedForm<'_>) -> NewList {
    NewList {
        name: form.text("name"),
        description: form.text("description").replace("\r\n", "\n"),
        private: form.optional_text("private").is_some(),
    }
}

/// The form as it was sent, with the reason of the refusal at its field.
fn refuse_list_form(sent: NewList, refusal: &Refusal) -> ListForm {
    let (name, description) = match refusal.first_parameter() {
        "name" => (Some(format!("A name has 1 to {NAME_LENGTH} characters.")), None),
        "description" => (None, Some(format!("A description has at most {DESCRIPTION_LENGTH} characters."))),
        _ => (Some(error_message(refusal).to_owned()), None),
    };
    ListForm {
        name: FormField { value: sent.name, error: name },
        description: FormField { value: sent.description, error: description },
        is_private: sent.private,
        form_id: String::new(),
    }
}

pub(crate) async fn create(call: RequestContext) -> Result<HttpReply, PageExit> {
    let (visit, form) = MemberVisit::accept_form(&call).await?;
    let user = visit.person.user.id;
    let sent = read_list_form(&form);
    let new = sent.clone();
    let created = write_once(&call, user, &form.text("form"), move |tx| lists::create(tx, user, &new));
    match created.await.split_refusal()? {
        Ok(None) => Ok(redirect_to(LISTS_PATH)),
        Ok(Some(list)) => Ok(redirect_to(&list_path(list.id))),
        Err(refusal) => Ok(render_new(&call, &visit, refuse_list_form(sent, &refusal))?.status(400)),
    }
}

pub(crate) async fn show_edit(call: RequestContext) -> Result<HttpReply, PageExit> {
    let visit = MemberVisit::from_call(&call).await?;
    let (id, viewer) = (path_list_id(&call)?, CardViewer::new(&call, &visit));
    let found = call.read(move |tx| find_own_list(tx, viewer, id)).await;
    let (list, _) = found_or_exit(&call, &visit, found)?;
    let form = ListForm {
        name: FormField::new(list.name),
        description: FormField::new(list.description),
        is_private: list.private,
        form_id: String::new(),
    };
    render_edit(&call, &visit, id, form)
}

fn render_edit(call: &RequestContext, visit: &BrowserVisit, id: i64, form: ListForm) -> Result<HttpReply, PageExit> {
    let form = ListForm { form_id: new_form_id(call)?, ..form };
    Ok(visit.render_page(call, &EditListPage { frame: visit.page_frame(call), path: list_path(id), form })?)
}

pub(crate) async fn update(call: RequestContext) -> Result<HttpReply, PageExit> {
    let (visit, form) = MemberVisit::accept_form(&call).await?;
    let user = visit.person.user.id;
    let (id, viewer) = (path_list_id(&call)?, CardViewer::new(&call, &visit));
    let sent = read_list_form(&form);
    let new = sent.clone();
    let changed = write_once(&call, user, &form.text("form"), move |tx| {
        find_own_list(tx, viewer, id)?;
        let NewList { name, description, private } = new.clone();
        let changes = ListChanges { name: Some(name), description: Some(description), private: Some(private) };
        lists::update(tx, user, id, &changes)
    });
    match changed.await.split_refusal()? {
        Ok(_) => Ok(redirect_to(&list_path(id))),
        Err(Refusal::RouteNotFound) => Err(Refusal::RouteNotFound.into()),
        Err(refusal) => Ok(render_edit(&call, &visit, id, refuse_list_form(sent, &refusal))?.status(400)),
    }
}

pub(crate) async fn show_delete(call: RequestContext) -> Result<HttpReply, PageExit> {
    let visit = MemberVisit::from_call(&call).await?;
    let (id, viewer) = (path_list_id(&call)?, CardViewer::new(&call, &visit));
    let found = call.read(move |tx| find_own_list(tx, viewer, id)).await;
    let (_, list) = found_or_exit(&call, &visit, found)?;
    let page = DeleteListPage { frame: visit.page_frame(&call), list, form_id: new_form_id(&call)? };
    Ok(visit.render_page(&call, &page)?)
}

pub(crate) async fn delete(call: RequestContext) -> Result<HttpReply, PageExit> {
    let (visit, form) = MemberVisit::accept_form(&call).await?;
    let user = visit.person.user.id;
    let (id, viewer) = (path_list_id(&call)?, CardViewer::new(&call, &visit));
    let deleted = write_once(&call, user, &form.text("form"), move |tx| {
        find_own_list(tx, viewer, id)?;
        lists::delete(tx, user, id)
    });
    deleted.await?;
    Ok(redirect_to(LISTS_PATH))
}

pub(crate) async fn show_members(call: RequestContext) -> Result<HttpReply, PageExit> {
    let visit = BrowserVisit::from_call(&call).await?;
    render_members(&call, &visit, FormField::default()).await
}

async fn render_members(
    call: &RequestContext,
    visit: &BrowserVisit,
    username: FormField,
) -> Result<HttpReply, PageExit> {
    let (id, viewer) = (path_list_id(call)?, CardViewer::new(call, visit));
    let query = PageQuery::from_call(call).unwrap_or_default();
    let range = one_more(&range_before(&query));
    let read = call.read(move |tx| {
        let (list, card) = find_list(tx, viewer, id)?;
        let edges = stored::member_page(tx, id, &range)?;
        let (people, next) = load_edge_cards(tx, viewer, edges)?;
        Ok((viewer.viewer.user == Some(list.owner_id), card, people, next))
    });
    let (is_own, list, people, next) = found_or_exit(call, visit, read.await)?;
    let path = format!("{}/members", list.path());
    let page = ListMembersPage {
        frame: visit.page_frame(call),
        people: if is_own { people.into_iter().map(|person| with_remove_button(person, id)).collect() } else { people },
        list,
        is_own,
        username,
        pager: build_pager(&path, cursor_of(&query).is_none(), next),
    };
    Ok(visit.render_page(call, &page)?)
}

fn with_remove_button(person: PersonCard, list: i64) -> PersonCard {
    PersonCard { actions: vec![(format!("unlist {list}").into(), "Remove")], ..person }
}

pub(crate) async fn add_member(call: RequestContext) -> Result<HttpReply, PageExit> {
    let (visit, form) = MemberVisit::accept_form(&call).await?;
    let user = visit.person.user.id;
    let (id, viewer) = (path_list_id(&call)?, CardViewer::new(&call, &visit));
    let sent = form.text("username");
    let username = sent.trim().trim_start_matches('@').to_owned();
    let named = username.clone();
    let added = call.write(move |tx| {
        find_own_list(tx, viewer, id)?;
        match users::find_by_username(tx, &named)? {
            Some(member) => lists::add_member(tx, user, id, member.id).map(|_| true),
            None => Ok(false),
        }
    });
    let problem = match added.await.split_refusal()? {
        Ok(true) => return Ok(redirect_to(&format!("{}/members", list_path(id)))),
        Ok(false) | Err(Refusal::NotFound(_)) => match username.as_str() {
            "" => "Enter a username.".to_owned(),
            username => format!("There is no account called @{username}."),
        },
        Err(Refusal::RouteNotFound) => return Err(Refusal::RouteNotFound.into()),
        Err(refusal) => error_message(&refusal).to_owned(),
    };
    Ok(render_members(&call, &visit, FormField::invalid(sent, problem)).await?.status(400))
}

/// `GET /{username}/lists`: one's own lists, to add a person to them.
pub(crate) async fn show_add(call: RequestContext) -> Result<HttpReply, PageExit> {
    let visit = MemberVisit::from_call(&call).await?;
    let owner = visit.person.user.id;
    let (username, viewer) = (call.path_text("username")?.to_owned(), CardViewer::new(&call, &visit));
    let query = PageQuery::from_call(&call).unwrap_or_default();
    let range = one_more(&range_before(&query));
    let read = call.read(move |tx| {
        let user = find_profile(tx, &username)?;
        let (lists, next) = load_tab(tx, owner, ListsTab::Own, &range)?;
        let ids: Vec<i64> = lists.iter().map(|list| list.id).collect();
        let joined = stored::lists_with_member(tx, &ids, user.id)?;
        let cards = load_list_cards(tx, viewer, lists)?.into_iter();
        let marked = cards.map(|card| {
            let is_member = joined.iter().any(|id| id.to_string() == card.id);
            (card, is_member)
        });
        Ok((user, marked.collect::<Vec<_>>(), next))
    });
    let (user, lists, next) = found_or_exit(&call, &visit, read.await)?;
    let path = format!("/{}/lists", user.username);
    let page = AddToListPage {
        frame: visit.page_frame(&call),
        user_id: user.id.to_string(),
        username: user.username,
        lists,
        pager: build_pager(&path, cursor_of(&query).is_none(), next),
    };
    Ok(visit.render_page(&call, &page)?)
}
