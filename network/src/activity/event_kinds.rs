//! The kinds of events: each stands here once, with what it is called, what causes it, whom it is
//! about, who may subscribe to it and what it tells (spec §6, contract §10.5, §10.6).

use base::Scope;
use store::activity::ActivityDirection::{self, Inbound, Outbound};

/// A kind of events.
#[derive(Clone, Copy, Debug)]
pub struct ActivityEventKind {
    /// What it is called.
    pub name: &'static str,
    /// Another name in use, which a subscriber who says it is answered with; or empty.
    pub alias: &'static str,
    /// Names that are taken, and answered with the present one.
    pub legacy_names: &'static [&'static str],
    /// The entry of the log that causes it; empty where nothing on this platform does.
    pub log_kind: &'static str,
    /// Whom it is about.
    pub concerned_users: &'static [(EventParticipant, ActivityDirection)],
    /// What a subscription must name.
    pub filter: RequiredFilter,
    /// Whether a subscription may name a direction.
    pub directional: bool,
    /// Who may subscribe to it.
    pub access: EventAccess,
    /// What it tells.
    pub payload: EventPayloadKind,
}

/// A user in an entry of the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EventParticipant {
    /// Who did it.
    Actor,
    /// To whom it was done.
    Subject,
    /// The user, or users, whom this member of the body names, the actor aside.
    Named(&'static str),
}

/// What a subscription must name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RequiredFilter {
    /// A user.
    User,
    /// A keyword, and no user.
    Keyword,
    /// Nothing.
    Nothing,
}

/// Who may subscribe to a kind of events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EventAccess {
    /// Every app.
    Public,
    /// Apps that the user has given this scope, or an OAuth 1.0a level that holds it.
    Scoped(Scope),
    /// Enterprise apps.
    Enterprise,
}

/// What a kind of events tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EventPayloadKind {
    /// A post.
    Post,
    /// The ids of a post that is gone and of its author.
    PostDeleted,
    /// A like.
    Like,
    /// The two users of a tie.
    Relationship,
    /// A text before and after.
    Change,
    /// A message.
    Message,
    /// That messages were read.
    Read,
    /// That a message is being written.
    Typing,
    /// A story.
    Story,
    /// The host of a space.
    Space,
    /// A user who takes back what an app was granted.
    Revoke,
    /// Never told.
    Nothing,
}

impl ActivityEventKind {
    const fn new(name: &'static str, concerned_users: &'static [(EventParticipant, ActivityDirection)]) -> Self {
        Self {
            name,
            alias: "",
            legacy_names: &[],
            log_kind: name,
            concerned_users,
            filter: RequiredFilter::User,
            directional: false,
            access: EventAccess::Public,
            payload: EventPayloadKind::Nothing,
        }
    }

    const fn alias(self, twin: &'static str) -> Self {
        Self { alias: twin, ..self }
    }

    const fn legacy_names(self, older: &'static [&'static str]) -> Self {
        Self {
            legacy_names: older,
            ..self
        }
    }

    const fn log_kind(self, log: &'static str) -> Self {
        Self { log_kind: log, ..self }
    }

    const fn filter(self, filter: RequiredFilter) -> Self {
        Self { filter, ..self }
    }

    const fn directional(self) -> Self {
        Self {
            directional: true,
            ..self
        }
    }

    const fn access(self, access: EventAccess) -> Self {
        Self { access, ..self }
    }

    const fn payload(self, payload: EventPayloadKind) -> Self {
        Self { payload, ..self }
    }

    const fn profile_change(name: &'static str) -> Self {
        Self::new(name, &[(EventParticipant::Subject, Outbound)]).payload(EventPayloadKind::Change)
    }

    const fn post_event(name: &'static str, member: &'static [(EventParticipant, ActivityDirection)]) -> Self {
        Self::new(name, member)
            .log_kind("post.create")
            .access(EventAccess::Scoped(Scope::TweetRead))
            .payload(EventPayloadKind::Post)
    }

    const fn relationship_event(name: &'static str, scope: Scope) -> Self {
        Self::new(name, &[(EventParticipant::Actor, Outbound)])
            .access(EventAccess::Scoped(scope))
            .payload(EventPayloadKind::Relationship)
    }

    const fn message_event(name: &'static str, about: &'static [(EventParticipant, ActivityDirection)]) -> Self {
        Self::new(name, about)
            .directional()
            .access(EventAccess::Scoped(Scope::DmRead))
    }

    /// Accepted; this platform has no such thing.
    const fn unsupported_event(name: &'static str, access: EventAccess) -> Self {
        Self::new(name, &[]).log_kind("").access(access)
    }

    /// Whether it may be told only where the user has agreed.
    pub const fn is_private(&self) -> bool {
        matches!(self.access, EventAccess::Scoped(_))
    }

    /// What a subscriber who calls it so is answered with; none where it is not called so.
    fn match_name(&self, name: &str) -> Option<&'static str> {
        if name == self.name || self.legacy_names.contains(&name) {
            return Some(self.name);
        }
        (name == self.alias && !name.is_empty()).then_some(self.alias)
    }
}

