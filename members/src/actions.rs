//! `POST /i/actions`: what the buttons of posts, people, lists, communities and messages do. The field `act` has a verb,
//! an id and, for votes, the number of a choice, for members of a list, the id of the person, for a
//! folder of bookmarks, its id.

use base::{Error, Id, PostId, Refusal, SplitRefusal, UserId};
use network::{
    blocks, bookmarks, communities, follows, likes, lists, messages, mutes, polls, posts, replies, reposts,
    unpublished_posts,
};
use pages::PageErrorKind;
use pages::members::HOME_PATH;
use portal::{MemberVisit, PageExit, exit_page, redirect_to, run_page};
use store::Tx;
use web::endpoint::HandlerFuture;
use web::error_formats::{error_message, refusal_status};
use web::request_context::RequestContext;

pub(crate) fn submit(call: RequestContext) -> HandlerFuture {
    run_page(async move {
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
    })
}

/// What is not there and what is forbidden are told apart from what is wrong with the action itself.
fn refused_action_status(refusal: &Refusal) -> u16 {
    match refusal_status(refusal) {
        status @ (403 | 404) => status,
        _ => 400,
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum MemberAction {
    OnPost(PostVerb, PostId),
    OnUser(UserVerb, UserId),
    Vote(PostId, i64),
    OnList(ListVerb, i64),
    /// Adds a person to a list, or removes them.
    SetListMember(bool, i64, UserId),
    /// Puts a post into a folder of bookmarks, or takes it out.
    SetFolder(bool, PostId, i64),
    /// Joins a community, or leaves it.
    SetMembership(bool, i64),
    /// Removes one's own copy.
    DeleteMessage(i64),
    /// Publishes a draft or scheduled post, or deletes it.
    OnDraft(DraftVerb, i64),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PostVerb {
    Like,
    Unlike,
    Repost,
    UndoRepost,
    Bookmark,
    RemoveBookmark,
    Hide,
    Unhide,
    Delete,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum UserVerb {
    Follow,
    Unfollow,
    Mute,
    Unmute,
    Block,
    Unblock,
    Approve,
    Deny,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ListVerb {
    Follow,
    Unfollow,
    Pin,
    Unpin,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum DraftVerb {
    Publish,
    Delete,
}

const POST_VERBS: [(&str, PostVerb); 9] = [
    ("like", PostVerb::Like),
    ("unlike", PostVerb::Unlike),
    ("repost", PostVerb::Repost),
    ("unrepost", PostVerb::UndoRepost),
    ("bookmark", PostVerb::Bookmark),
    ("unbookmark", PostVerb::RemoveBookmark),
    ("hide", PostVerb::Hide),
    ("unhide", PostVerb::Unhide),
    ("delete", PostVerb::Delete),
];

const USER_VERBS: [(&str, UserVerb); 8] = [
    ("follow", UserVerb::Follow),
    ("unfollow", UserVerb::Unfollow),
    ("mute", UserVerb::Mute),
    ("unmute", UserVerb::Unmute),
    ("block", UserVerb::Block),
    ("unblock", UserVerb::Unblock),
    ("approve", UserVerb::Approve),
    ("deny", UserVerb::Deny),
];

const LIST_VERBS: [(&str, ListVerb); 4] = [
    ("follow-list", ListVerb::Follow),
    ("unfollow-list", ListVerb::Unfollow),
    ("pin-list", ListVerb::Pin),
    ("unpin-list", ListVerb::Unpin),
];

const DRAFT_VERBS: [(&str, DraftVerb); 2] = [("post-draft", DraftVerb::Publish), ("delete-draft", DraftVerb::Delete)];

impl MemberAction {
    fn parse(text: &str) -> Option<Self> {
        let (verb, rest) = text.split_once(' ')?;
        if verb == "vote" {
            let (id, choice) = rest.split_once(' ')?;
            return Some(Self::Vote(PostId::parse(id)?, choice.parse().ok()?));
        }
        let parse_number = |id: &str| Id::<()>::parse(id).map(Id::get);
        if verb == "list" || verb == "unlist" {
            let (list, user) = rest.split_once(' ')?;
            return Some(Self::SetListMember(verb == "list", parse_number(list)?, UserId::parse(user)?));
        }
        if verb == "add-to-folder" || verb == "remove-from-folder" {
            let (id, folder) = rest.split_once(' ')?;
            return Some(Self::SetFolder(verb == "add-to-folder", PostId::parse(id)?, parse_number(folder)?));
        }
        if verb == "join-community" || verb == "leave-community" {
            return Some(Self::SetMembership(verb == "join-community", parse_number(rest)?));
        }
        if verb == "delete-message" {
            return Some(Self::DeleteMessage(parse_number(rest)?));
        }
        if let Some((_, verb)) = LIST_VERBS.iter().find(|(name, _)| *name == verb) {
            return Some(Self::OnList(*verb, parse_number(rest)?));
        }
        if let Some((_, verb)) = DRAFT_VERBS.iter().find(|(name, _)| *name == verb) {
            return Some(Self::OnDraft(*verb, parse_number(rest)?));
        }
        if let Some((_, verb)) = POST_VERBS.iter().find(|(name, _)| *name == verb) {
            return Some(Self::OnPost(*verb, PostId::parse(rest)?));
        }
        let (_, verb) = USER_VERBS.iter().find(|(name, _)| *name == verb)?;
        Some(Self::OnUser(*verb, UserId::parse(rest)?))
    }

    fn execute(self, tx: &mut Tx<'_>, user: UserId) -> Result<(), Error> {
        match self {
            Self::OnPost(verb, id) => act_on_post(tx, user, verb, id),
            Self::OnUser(verb, other) => act_on_user(tx, user, verb, other),
            Self::Vote(id, choice) => polls::vote(tx, user, id, choice).map(|_| ()),
            Self::OnList(verb, id) => act_on_list(tx, user, verb, id),
            Self::SetListMember(true, list, other) => lists::add_member(tx, user, list, other).map(|_| ()),
            Self::SetListMember(false, list, other) => lists::remove_member(tx, user, list, other).map(|_| ()),
            Self::SetFolder(true, id, folder) => bookmarks::add(tx, user, id, Some(folder)).map(|_| ()),
            Self::SetFolder(false, id, folder) => bookmarks::remove_from_folder(tx, user, id, folder).map(|_| ()),
            Self::SetMembership(true, id) => communities::join(tx, id, user, false).map(|_| ()),
            Self::SetMembership(false, id) => communities::leave(tx, id, user).map(|_| ()),
            // Gone already if the button was pressed twice.
            Self::DeleteMessage(id) if messages::find_event(tx, user, id)?.is_none() => Ok(()),
            Self::DeleteMessage(id) => messages::delete_event(tx, user, id),
            Self::OnDraft(DraftVerb::Publish, id) => unpublished_posts::publish_now(tx, user, id).map(|_| ()),
            Self::OnDraft(DraftVerb::Delete, id) => unpublished_posts::delete(tx, user, id).map(|_| ()),
        }
    }

    /// The page that the button was on, at the post unless that was deleted.
    fn return_path(self, next: &str) -> String {
        match self {
            Self::OnPost(PostVerb::Delete, id) if next.ends_with(&format!("/status/{id}")) => HOME_PATH.to_owned(),
            Self::OnPost(PostVerb::Delete, _)
            | Self::OnUser(..)
            | Self::OnList(..)
            | Self::SetListMember(..)
            | Self::SetMembership(..)
            | Self::DeleteMessage(_)
            | Self::OnDraft(..) => next.to_owned(),
            Self::OnPost(_, id) | Self::Vote(id, _) | Self::SetFolder(_, id, _) => format!("{next}#p{id}"),
        }
    }
}

fn act_on_post(tx: &mut Tx<'_>, user: UserId, verb: PostVerb, id: PostId) -> Result<(), Error> {
    match verb {
        PostVerb::Like => likes::like(tx, user, id).map(|_| ()),
        PostVerb::Unlike => likes::unlike(tx, user, id).map(|_| ()),
        PostVerb::Repost => reposts::repost(tx, user, None, id).map(|_| ()),
        PostVerb::UndoRepost => reposts::undo(tx, user, id).map(|_| ()),
        PostVerb::Bookmark => bookmarks::add(tx, user, id, None).map(|_| ()),
        PostVerb::RemoveBookmark => bookmarks::remove(tx, user, id).map(|_| ()),
        PostVerb::Hide => replies::set_hidden(tx, user, id, true),
        PostVerb::Unhide => replies::set_hidden(tx, user, id, false),
        PostVerb::Delete => posts::delete(tx, user, id),
    }
}

fn act_on_user(tx: &mut Tx<'_>, user: UserId, verb: UserVerb, other: UserId) -> Result<(), Error> {
    match verb {
        UserVerb::Follow => follows::follow(tx, user, other).map(|_| ()),
        UserVerb::Unfollow => Ok(follows::unfollow(tx, user, other).map(|_| ())?),
        UserVerb::Mute => mutes::mute(tx, user, other),
        UserVerb::Unmute => Ok(mutes::unmute(tx, user, other).map(|_| ())?),
        UserVerb::Block => blocks::block(tx, user, other),
        UserVerb::Unblock => Ok(blocks::unblock(tx, user, other).map(|_| ())?),
        UserVerb::Approve => follows::approve_request(tx, user, other),
        UserVerb::Deny => follows::deny_request(tx, user, other),
    }
}

fn act_on_list(tx: &mut Tx<'_>, user: UserId, verb: ListVerb, id: i64) -> Result<(), Error> {
    let changed = match verb {
        ListVerb::Follow => lists::follow(tx, user, id),
        ListVerb::Unfollow => lists::unfollow(tx, user, id),
        ListVerb::Pin => lists::pin(tx, user, id),
        ListVerb::Unpin => lists::unpin(tx, user, id),
    };
    changed.map(|_| ())
}

#[cfg(test)]
mod tests {
    use base::{PostId, UserId};

    use super::{DraftVerb, ListVerb, MemberAction, PostVerb, UserVerb};

    #[test]
    fn action_is_a_verb_and_an_id() {
        let cases = [
            ("like 7", Some(MemberAction::OnPost(PostVerb::Like, PostId::new(7)))),
            ("follow 7", Some(MemberAction::OnUser(UserVerb::Follow, UserId::new(7)))),
            ("vote 7 2", Some(MemberAction::Vote(PostId::new(7), 2))),
            ("pin-list 7", Some(MemberAction::OnList(ListVerb::Pin, 7))),
            ("unlist 7 8", Some(MemberAction::SetListMember(false, 7, UserId::new(8)))),
            ("add-to-folder 7 8", Some(MemberAction::SetFolder(true, PostId::new(7), 8))),
            ("join-community 7", Some(MemberAction::SetMembership(true, 7))),
            ("post-draft 7", Some(MemberAction::OnDraft(DraftVerb::Publish, 7))),
            ("delete-message 7", Some(MemberAction::DeleteMessage(7))),
            ("like", None),
            ("like x", None),
            ("praise 7", None),
            ("vote 7", None),
        ];
        for (text, action) in cases {
            assert_eq!(MemberAction::parse(text), action, "{text}");
        }
    }
}
