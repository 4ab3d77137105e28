//! `POST /i/actions`: what the buttons of posts, people, lists, communities and messages do. The field `act` has a verb,
//! an id and, for votes, the number of a choice, for members of a list, the id of the person, for a
//! folder of bookmarks, its id.

use base::{Error, Id, PostId, Refusal, SplitRefusal, UserId};
use network::relationships::load_relationship;
use network::{
    blocks, bookmarks, communities, follows, likes, lists, messages, mutes, polls, posts, replies, reposts,
    unpublished_posts,
};
use pages::PageErrorKind;
use pages::members::HOME_PATH;
use portal::{MemberVisit, PageExit, exit_page, redirect_to};
use store::Tx;
use store::posts::PostState;
use web::error_formats::{error_message, refusal_status};
use web::request_context::{HttpReply, RequestContext};

pub(crate) async fn submit(call: RequestContext) -> Result<HttpReply, PageExit> {
    let (visit, form) = MemberVisit::accept_form(&call).await?;
    let user = visit.person.user.id;
    let text = form.text("act");
    let action = MemberAction::parse(&text).ok_or_else(|| Refusal::invalid_value("act", &text))?;
    let next = form.return_path().unwrap_or_else(|| HOME_PATH.to_owned());
    match call.write(move |tx| action.execute(tx, user)).await.split_refusal()? {
        Ok(()) => Ok(redirect_to(&action.return_path(&next))),
        Err(refusal) => {
            let message = error_message(&refusal).to_owned();
            match exit_page(&call, &visit, PageErrorKind::Refused(message)) {
                PageExit::Reply(reply) => Ok(reply.status(refused_action_status(&refusal))),
                failed @ PageExit::Error(_) => Err(failed),
            }
        }
    }
}

/// What is not there and what is forbidden are told apart from what is wrong with the action itself.
fn refused_action_status(refusal: &Refusal) -> u16 {
    match refusal_status(refusal) {
        status @ (403 | 404) => status,
        _ => 400,
    }
}