const ACTOR: &[(EventParticipant, ActivityDirection)] = &[(EventParticipant::Actor, Outbound)];
const BOTH: &[(EventParticipant, ActivityDirection)] = &[
    (EventParticipant::Actor, Outbound),
    (EventParticipant::Subject, Inbound),
];
const LIKED: &[(EventParticipant, ActivityDirection)] = &[
    (EventParticipant::Actor, Outbound),
    (EventParticipant::Named("author_id"), Inbound),
];
const HOSTS: &[(EventParticipant, ActivityDirection)] = &[
    (EventParticipant::Actor, Outbound),
    (EventParticipant::Named("host_ids"), Outbound),
];
const MENTIONED: &[(EventParticipant, ActivityDirection)] = &[(EventParticipant::Named("mentioned_ids"), Inbound)];
const REPLIED_TO: &[(EventParticipant, ActivityDirection)] = &[(EventParticipant::Named("replied_user_id"), Inbound)];
const QUOTED: &[(EventParticipant, ActivityDirection)] = &[(EventParticipant::Named("quoted_user_id"), Inbound)];
const REPOSTED: &[(EventParticipant, ActivityDirection)] = &[(EventParticipant::Named("author_id"), Inbound)];
const RECIPIENTS: &[(EventParticipant, ActivityDirection)] = &[(EventParticipant::Named("recipient_ids"), Inbound)];

const CHAT: EventAccess = EventAccess::Scoped(Scope::DmRead);

/// Every kind.
pub const EVENT_KINDS: &[ActivityEventKind] = &[
    ActivityEventKind::profile_change("profile.update.bio").legacy_names(&["ProfileBioUpdate"]),
    ActivityEventKind::profile_change("profile.update.profile_picture").legacy_names(&["ProfilePictureUpdate"]),
    ActivityEventKind::profile_change("profile.update.banner_picture").legacy_names(&["ProfileBannerUpdate"]),
    ActivityEventKind::profile_change("profile.update.screenname").legacy_names(&["ProfileScreennameUpdate"]),
    ActivityEventKind::profile_change("profile.update.handle"),
    ActivityEventKind::profile_change("profile.update.geo").legacy_names(&["ProfileGeoUpdate"]),
    ActivityEventKind::profile_change("profile.update.url").legacy_names(&["ProfileUrlUpdate"]),
    ActivityEventKind::profile_change("profile.update.verified_badge")
        .alias("profile.update.verified")
        .legacy_names(&["ProfileVerifiedBadgeUpdate"])
        .log_kind("profile.update.verified"),
    ActivityEventKind::profile_change("profile.update.affiliate_badge")
        .alias("profile.update.affiliate")
        .legacy_names(&["ProfileAffiliateBadgeUpdate"])
        .log_kind("profile.update.affiliate"),
    ActivityEventKind::new("post.create", ACTOR).payload(EventPayloadKind::Post),
    ActivityEventKind::new("post.delete", ACTOR).payload(EventPayloadKind::PostDeleted),
    ActivityEventKind::post_event("post.mention.create", MENTIONED),
    ActivityEventKind::post_event("post.reply.create", REPLIED_TO),
    ActivityEventKind::post_event("post.quote.create", QUOTED),
    ActivityEventKind::post_event("post.repost.create", REPOSTED),
    ActivityEventKind::new("like.create", LIKED)
        .directional()
        .access(EventAccess::Scoped(Scope::LikeRead))
        .payload(EventPayloadKind::Like),
    ActivityEventKind::new("follow.follow", BOTH)
        .directional()
        .payload(EventPayloadKind::Relationship),
    ActivityEventKind::new("follow.unfollow", BOTH)
        .directional()
        .payload(EventPayloadKind::Relationship),
    ActivityEventKind::relationship_event("mute.mute", Scope::MuteRead),
    ActivityEventKind::relationship_event("mute.unmute", Scope::MuteRead),
    ActivityEventKind::relationship_event("block.block", Scope::BlockRead),
    ActivityEventKind::relationship_event("block.unblock", Scope::BlockRead),
    ActivityEventKind::message_event("dm.sent", ACTOR).payload(EventPayloadKind::Message),
    ActivityEventKind::message_event("dm.received", RECIPIENTS).payload(EventPayloadKind::Message),
    ActivityEventKind::message_event("dm.read", RECIPIENTS).payload(EventPayloadKind::Read),
    ActivityEventKind::message_event("dm.indicate_typing", RECIPIENTS).payload(EventPayloadKind::Typing),
    ActivityEventKind::new("spaces.start", HOSTS).payload(EventPayloadKind::Space),
    ActivityEventKind::new("spaces.end", HOSTS).payload(EventPayloadKind::Space),
    ActivityEventKind::new("news.new", &[])
        .filter(RequiredFilter::Keyword)
        .access(EventAccess::Enterprise)
        .payload(EventPayloadKind::Story),
    ActivityEventKind::new("oauth.revoke", &[])
        .filter(RequiredFilter::Nothing)
        .payload(EventPayloadKind::Revoke),
    ActivityEventKind::unsupported_event("chat.received", CHAT).directional(),
    ActivityEventKind::unsupported_event("chat.sent", CHAT).directional(),
    ActivityEventKind::unsupported_event("chat.conversation.join", CHAT)
        .legacy_names(&["chat.conversation_join"])
        .directional(),
    ActivityEventKind::unsupported_event("chat.conversation.member_added", CHAT).directional(),
    ActivityEventKind::unsupported_event("chat.conversation.member_removed", CHAT).directional(),
    ActivityEventKind::unsupported_event("chat.conversation.admin_added", CHAT).directional(),
    ActivityEventKind::unsupported_event("chat.conversation.admin_removed", CHAT).directional(),
    ActivityEventKind::unsupported_event("chat.update.group_name", CHAT).directional(),
    ActivityEventKind::unsupported_event("chat.update.restrictions", CHAT).directional(),
    ActivityEventKind::unsupported_event("broadcast.start", EventAccess::Public),
    ActivityEventKind::unsupported_event("broadcast.end", EventAccess::Public),
    ActivityEventKind::unsupported_event("broadcast.chat", EventAccess::Scoped(Scope::BroadcastRead)),
];

