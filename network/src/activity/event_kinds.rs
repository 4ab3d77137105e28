//! All event kinds: names, causes, concerned users, access rules and payloads (contract core §10.5,
//! §10.6).

use base::Scope;
use store::activity::ActivityDirection::{self, Inbound, Outbound};

#[derive(Clone, Copy, Debug)]
pub struct ActivityEventKind {
    pub name: &'static str,
    /// An alternative name, echoed to subscribers who use it; may be empty.
    pub alias: &'static str,
    /// Former names, accepted and replaced by the current one.
    pub legacy_names: &'static [&'static str],
    /// The kind of event log entry that causes it; empty if it never occurs on this platform.
    pub log_kind: &'static str,
    /// The users it is about, with its direction from their point of view.
    pub concerned_users: &'static [(EventParticipant, ActivityDirection)],
    /// What a subscription's filter must contain.
    pub filter: RequiredFilter,
    /// Whether the filter may contain a direction.
    pub directional: bool,
    pub access: EventAccess,
    pub payload: EventPayloadKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EventParticipant {
    Actor,
    Subject,
    /// The users named by this member of the entry's body, except the actor.
    Named(&'static str),
    /// The author of the post, also if it is the actor.
    Author,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RequiredFilter {
    User,
    /// A keyword and no user.
    Keyword,
    Nothing,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EventAccess {
    Public,
    /// Apps to which the user has granted this scope, or an OAuth 1.0a permission that includes it.
    Scoped(Scope),
    Enterprise,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EventPayloadKind {
    Post,
    /// The ids of the post and its author.
    PostDeleted,
    Like,
    /// The two users of a follow, mute or block.
    Relationship,
    /// A text before and after the change.
    Change,
    Message,
    Read,
    Typing,
    Story,
    Space,
    /// A user who revokes an app's access.
    Revoke,
    /// The event never occurs.
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

    const fn alias(self, alias: &'static str) -> Self {
        Self { alias, ..self }
    }

    const fn legacy_names(self, legacy_names: &'static [&'static str]) -> Self {
        Self { legacy_names, ..self }
    }

    const fn log_kind(self, log: &'static str) -> Self {
        Self { log_kind: log, ..self }
    }

    const fn filter(self, filter: RequiredFilter) -> Self {
        Self { filter, ..self }
    }

    const fn directional(self) -> Self {
        Self { directional: true, ..self }
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
        Self::new(name, about).directional().access(EventAccess::Scoped(Scope::DmRead))
    }

    /// Accepted in subscriptions, but never occurs on this platform.
    const fn unsupported_event(name: &'static str, access: EventAccess) -> Self {
        Self::new(name, &[]).log_kind("").access(access)
    }

    /// Whether it has a text that a keyword may match. Events that never occur may have any.
    pub(super) const fn has_text(&self) -> bool {
        match self.payload {
            EventPayloadKind::Post
            | EventPayloadKind::Like
            | EventPayloadKind::Change
            | EventPayloadKind::Message
            | EventPayloadKind::Story
            | EventPayloadKind::Nothing => true,
            EventPayloadKind::PostDeleted
            | EventPayloadKind::Relationship
            | EventPayloadKind::Read
            | EventPayloadKind::Typing
            | EventPayloadKind::Space
            | EventPayloadKind::Revoke => false,
        }
    }

    /// Whether it requires the user's consent.
    pub const fn is_private(&self) -> bool {
        matches!(self.access, EventAccess::Scoped(_))
    }

    /// The name to echo to a subscriber who uses `name`; none if `name` is not one of this kind's.
    fn match_name(&self, name: &str) -> Option<&'static str> {
        if name == self.name || self.legacy_names.contains(&name) {
            return Some(self.name);
        }
        (name == self.alias && !name.is_empty()).then_some(self.alias)
    }
}

const ACTOR: &[(EventParticipant, ActivityDirection)] = &[(EventParticipant::Actor, Outbound)];
const BOTH: &[(EventParticipant, ActivityDirection)] =
    &[(EventParticipant::Actor, Outbound), (EventParticipant::Subject, Inbound)];
const LIKED: &[(EventParticipant, ActivityDirection)] =
    &[(EventParticipant::Actor, Outbound), (EventParticipant::Author, Inbound)];
const HOSTS: &[(EventParticipant, ActivityDirection)] =
    &[(EventParticipant::Actor, Outbound), (EventParticipant::Named("host_ids"), Outbound)];
const MENTIONED: &[(EventParticipant, ActivityDirection)] = &[(EventParticipant::Named("mentioned_ids"), Inbound)];
const REPLIED_TO: &[(EventParticipant, ActivityDirection)] = &[(EventParticipant::Named("replied_user_id"), Inbound)];
const QUOTED: &[(EventParticipant, ActivityDirection)] = &[(EventParticipant::Named("quoted_user_id"), Inbound)];
const REPOSTED: &[(EventParticipant, ActivityDirection)] = &[(EventParticipant::Named("author_id"), Inbound)];
const RECIPIENTS: &[(EventParticipant, ActivityDirection)] = &[(EventParticipant::Named("recipient_ids"), Inbound)];

const CHAT: EventAccess = EventAccess::Scoped(Scope::DmRead);

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
    ActivityEventKind::new("follow.follow", BOTH).directional().payload(EventPayloadKind::Relationship),
    ActivityEventKind::new("follow.unfollow", BOTH).directional().payload(EventPayloadKind::Relationship),
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
    ActivityEventKind::new("oauth.revoke", &[]).filter(RequiredFilter::Nothing).payload(EventPayloadKind::Revoke),
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

/// The kind with a name, and the name to echo to the subscriber.
pub fn find_event_kind(name: &str) -> Option<(&'static ActivityEventKind, &'static str)> {
    EVENT_KINDS.iter().find_map(|kind| Some((kind, kind.match_name(name)?)))
}

pub fn event_kinds_for_log_kind(log: &str) -> impl Iterator<Item = &'static ActivityEventKind> {
    EVENT_KINDS.iter().filter(move |kind| kind.log_kind == log && !log.is_empty())
}

const EVENT_NAME_COUNT: usize = count_event_names();

/// Every accepted name.
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
        let mut legacy_names = kind.legacy_names;
        while let [name, others @ ..] = legacy_names {
            left = push_event_name(left, name);
            legacy_names = others;
        }
        rest = tail;
    }
    names
}

/// Writes the first slot and returns the remaining ones.
const fn push_event_name<'n>(slots: &'n mut [&'static str], name: &'static str) -> &'n mut [&'static str] {
    match slots {
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
            for legacy_names in kind.legacy_names {
                assert_eq!(find_event_kind(legacy_names).map(|(_, said)| said), Some(kind.name));
            }
        }
        let verified = "profile.update.verified";
        let (kind, said) = find_event_kind(verified).expect("contract core §10.5 names it");
        assert_eq!((kind.name, said), ("profile.update.verified_badge", verified));
        assert!(find_event_kind("ProfileX").is_none() && find_event_kind("").is_none());
    }
}
