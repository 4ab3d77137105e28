//! `/compose`: writing posts, replies and quotes, and editing posts.

use std::sync::Arc;

use base::{AccountTimeZone, Error, Fault, Id, MediaId, PostId, Refusal, SplitRefusal, Time, UserId};
use network::polls::NewPoll;
use network::posts::{self, NewPost, PostAuthor};
use network::unpublished_posts;
use pages::members::{
    AttachedMedia, CommunityTarget, DRAFTS_PATH, HOME_PATH, POLL_DURATIONS, SCHEDULED_PATH, TargetPost, WritePostPage,
    WriteTarget,
};
use pages::{FormField, Notice};
use portal::submitted_forms::{is_submitted, new_form_id, write_once};
use portal::{
    MemberVisit, PageExit, PageQuery, SESSION_CHANGED, UploadSubmission, compose_box, found_or_exit,
    post_error_message, redirect_to, run_text_form,
};
use store::Tx;
use store::unpublished_posts::UnpublishedPost;
use store::users::User;
use web::HttpReply;
use web::error_formats::error_message;
use web::request_context::RequestContext;
use web::uploads::UploadForm;

use crate::attachments::{CHOOSE_AGAIN, MAX_ATTACHED, attach_file, list_attached};
use crate::communities::community_path;
use crate::drafts::parse_publication_time;
use crate::post_cards::CardViewer;
use crate::profile::load_ordered_cards;

const CHOICE_FIELDS: [&str; 4] = ["choice1", "choice2", "choice3", "choice4"];

/// What a person has entered.
#[derive(Clone, Default)]
struct PostDraft {
    text: String,
    next: String,
    in_reply_to: Option<PostId>,
    quote: Option<PostId>,
    edit_of: Option<PostId>,
    media: Vec<MediaId>,
    /// Of a file that is not attached yet.
    description: String,
    choices: Vec<String>,
    poll_minutes: String,
    reply_settings: String,
    /// The stored draft or scheduled post that is edited.
    stored_id: Option<i64>,
    publish_at: String,
    community: Option<i64>,
    /// Whether the followers are shown a post to a community too.
    is_shared: bool,
    /// Whether it was sent in the form, so that its text must not be lost.
    is_from_form: bool,
}

/// Why a draft was refused, by the part of the form.
#[derive(Default)]
struct DraftProblems {
    text: Option<String>,
    media: Option<String>,
    poll: Option<String>,
    publish_at: Option<String>,
}

pub(crate) async fn show(call: RequestContext) -> Result<HttpReply, PageExit> {
    let visit = MemberVisit::from_call(&call).await?;
    let query = PageQuery::from_call(&call).unwrap_or_default();
    let draft = match query.get("draft") {
        None => PostDraft::from_query(&query),
        Some(id) => {
            let (id, user) = (Id::<()>::parse(id), visit.person.user.id);
            let found = call.read(move |tx| {
                let id = id.ok_or(Refusal::RouteNotFound)?;
                unpublished_posts::find_own(tx, user, id.get())
            });
            PostDraft::from_stored(found_or_exit(&call, &visit, found.await)?, &visit.person.zone)
        }
    };
    show_draft(&call, &visit, draft, DraftProblems::default()).await
}

pub(crate) async fn show_edit(call: RequestContext) -> Result<HttpReply, PageExit> {
    let visit = MemberVisit::from_call(&call).await?;
    let (id, user): (PostId, _) = (call.path_id("id")?, visit.person.user.id);
    let found = call.read(move |tx| {
        let post = store::posts::find_by_id(tx, id)?.filter(|post| post.author_id == user);
        post.ok_or_else(|| Refusal::RouteNotFound.into())
    });
    let post = found_or_exit(&call, &visit, found.await)?;
    let draft = PostDraft {
        media: post.media_keys.split(',').filter_map(|key| Id::parse(key.split_once('_')?.1)).collect(),
        text: post.text,
        edit_of: Some(id),
        next: format!("/{}/status/{id}", visit.person.user.username),
        ..PostDraft::default()
    };
    show_draft(&call, &visit, draft, DraftProblems::default()).await
}

pub(crate) async fn submit(call: RequestContext) -> Result<HttpReply, PageExit> {
    run_text_form(call, handle_form, show_again).await
}

async fn show_again(submission: Arc<UploadSubmission>) -> Result<HttpReply, PageExit> {
    let UploadSubmission { call, visit, form, .. } = &*submission;
    let draft = PostDraft::from_form(form);
    if is_submitted(call, visit.person.user.id, form.text("form").unwrap_or_default()).await? {
        return Ok(redirect_to(&draft.next));
    }
    let problems = DraftProblems {
        text: Some(SESSION_CHANGED.to_owned()),
        media: form.media.as_ref().map(|_| CHOOSE_AGAIN.to_owned()),
        ..DraftProblems::default()
    };
    let draft = keep_own_posts(call, visit.person.user.id, draft).await?;
    Ok(show_draft(call, visit, draft, problems).await?.status(403))
}

