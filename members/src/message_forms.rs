//! The forms of direct messages: to a conversation, to one person or to a new group.

use std::sync::Arc;

use base::{Error, Fault, MediaId, Refusal, SplitRefusal, UserId};
use network::messages::{self, ConversationTarget, MAX_GROUP_SIZE, MessageSender, NewMessage};
use network::visibility::{Visibility, may_add_to_group, may_message, profile_visibility};
use pages::members::{AttachedMedia, ComposeBox, MESSAGES_PATH, MessageAttachment, NEW_MESSAGE_PATH, NewMessagePage};
use pages::{FormField, PageErrorKind};
use portal::submitted_forms::{is_submitted, new_form_id, write_once};
use portal::{
    BrowserVisit, MemberVisit, PageExit, PageQuery, SESSION_CHANGED, UploadSubmission, exit_page, redirect_to,
    run_text_form,
};
use store::Tx;
use store::messages::MessageEvent;
use store::users::{self, UserState};
use web::HttpReply;
use web::error_formats::error_message;
use web::request_context::RequestContext;
use web::uploads::UploadForm;

use crate::attachments::{CHOOSE_AGAIN, attach_file, list_attached};
use crate::messages::show_conversation;

/// What a person has entered, with the reasons for which it was refused.
#[derive(Default)]
pub(crate) struct MessageDraft {
    text: FormField,
    /// The description of a file that is not attached yet; the error is that of the file.
    file: FormField,
    media: Option<MediaId>,
}

impl MessageDraft {
    fn from_form(form: &UploadForm) -> Self {
        let text = form.text("text").unwrap_or_default().replace("\r\n", "\n");
        let media = form.text("media_id").and_then(MediaId::parse);
        Self { text: FormField::new(text), file: FormField::new(form.text("description").unwrap_or_default()), media }
    }

    /// From a form that was sent in another session, and whose file is not kept.
    fn from_expired_form(form: &UploadForm) -> Self {
        let mut draft = Self::from_form(form);
        draft.text.error = Some(SESSION_CHANGED.to_owned());
        draft.file.error = form.media.as_ref().map(|_| CHOOSE_AGAIN.to_owned());
        draft
    }

    /// Stores the file of the form, if there is one; returns false if it is refused.
    async fn attach(&mut self, submission: &UploadSubmission) -> Result<bool, Error> {
        let UploadSubmission { call, visit, uploads, form } = submission;
        let Some(file) = &form.media else { return Ok(true) };
        match attach_file(call, uploads, visit.person.user.id, file, &self.file.value).await? {
            Ok(id) => {
                self.media = Some(id);
                self.file.value.clear();
            }
            Err(problem) => self.file.error = Some(problem),
        }
        Ok(self.file.error.is_none())
    }

    fn to_new_message(&self) -> NewMessage {
        NewMessage { text: self.text.value.clone(), media: self.media }
    }

    fn with_problem(mut self, refusal: &Refusal) -> Self {
        let parameter = refusal.first_parameter();
        if parameter.starts_with("attachments") {
            self.media = None;
            self.file.error = Some(error_message(refusal).to_owned());
        } else if parameter.is_empty() {
            self.text.error = Some(error_message(refusal).to_owned());
        } else {
            self.text.error = Some("Write a message or choose a file.".to_owned());
        }
        self
    }

    pub(crate) async fn load_fields(
        self,
        call: &RequestContext,
        user: UserId,
    ) -> Result<(FormField, MessageAttachment), Error> {
        let stored = match self.media {
            Some(id) => call.read(move |tx| Ok(list_attached(tx, user, &[id])?)).await?.pop(),
            None => None,
        };
        let stored = stored.map(|(id, description)| AttachedMedia { id, description });
        Ok((self.text, MessageAttachment { file: self.file, stored }))
    }
}

pub(crate) async fn send(call: RequestContext) -> Result<HttpReply, PageExit> {
    run_text_form(call, send_to_conversation, show_conversation_again).await
}

async fn show_conversation_again(submission: Arc<UploadSubmission>) -> Result<HttpReply, PageExit> {
    let UploadSubmission { call, visit, form, .. } = &*submission;
    let user = visit.person.user.id;
    if is_submitted(call, user, form.text("form").unwrap_or_default()).await? {
        return Ok(redirect_to(&format!("{MESSAGES_PATH}/{}", call.path_text("conversation")?)));
    }
    let draft = MessageDraft::from_expired_form(form);
    match show_conversation(call, visit, user, draft).await {
        // It is a conversation of the person who was signed in before.
        Err(PageExit::Error(Error::Refused(Refusal::RouteNotFound))) => {
            Err(exit_page(call, visit, PageErrorKind::FormExpired))
        }
        shown => Ok(shown?.status(403)),
    }
}