/// What an action does, by what its numbers are; the first id is that of the member who acts.
#[derive(Clone, Copy)]
enum ActionFunction {
    Post(fn(&mut Tx<'_>, UserId, PostId) -> Result<(), Error>),
    User(fn(&mut Tx<'_>, UserId, UserId) -> Result<(), Error>),
    Other(fn(&mut Tx<'_>, UserId, i64) -> Result<(), Error>),
    PostWithNumber(fn(&mut Tx<'_>, UserId, PostId, i64) -> Result<(), Error>),
    ListMember(fn(&mut Tx<'_>, UserId, i64, UserId) -> Result<(), Error>),
}

use ActionFunction::{ListMember, Other, Post, PostWithNumber, User};

const DELETE_POST: &str = "delete";

const ACTIONS: &[(&str, ActionFunction)] = &[
    ("like", Post(|tx, user, id| likes::like(tx, user, id).map(drop))),
    ("unlike", Post(|tx, user, id| likes::unlike(tx, user, id).map(drop))),
    ("repost", Post(|tx, user, id| reposts::repost(tx, user, None, id).map(drop))),
    ("unrepost", Post(|tx, user, id| reposts::undo(tx, user, id).map(drop))),
    ("bookmark", Post(|tx, user, id| bookmarks::add(tx, user, id, None).map(drop))),
    ("unbookmark", Post(|tx, user, id| bookmarks::remove(tx, user, id).map(drop))),
    ("hide", Post(|tx, user, id| replies::set_hidden(tx, user, id, true))),
    ("unhide", Post(|tx, user, id| replies::set_hidden(tx, user, id, false))),
    (DELETE_POST, Post(delete_post)),
    ("follow", User(|tx, user, other| follows::follow(tx, user, other).map(drop))),
    ("unfollow", User(|tx, user, other| Ok(follows::unfollow(tx, user, other).map(drop)?))),
    ("mute", User(mutes::mute)),
    ("unmute", User(|tx, user, other| Ok(mutes::unmute(tx, user, other).map(drop)?))),
    ("block", User(blocks::block)),
    ("unblock", User(|tx, user, other| Ok(blocks::unblock(tx, user, other).map(drop)?))),
    ("approve", User(|tx, user, other| answer_request(tx, user, other, true))),
    ("deny", User(|tx, user, other| answer_request(tx, user, other, false))),
    ("follow-list", Other(|tx, user, id| lists::follow(tx, user, id).map(drop))),
    ("unfollow-list", Other(|tx, user, id| lists::unfollow(tx, user, id).map(drop))),
    ("pin-list", Other(|tx, user, id| lists::pin(tx, user, id).map(drop))),
    ("unpin-list", Other(|tx, user, id| lists::unpin(tx, user, id).map(drop))),
    ("join-community", Other(|tx, user, id| communities::join(tx, id, user, false).map(drop))),
    ("leave-community", Other(|tx, user, id| communities::leave(tx, id, user).map(drop))),
    ("post-draft", Other(|tx, user, id| unpublished_posts::publish_now(tx, user, id).map(drop))),
    ("delete-draft", Other(|tx, user, id| unpublished_posts::delete(tx, user, id).map(drop))),
    ("delete-message", Other(delete_message)),
    ("vote", PostWithNumber(|tx, user, id, choice| polls::vote(tx, user, id, choice).map(drop))),
    ("add-to-folder", PostWithNumber(|tx, user, id, folder| bookmarks::add(tx, user, id, Some(folder)).map(drop))),
    (
        "remove-from-folder",
        PostWithNumber(|tx, user, id, folder| bookmarks::remove_from_folder(tx, user, id, folder).map(drop)),
    ),
    ("list", ListMember(|tx, user, list, other| lists::add_member(tx, user, list, other).map(drop))),
    ("unlist", ListMember(|tx, user, list, other| lists::remove_member(tx, user, list, other).map(drop))),
];

/// Does nothing if the button was pressed twice.
fn delete_post(tx: &mut Tx<'_>, user: UserId, id: PostId) -> Result<(), Error> {
    let post = store::posts::find_by_id(tx, id)?.filter(|post| post.author_id == user);
    if post.is_some_and(|post| post.state == PostState::Deleted) { Ok(()) } else { posts::delete(tx, user, id) }
}

/// A request that was answered in this way before, by a button that was pressed twice, is no mistake.
fn answer_request(tx: &mut Tx<'_>, user: UserId, other: UserId, accepts: bool) -> Result<(), Error> {
    let answer = if accepts { follows::approve_request } else { follows::deny_request };
    match answer(tx, user, other) {
        Err(Error::Refused(Refusal::NotFound(_))) if load_relationship(tx, user, other)?.is_followed_by == accepts => {
            Ok(())
        }
        answered => answered,
    }
}

/// Removes one's own copy.
fn delete_message(tx: &mut Tx<'_>, user: UserId, id: i64) -> Result<(), Error> {
    // Gone already if the button was pressed twice.
    if messages::find_event(tx, user, id)?.is_none() { Ok(()) } else { messages::delete_event(tx, user, id) }
}

#[derive(Clone, Copy)]
struct MemberAction {
    verb: &'static str,
    function: ActionFunction,
    id: i64,
    /// The choice, folder or person; 0 for actions that have only an id.
    second: i64,
}

impl MemberAction {
    fn parse(text: &str) -> Option<Self> {
        let parse_number = |id: &str| Id::<()>::parse(id).map(Id::get);
        let (verb, rest) = text.split_once(' ')?;
        let (verb, function) = *ACTIONS.iter().find(|(name, _)| *name == verb)?;
        let (id, second) = match function {
            PostWithNumber(_) | ListMember(_) => rest.split_once(' ')?,
            _ => (rest, "0"),
        };
        Some(Self { verb, function, id: parse_number(id)?, second: parse_number(second)? })
    }

    fn execute(self, tx: &mut Tx<'_>, user: UserId) -> Result<(), Error> {
        match self.function {
            Post(act) => act(tx, user, PostId::new(self.id)),
            User(act) => act(tx, user, UserId::new(self.id)),
            Other(act) => act(tx, user, self.id),
            PostWithNumber(act) => act(tx, user, PostId::new(self.id), self.second),
            ListMember(act) => act(tx, user, self.id, UserId::new(self.second)),
        }
    }

    /// The page that the button was on, at the post unless that was deleted.
    fn return_path(self, next: &str) -> String {
        let id = self.id;
        match self.function {
            Post(_) if self.verb == DELETE_POST && is_thread_of(next, id) => HOME_PATH.to_owned(),
            Post(_) | PostWithNumber(_) if self.verb != DELETE_POST => format!("{next}#p{id}"),
            _ => next.to_owned(),
        }
    }
}

fn is_thread_of(next: &str, id: i64) -> bool {
    let path = next.split(['?', '#']).next().unwrap_or_default();
    path.ends_with(&format!("/status/{id}"))
}

#[cfg(test)]
mod tests {
    use super::MemberAction;

    #[test]
    fn action_is_a_verb_and_an_id() {
        let cases = [
            ("like 7", Some(("like", 7, 0))),
            ("follow 7", Some(("follow", 7, 0))),
            ("vote 7 2", Some(("vote", 7, 2))),
            ("pin-list 7", Some(("pin-list", 7, 0))),
            ("unlist 7 8", Some(("unlist", 7, 8))),
            ("add-to-folder 7 8", Some(("add-to-folder", 7, 8))),
            ("join-community 7", Some(("join-community", 7, 0))),
            ("post-draft 7", Some(("post-draft", 7, 0))),
            ("delete-message 7", Some(("delete-message", 7, 0))),
            ("like", None),
            ("like x", None),
            ("like 7 8", None),
            ("praise 7", None),
            ("vote 7", None),
        ];
        for (text, expected) in cases {
            let action = MemberAction::parse(text).map(|action| (action.verb, action.id, action.second));
            assert_eq!(action, expected, "{text}");
        }
    }
}