/// Whoever has signed in as somebody else writes a new post, rather than editing what another account has written.
async fn keep_own_posts(call: &RequestContext, user: UserId, draft: PostDraft) -> Result<PostDraft, Error> {
    let (stored, edited) = (draft.stored_id, draft.edit_of);
    let read = call.read(move |tx| {
        let stored = stored.map(|id| store::unpublished_posts::find_by_id(tx, id)).transpose()?.flatten();
        let edited = edited.map(|id| store::posts::find_by_id(tx, id)).transpose()?.flatten();
        Ok((stored.filter(|post| post.user_id == user), edited.filter(|post| post.author_id == user)))
    });
    let (stored, edited) = read.await?;
    Ok(PostDraft { stored_id: stored.map(|post| post.id), edit_of: edited.map(|post| post.id), ..draft })
}

async fn handle_form(submission: Arc<UploadSubmission>) -> Result<HttpReply, PageExit> {
    let UploadSubmission { call, visit, uploads, form } = &*submission;
    let mut draft = PostDraft::from_form(form);
    let mut problems = DraftProblems::default();
    let form_id = form.text("form").unwrap_or_default();
    let act = form.text("act").unwrap_or_default();
    let removed = act.strip_prefix("remove ").map(MediaId::parse);
    draft.media.retain(|id| removed != Some(Some(*id)));
    let (is_attaching, is_shown) = (act == "attach", act == "show" || removed.is_some());
    if let Some(file) = &form.media {
        if is_submitted(call, visit.person.user.id, form_id).await? {
            return Ok(redirect_to(&draft.next));
        }
        match attach_file(call, uploads, visit.person.user.id, file, &draft.description).await? {
            Ok(id) => problems.media = draft.add_media(call, visit.person.user.id, id).await?,
            Err(problem) => problems.media = Some(problem),
        }
    } else if is_attaching {
        problems.media = Some("Choose a file.".to_owned());
    }
    if is_attaching || is_shown || problems.media.is_some() {
        let status = if problems.media.is_some() { 400 } else { 200 };
        return Ok(show_draft(call, visit, draft, problems).await?.status(status));
    }
    match act {
        "draft" if draft.edit_of.is_none() => save_draft(call, visit, draft, form_id, None).await,
        "schedule" if draft.edit_of.is_none() => {
            if let Some(at) = parse_publication_time(&draft.publish_at, &visit.person.zone) {
                return save_draft(call, visit, draft, form_id, Some(at)).await;
            }
            problems.publish_at = Some("Choose a date and a time, such as 2030-05-21T09:30.".to_owned());
            Ok(show_draft(call, visit, draft, problems).await?.status(400))
        }
        _ if draft.edit_of.is_none() && !draft.publish_at.is_empty() => {
            problems.publish_at = Some(
                "A time is set. Choose “Schedule” to publish the post then, or clear the time to post it now."
                    .to_owned(),
            );
            Ok(show_draft(call, visit, draft, problems).await?.status(400))
        }
        _ => publish(call, visit, draft, form_id).await,
    }
}

/// Saves a draft, or a scheduled post if there is a time.
async fn save_draft(
    call: &RequestContext,
    visit: &MemberVisit,
    draft: PostDraft,
    form_id: &str,
    publish_at: Option<Time>,
) -> Result<HttpReply, PageExit> {
    let user = visit.person.user.id;
    let next = if publish_at.is_some() { SCHEDULED_PATH } else { DRAFTS_PATH };
    let (new, stored) = (draft.to_new_post(), draft.stored_id);
    let write = write_once(call, user, form_id, move |tx| unpublished_posts::save(tx, user, stored, &new, publish_at));
    match write.await.split_refusal()? {
        Ok(None) => Ok(redirect_to(next)),
        Ok(Some(id)) => Ok(redirect_to(&format!("{next}#d{id}"))),
        Err(refusal) => {
            let problems = draft.problems(&visit.person.user, &refusal);
            Ok(show_draft(call, visit, draft, problems).await?.status(400))
        }
    }
}