async fn send_to_conversation(submission: Arc<UploadSubmission>) -> Result<HttpReply, PageExit> {
    let UploadSubmission { call, visit, form, .. } = &*submission;
    let user = visit.person.user.id;
    let name = call.path_text("conversation")?.to_owned();
    let path = format!("{MESSAGES_PATH}/{name}");
    let form_id = form.text("form").unwrap_or_default();
    if is_submitted(call, user, form_id).await? {
        return Ok(redirect_to(&path));
    }
    let mut draft = MessageDraft::from_form(form);
    let asked = name.clone();
    let is_open = call.read(move |tx| accepts_messages(tx, user, &asked)).await?;
    // A message that is refused anyway leaves no file.
    if is_open && !draft.attach(&submission).await? {
        return Ok(show_conversation(call, visit, user, draft).await?.status(400));
    }
    let (sender, new) = (MessageSender { user_id: user, app_id: None }, draft.to_new_message());
    let sent = write_once(call, user, form_id, move |tx| messages::send_to_conversation(tx, &sender, &name, &new));
    match sent.await.split_refusal()? {
        Ok(None) => Ok(redirect_to(&path)),
        Ok(Some(sent)) => Ok(redirect_to(&format!("{path}#m{}", sent.id))),
        Err(Refusal::NotFound(_)) => Err(Refusal::RouteNotFound.into()),
        Err(refusal) => {
            let draft = draft.with_problem(&refusal);
            Ok(show_conversation(call, visit, user, draft).await?.status(400))
        }
    }
}

/// Refused if the user is not in the conversation.
fn accepts_messages(tx: &mut Tx<'_>, user: UserId, name: &str) -> Result<bool, Error> {
    match messages::find_conversation(tx, user, name)? {
        None => Err(Refusal::RouteNotFound.into()),
        Some(ConversationTarget::Group(_)) => Ok(true),
        Some(ConversationTarget::Direct(other, _)) => match users::find_by_id(tx, other)? {
            Some(other) => Ok(may_message(tx, user, &other)?),
            None => Ok(false),
        },
    }
}

pub(crate) async fn show_new(call: RequestContext) -> Result<HttpReply, PageExit> {
    let visit = MemberVisit::from_call(&call).await?;
    let user = visit.person.user.id;
    let query = PageQuery::from_call(&call).unwrap_or_default();
    let to = FormField::new(query.get("to").unwrap_or_default());
    render_new(&call, &visit, user, to, MessageDraft::default()).await
}

pub(crate) async fn redirect_to_form(call: RequestContext) -> Result<HttpReply, PageExit> {
    MemberVisit::from_call(&call).await?;
    let query = PageQuery::from_call(&call).unwrap_or_default();
    let recipient = query.get("recipient_id").and_then(UserId::parse);
    let found = call.read(move |tx| {
        let user = recipient.map(|id| users::find_by_id(tx, id)).transpose()?.flatten();
        Ok(user.filter(|user| user.state == UserState::Active))
    });
    Ok(match found.await? {
        Some(user) => redirect_to(&format!("{NEW_MESSAGE_PATH}?to={}", user.username)),
        None => redirect_to(NEW_MESSAGE_PATH),
    })
}

async fn render_new(
    call: &RequestContext,
    visit: &BrowserVisit,
    user: UserId,
    to: FormField,
    draft: MessageDraft,
) -> Result<HttpReply, PageExit> {
    let (text, attachment) = draft.load_fields(call, user).await?;
    let compose = ComposeBox { text, form_id: new_form_id(call)?, help: String::new() };
    let status =
        if to.error.is_some() || compose.text.error.is_some() || attachment.file.error.is_some() { 400 } else { 200 };
    let page = NewMessagePage { frame: visit.page_frame(call), to, compose, attachment };
    Ok(visit.render_page(call, &page)?.status(status))
}

pub(crate) async fn send_new(call: RequestContext) -> Result<HttpReply, PageExit> {
    run_text_form(call, send_first_message, show_new_again).await
}

