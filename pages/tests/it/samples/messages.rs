use super::members::{compose_box, text_part};
use super::{HOSTILE, HOSTILE_URL, days_ago, hostile_frame, minutes_ago, signed_in_frame};
use pages::members::{
    AttachedMedia, ConversationItem, ConversationListPage, MessageAttachment, MessageItem, MessageMedia,
    MessageMediaKind, MessageThreadPage, NewMessagePage, PostMedia,
};
use pages::{FormField, PageFrame, Pager};

fn conversation_item(title: &str, username: Option<&str>) -> ConversationItem {
    ConversationItem {
        path: "/messages/7-8".to_owned(),
        title: title.to_owned(),
        username: username.map(str::to_owned),
        avatar: String::new(),
        text: format!("{title} says that the harbour is open until nine, and that boats which come later have to wait"),
        is_own: username.is_some(),
        at: minutes_ago(5),
        unread: if username.is_some() { 0 } else { 100 },
    }
}

pub(crate) fn conversation_list_states() -> Vec<(&'static str, ConversationListPage)> {
    let of = |frame, conversations| ConversationListPage {
        frame,
        conversations,
        pager: Pager { previous: None, next: Some("/messages?before=17".to_owned()) },
    };
    let items = vec![conversation_item("Bob", Some("bob")), conversation_item("Bob, Eve and 2 more", None)];
    vec![
        ("plain", of(signed_in_frame(), items)),
        ("empty", of(signed_in_frame(), Vec::new())),
        ("hostile", of(hostile_frame(), vec![conversation_item(HOSTILE, Some(HOSTILE))])),
    ]
}

fn message_item(id: i64, text: &str, is_own: bool) -> MessageItem {
    MessageItem {
        id: id.to_string(),
        name: "Bob".to_owned(),
        username: "bob".to_owned(),
        text: vec![text_part(text, None)],
        media: None,
        is_own,
        at: days_ago(1),
        is_membership: false,
    }
}

fn message_media(kind: MessageMediaKind, description: &str) -> MessageMedia {
    let shown = PostMedia {
        picture: "/messages/files/3/small.jpg".to_owned(),
        video: (kind == MessageMediaKind::Video).then(|| "/messages/files/3/film.mp4".to_owned()),
        description: description.to_owned(),
    };
    MessageMedia { shown: Some(shown), path: "/messages/files/3/whole.jpg".to_owned(), kind }
}

/// A form whose file was stored, and whose next file was refused.
fn message_attachment(text: &str) -> MessageAttachment {
    let stored = AttachedMedia { id: "3".to_owned(), description: text.to_owned() };
    MessageAttachment { file: FormField::invalid("A boat", text), stored: Some(stored) }
}

fn thread_messages() -> Vec<MessageItem> {
    vec![
        MessageItem { is_membership: true, ..message_item(1, "You added Bob", true) },
        message_item(2, "Is the harbour open?", true),
        MessageItem {
            media: Some(message_media(MessageMediaKind::Photo, "The harbour at night")),
            ..message_item(3, "Until nine", false)
        },
        MessageItem {
            media: Some(message_media(MessageMediaKind::Video, "")),
            text: Vec::new(),
            ..message_item(4, "", true)
        },
        MessageItem {
            media: Some(MessageMedia { shown: None, ..message_media(MessageMediaKind::Gif, "") }),
            ..message_item(5, "Look", false)
        },
    ]
}

pub(crate) fn message_thread_states() -> Vec<(&'static str, MessageThreadPage)> {
    let of = |frame: PageFrame, title: &str, messages| MessageThreadPage {
        frame,
        title: title.to_owned(),
        others: vec![(title.to_owned(), "bob".to_owned())],
        messages,
        older: None,
        is_newest: true,
        events: Some("/messages/7-8/live?after=5".to_owned()),
        path: "/messages/7-8".to_owned(),
        compose: compose_box(FormField::default()),
        attachment: MessageAttachment::default(),
        closed_because: None,
    };
    let older = MessageThreadPage {
        older: Some("/messages/7-8?before=17".to_owned()),
        is_newest: false,
        events: None,
        ..of(signed_in_frame(), "Bob", thread_messages())
    };
    let closed = MessageThreadPage {
        closed_because: Some("@bob does not accept messages from you.".to_owned()),
        ..of(signed_in_frame(), "Bob", thread_messages())
    };
    let refused = MessageThreadPage {
        compose: compose_box(FormField::invalid("", "Write a message or choose a file.")),
        attachment: message_attachment("The file is larger than 5 MB."),
        ..of(signed_in_frame(), "Bob", thread_messages())
    };
    let hostile_message = MessageItem {
        name: HOSTILE.to_owned(),
        username: HOSTILE.to_owned(),
        text: vec![text_part(HOSTILE, Some(HOSTILE_URL))],
        media: Some(message_media(MessageMediaKind::Photo, HOSTILE)),
        ..message_item(4, HOSTILE, false)
    };
    let hostile = MessageThreadPage {
        others: vec![(HOSTILE.to_owned(), HOSTILE.to_owned())],
        compose: compose_box(FormField::invalid(HOSTILE, HOSTILE)),
        attachment: message_attachment(HOSTILE),
        events: Some(HOSTILE.to_owned()),
        ..of(hostile_frame(), HOSTILE, vec![hostile_message])
    };
    vec![
        ("plain", of(signed_in_frame(), "Bob", thread_messages())),
        ("older", older),
        ("empty", of(signed_in_frame(), "Bob", Vec::new())),
        ("closed", closed),
        ("refused", refused),
        ("hostile", hostile),
    ]
}

pub(crate) fn new_message_states() -> Vec<(&'static str, NewMessagePage)> {
    let of = |frame, to, text| NewMessagePage {
        frame,
        to,
        compose: compose_box(text),
        attachment: MessageAttachment::default(),
    };
    let refused = FormField::invalid("bob, eve", "@eve does not accept messages from you.");
    let hostile = || FormField::invalid(HOSTILE, HOSTILE);
    vec![
        ("plain", of(signed_in_frame(), FormField::default(), FormField::default())),
        ("refused", of(signed_in_frame(), refused, FormField::new("Hello"))),
        ("hostile", of(hostile_frame(), hostile(), hostile())),
    ]
}