async fn publish(
    call: &RequestContext,
    visit: &MemberVisit,
    draft: PostDraft,
    form_id: &str,
) -> Result<HttpReply, PageExit> {
    let user = visit.person.user.id;
    let next = portal::local_path(&draft.next).unwrap_or(HOME_PATH).to_owned();
    let (new, is_edit, stored) = (draft.to_new_post(), draft.edit_of.is_some(), draft.stored_id);
    let author = PostAuthor { user_id: user, app_id: None, self_serve: false };
    let write = write_once(call, user, form_id, move |tx| match (stored, new.edit_of) {
        (Some(id), _) => unpublished_posts::publish_instead(tx, user, id, &new),
        (None, None) => posts::create(tx, &author, &new),
        (None, Some(id)) => {
            // The form has no field for a card, which excludes media.
            let card = store::posts::find_by_id(tx, id)?.map(|post| post.card_uri);
            let mut new = new.clone();
            if let Some(uri) = card.filter(|_| new.media_ids.is_empty())
                && posts::has_card(tx, &uri)?
            {
                new.card_uri = uri;
            }
            posts::create(tx, &author, &new)
        }
    });
    match write.await.split_refusal()? {
        Ok(None) => Ok(redirect_to(&next)),
        Ok(Some(post)) if is_edit => Ok(redirect_to(&format!("/{}/status/{}", visit.person.user.username, post.id))),
        Ok(Some(post)) => Ok(redirect_to(&format!("{next}#p{}", post.id))),
        Err(refusal) => {
            let problems = draft.problems(&visit.person.user, &refusal);
            Ok(show_draft(call, visit, draft, problems).await?.status(400))
        }
    }
}

async fn show_draft(
    call: &RequestContext,
    visit: &MemberVisit,
    draft: PostDraft,
    problems: DraftProblems,
) -> Result<HttpReply, PageExit> {
    let (viewer, asked, user) = (CardViewer::new(call, visit), draft.clone(), visit.person.user.id);
    let read = call.read(move |tx| {
        let target = match load_target(tx, viewer, &asked) {
            Err(Error::Refused(_)) if asked.stored_id.is_some() || asked.is_from_form => None,
            loaded => Some(loaded?),
        };
        let community = asked.community.map(|id| load_community_target(tx, id, asked.is_shared));
        let community = match community.transpose() {
            Err(Error::Refused(_)) if asked.is_from_form => None,
            loaded => loaded?,
        };
        Ok((target, community, list_attached(tx, user, &asked.media)?))
    });
    let (target, community, attached) = found_or_exit(call, visit, read.await)?;
    let mut frame = visit.page_frame(call);
    if target.is_none() {
        let text =
            "The post that this one replies to, quotes or edits is not available any more, so it stands alone now.";
        frame.notices.push(Notice::info(text));
    }
    let page = WritePostPage {
        frame,
        compose: compose_box(
            &visit.person.user,
            FormField { value: draft.text, error: problems.text },
            new_form_id(call)?,
        ),
        next: draft.next,
        target: target.unwrap_or(WriteTarget::New),
        community,
        attached: attached.into_iter().map(|(id, description)| AttachedMedia { id, description }).collect(),
        file: FormField { value: draft.description, error: problems.media },
        poll_choices: draft.choices,
        poll: FormField { value: draft.poll_minutes, error: problems.poll },
        reply_settings: draft.reply_settings,
        draft_id: draft.stored_id.map(|id| id.to_string()).unwrap_or_default(),
        publish_at: FormField { value: draft.publish_at, error: problems.publish_at },
    };
    Ok(visit.render_page(call, &page)?)
}

fn load_community_target(tx: &mut Tx<'_>, id: i64, is_shared: bool) -> Result<CommunityTarget, Error> {
    let community = store::communities::find_by_id(tx, id)?.ok_or(Refusal::RouteNotFound)?;
    let is_closed = network::communities::is_closed(&community);
    Ok(CommunityTarget { id: id.to_string(), name: community.name, is_closed, is_shared })
}

/// Refused if the viewer may not see the post that is replied to, quoted or edited.
fn load_target(tx: &mut Tx<'_>, viewer: CardViewer, draft: &PostDraft) -> Result<WriteTarget, Error> {
    let (id, to_target): (PostId, fn(TargetPost) -> WriteTarget) = match (draft.in_reply_to, draft.quote, draft.edit_of)
    {
        (Some(id), _, _) => (id, WriteTarget::Reply),
        (None, Some(id), _) => (id, WriteTarget::Quote),
        (None, None, Some(id)) => (id, WriteTarget::Edit),
        (None, None, None) => return Ok(WriteTarget::New),
    };
    let card = load_ordered_cards(tx, viewer, &[id])?.pop().ok_or(Refusal::RouteNotFound)?;
    let text = card.plain_text();
    Ok(to_target((card.id, card.username, text)))
}

