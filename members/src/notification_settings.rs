//! `/settings/notifications`.

use base::Refusal;
use network::notification_settings::{self, NotificationSenders, NotificationSettings};
use pages::Notice;
use pages::members::{NOTIFICATION_SETTINGS_PATH, NotificationSettingItem, NotificationSettingsPage};
use portal::{MemberVisit, PageExit, PageQuery, redirect_to};
use store::interactions::InteractionKind;
use web::request_context::{HttpReply, RequestContext};

/// Kinds with the names of their fields and their labels.
const KINDS: [(InteractionKind, &str, &str); 7] = [
    (InteractionKind::Mention, "mention", "Mentions"),
    (InteractionKind::Reply, "reply", "Replies"),
    (InteractionKind::Quote, "quote", "Quotes"),
    (InteractionKind::Repost, "repost", "Reposts"),
    (InteractionKind::Like, "like", "Likes"),
    (InteractionKind::Follow, "follow", "New followers"),
    (InteractionKind::FollowRequest, "follow_request", "Requests to follow"),
];

pub(crate) async fn show(call: RequestContext) -> Result<HttpReply, PageExit> {
    let visit = MemberVisit::from_call(&call).await?;
    let user = visit.person.user.id;
    let settings = call.read(move |tx| Ok(NotificationSettings::load(tx, user)?)).await?;
    let query = PageQuery::from_call(&call).unwrap_or_default();
    let mut frame = visit.page_frame(&call);
    frame.notices = query.get("done").map(|_| Notice::success("Your changes were saved.")).into_iter().collect();
    let items = KINDS.iter().map(|(kind, field, label)| NotificationSettingItem {
        field,
        label,
        senders: senders_name(settings.find_senders(*kind)),
    });
    Ok(visit.render_page(&call, &NotificationSettingsPage { frame, items: items.collect() })?)
}

pub(crate) async fn submit(call: RequestContext) -> Result<HttpReply, PageExit> {
    let (visit, form) = MemberVisit::accept_form(&call).await?;
    let user = visit.person.user.id;
    let settings = KINDS.iter().map(|(kind, field, _)| {
        let sent = form.text(field);
        let senders = parse_senders(&sent).ok_or_else(|| Refusal::invalid_value(*field, &sent))?;
        Ok((*kind, senders))
    });
    let settings = settings.collect::<Result<Vec<_>, Refusal>>()?;
    call.write(move |tx| notification_settings::save(tx, user, &settings)).await?;
    Ok(redirect_to(&format!("{NOTIFICATION_SETTINGS_PATH}?done=notifications")))
}

const fn senders_name(senders: NotificationSenders) -> &'static str {
    match senders {
        NotificationSenders::Everyone => "everyone",
        NotificationSenders::Followed => "followed",
        NotificationSenders::Nobody => "nobody",
    }
}

fn parse_senders(name: &str) -> Option<NotificationSenders> {
    let all = [NotificationSenders::Everyone, NotificationSenders::Followed, NotificationSenders::Nobody];
    all.into_iter().find(|senders| senders_name(*senders) == name)
}