async fn show_new_again(submission: Arc<UploadSubmission>) -> Result<HttpReply, PageExit> {
    let UploadSubmission { call, visit, form, .. } = &*submission;
    let user = visit.person.user.id;
    if is_submitted(call, user, form.text("form").unwrap_or_default()).await? {
        return Ok(redirect_to(MESSAGES_PATH));
    }
    let to = FormField::new(form.text("to").unwrap_or_default());
    let draft = MessageDraft::from_expired_form(form);
    Ok(render_new(call, visit, user, to, draft).await?.status(403))
}

async fn send_first_message(submission: Arc<UploadSubmission>) -> Result<HttpReply, PageExit> {
    let UploadSubmission { call, visit, form, .. } = &*submission;
    let user = visit.person.user.id;
    let form_id = form.text("form").unwrap_or_default();
    if is_submitted(call, user, form_id).await? {
        return Ok(redirect_to(MESSAGES_PATH));
    }
    let mut draft = MessageDraft::from_form(form);
    let to = form.text("to").unwrap_or_default().to_owned();
    // First, so that a chosen file is kept if something else is wrong.
    if !draft.attach(&submission).await? {
        return render_new(call, visit, user, FormField::new(to), draft).await;
    }
    let named = to.clone();
    let recipients = match call.read(move |tx| Ok(find_recipients(tx, user, &named)?)).await? {
        Ok(recipients) => recipients,
        Err(problem) => return render_new(call, visit, user, FormField::invalid(to, problem), draft).await,
    };
    let new = draft.to_new_message();
    let sent = write_once(call, user, form_id, move |tx| send_to_recipients(tx, user, &recipients, &new));
    match sent.await.split_refusal()? {
        Ok(None) => Ok(redirect_to(MESSAGES_PATH)),
        Ok(Some(sent)) => Ok(redirect_to(&format!("{MESSAGES_PATH}/{}#m{}", sent.conversation, sent.id))),
        Err(refusal) => render_new(call, visit, user, FormField::new(to), draft.with_problem(&refusal)).await,
    }
}

/// Sends to one person, or to a new group.
fn send_to_recipients(
    tx: &mut Tx<'_>,
    user: UserId,
    recipients: &[UserId],
    new: &NewMessage,
) -> Result<MessageEvent, Error> {
    let sender = MessageSender { user_id: user, app_id: None };
    match recipients {
        [one] => messages::send_to_user(tx, &sender, *one, new),
        several => messages::create_group(tx, &sender, several, new),
    }
}

/// The people whom a text names, without the user; the inner error is a sentence about them.
fn find_recipients(tx: &mut Tx<'_>, user: UserId, named: &str) -> Result<Result<Vec<UserId>, String>, Fault> {
    let names = named.split(|letter: char| letter == ',' || letter.is_whitespace());
    let names: Vec<&str> = names.map(|name| name.trim_start_matches('@')).filter(|name| !name.is_empty()).collect();
    if names.len() >= MAX_GROUP_SIZE {
        return Ok(Err(format!("A group has at most {MAX_GROUP_SIZE} people, with you.")));
    }
    let is_accepted = if names.len() > 1 { may_add_to_group } else { may_message };
    let (mut recipients, mut unknown, mut closed) = (Vec::new(), Vec::new(), Vec::new());
    for name in names {
        let found = users::find_by_username(tx, name)?;
        match found.filter(|found| profile_visibility(found) != Visibility::Missing) {
            None => unknown.push(name),
            Some(found) if found.id == user || recipients.contains(&found.id) => {}
            Some(found) if is_accepted(tx, user, &found)? => recipients.push(found.id),
            Some(_) => closed.push(name),
        }
    }
    if !unknown.is_empty() {
        return Ok(Err(format!("There is no account called {}.", join_usernames(&unknown))));
    }
    if !closed.is_empty() {
        return Ok(Err(refuse_messages(&closed)));
    }
    if recipients.is_empty() {
        return Ok(Err("Enter the username of someone else.".to_owned()));
    }
    Ok(Ok(recipients))
}

pub(crate) fn refuse_messages(usernames: &[&str]) -> String {
    let verb = if usernames.len() == 1 { "does" } else { "do" };
    format!("{} {verb} not accept messages from you.", join_usernames(usernames))
}

fn join_usernames(usernames: &[&str]) -> String {
    usernames.iter().map(|username| format!("@{username}")).collect::<Vec<_>>().join(", ")
}