impl PostDraft {
    fn from_query(query: &PageQuery) -> Self {
        let get = |name| query.get(name).unwrap_or_default();
        let in_reply_to = PostId::parse(get("in_reply_to"));
        let community = Id::<()>::parse(get("community")).map(Id::get);
        Self {
            text: get("text").to_owned(),
            next: community.map_or_else(|| HOME_PATH.to_owned(), community_path),
            community,
            in_reply_to,
            quote: PostId::parse(get("quote")).filter(|_| in_reply_to.is_none()),
            poll_minutes: POLL_DURATIONS[1].0.to_owned(),
            ..Self::default()
        }
    }

    fn from_stored(post: UnpublishedPost, zone: &AccountTimeZone) -> Self {
        let choices = unpublished_posts::poll_choices(&post);
        let default_minutes = POLL_DURATIONS[1].0.to_owned();
        Self {
            text: post.text,
            next: post.community_id.map_or_else(|| HOME_PATH.to_owned(), community_path),
            in_reply_to: post.in_reply_to_post_id,
            quote: post.quoted_post_id,
            edit_of: None,
            media: post.media_ids,
            description: String::new(),
            poll_minutes: if choices.is_empty() { default_minutes } else { post.poll_minutes.to_string() },
            choices,
            reply_settings: post.reply_settings,
            stored_id: Some(post.id),
            publish_at: post.scheduled_at.map(|at| zone.format_local(at)).unwrap_or_default(),
            community: post.community_id,
            is_shared: post.shared,
            is_from_form: false,
        }
    }

    fn from_form(form: &UploadForm) -> Self {
        let get = |name| form.text(name).unwrap_or_default();
        // One too many is refused when the post is written.
        let media = get("media_ids").split(',').filter_map(Id::parse).take(MAX_ATTACHED + 1);
        let choices = CHOICE_FIELDS.iter().filter_map(|name| form.text(name)).map(str::trim);
        Self {
            text: get("text").replace("\r\n", "\n"),
            next: get("next").to_owned(),
            in_reply_to: PostId::parse(get("in_reply_to")),
            quote: PostId::parse(get("quote")),
            edit_of: PostId::parse(get("edit_of")),
            media: media.collect(),
            description: get("description").to_owned(),
            choices: choices.filter(|text| !text.is_empty()).map(str::to_owned).collect(),
            poll_minutes: form.text("poll_minutes").unwrap_or(POLL_DURATIONS[1].0).to_owned(),
            reply_settings: get("reply_settings").to_owned(),
            stored_id: Id::<()>::parse(get("draft")).map(Id::get),
            publish_at: get("publish_at").to_owned(),
            community: Id::<()>::parse(get("community")).map(Id::get),
            is_shared: form.text("share").is_some(),
            is_from_form: true,
        }
    }

    /// Adds a stored file, unless a post cannot have it together with the others; returns why.
    async fn add_media(&mut self, call: &RequestContext, user: UserId, id: MediaId) -> Result<Option<String>, Fault> {
        let media = [&*self.media, &[id]].concat();
        let ids = media.clone();
        let found = call.read(move |tx| network::media::find_attachable_media(tx, user, &ids)).await;
        Ok(match found.split_refusal()? {
            Ok(_) => {
                self.media = media;
                self.description.clear();
                None
            }
            Err(refusal) => Some(error_message(&refusal).to_owned()),
        })
    }

    fn to_new_post(&self) -> NewPost {
        let duration_minutes = self.poll_minutes.parse().unwrap_or(0);
        let options = self.choices.clone();
        NewPost {
            text: self.text.clone(),
            reply_to: self.in_reply_to,
            auto_populate_reply_metadata: self.in_reply_to.is_some(),
            quote: self.quote,
            edit_of: self.edit_of,
            media_ids: self.media.clone(),
            poll: (!options.is_empty()).then_some(NewPoll { options, duration_minutes }),
            reply_settings: self.reply_settings.clone(),
            community_id: self.community,
            share_with_followers: self.community.is_some() && self.is_shared,
            ..NewPost::default()
        }
    }

    fn problems(&self, user: &User, refusal: &Refusal) -> DraftProblems {
        let message = Some(post_error_message(user, &self.to_new_post(), refusal));
        let parameter = refusal.first_parameter();
        if parameter.starts_with("poll") {
            DraftProblems { poll: message, ..DraftProblems::default() }
        } else if parameter == "publish_at" {
            DraftProblems { publish_at: message, ..DraftProblems::default() }
        } else if parameter.starts_with("media") || matches!(refusal, Refusal::Legacy { code: 323 | 324, .. }) {
            DraftProblems { media: message, ..DraftProblems::default() }
        } else {
            DraftProblems { text: message, ..DraftProblems::default() }
        }
    }
}