/// The kind that is called so, and what its subscriber is answered with.
pub fn find_event_kind(name: &str) -> Option<(&'static ActivityEventKind, &'static str)> {
    EVENT_KINDS.iter().find_map(|kind| Some((kind, kind.match_name(name)?)))
}

/// The kinds that an entry of the log causes.
pub fn event_kinds_for_log_kind(log: &str) -> impl Iterator<Item = &'static ActivityEventKind> {
    EVENT_KINDS
        .iter()
        .filter(move |kind| kind.log_kind == log && !log.is_empty())
}

const EVENT_NAME_COUNT: usize = count_event_names();

/// Every name that is taken.
pub const EVENT_NAMES: [&str; EVENT_NAME_COUNT] = collect_event_names();

const fn count_event_names() -> usize {
    let (mut count, mut rest) = (0, EVENT_KINDS);
    while let [kind, tail @ ..] = rest {
        count += 1 + kind.legacy_names.len();
        if !kind.alias.is_empty() {
            count += 1;
        }
        rest = tail;
    }
    count
}

const fn collect_event_names() -> [&'static str; EVENT_NAME_COUNT] {
    let mut names = [""; EVENT_NAME_COUNT];
    let (mut left, mut rest): (&mut [&'static str], _) = (&mut names, EVENT_KINDS);
    while let [kind, tail @ ..] = rest {
        left = push_event_name(left, kind.name);
        if !kind.alias.is_empty() {
            left = push_event_name(left, kind.alias);
        }
        let mut older = kind.legacy_names;
        while let [name, others @ ..] = older {
            left = push_event_name(left, name);
            older = others;
        }
        rest = tail;
    }
    names
}

/// Puts a name into the first place; the places behind it.
const fn push_event_name<'n>(places: &'n mut [&'static str], name: &'static str) -> &'n mut [&'static str] {
    match places {
        [first, more @ ..] => {
            *first = name;
            more
        }
        [] => &mut [],
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::{EVENT_KINDS, EVENT_NAMES, find_event_kind};

    #[test]
    fn every_name_leads_to_one_kind() {
        let all: BTreeSet<&str> = EVENT_NAMES.into_iter().collect();
        assert_eq!(all.len(), EVENT_NAMES.len(), "{EVENT_NAMES:?}");
        assert!(!all.contains(""));
        for kind in EVENT_KINDS {
            assert_eq!(find_event_kind(kind.name).map(|(_, said)| said), Some(kind.name));
            for older in kind.legacy_names {
                assert_eq!(find_event_kind(older).map(|(_, said)| said), Some(kind.name));
            }
        }
        let verified = "profile.update.verified";
        let (kind, said) = find_event_kind(verified).expect("spec §6 names it");
        assert_eq!((kind.name, said), ("profile.update.verified_badge", verified));
        assert!(find_event_kind("ProfileX").is_none() && find_event_kind("").is_none());
    }
}
