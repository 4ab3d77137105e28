//! The kinds of events: each stands here once, with what it is called, what causes it, whom it is
//! about, who may subscribe to it and what it tells (spec §6, contract §10.5, §10.6).

use base::Scope;
use store::activity::ActivityDirection::{self, Inbound, Outbound};

/// A kind of events.
#[derive(Clone, Copy, Debug)]
pub struct Kind {
    /// What it is called.
    pub name: &'static str,
    /// Another name in use, which a subscriber who says it is answered with; or empty.
    pub twin: &'static str,
    /// Names that are taken, and answered with the present one.
    pub older: &'static [&'static str],
    /// The entry of the log that causes it; empty where nothing on this platform does.
    pub log: &'static str,
    /// Whom it is about.
    pub about: &'static [(Whom, ActivityDirection)],
    /// What a subscription must name.
    pub filter: Filter,
    /// Whether a subscription may name a direction.
    pub directed: bool,
    /// Who may subscribe to it.
    pub access: Access,
    /// What it tells.
    pub payload: Payload,
}

/// A user in an entry of the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Whom {
    /// Who did it.
    Actor,
    /// To whom it was done.
    Subject,
    /// The user, or users, whom this member of the body names, the actor aside.
    Named(&'static str),
}

/// What a subscription must name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Filter {
    /// A user.
    User,
    /// A keyword, and no user.
    Keyword,
    /// Nothing.
    Nothing,
}

/// Who may subscribe to a kind of events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Every app.
    Public,
    /// Apps that the user has given this scope, or an OAuth 1.0a level that holds it.
    Given(Scope),
    /// Enterprise apps.
    Enterprise,
}

/// What a kind of events tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Payload {
    /// A post.
    Post,
    /// The ids of a post that is gone and of its author.
    PostGone,
    /// A like.
    Like,
    /// The two users of a tie.
    Tie,
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

impl Kind {
    const fn new(name: &'static str, about: &'static [(Whom, ActivityDirection)]) -> Self {
        Self {
            name,
            twin: "",
            older: &[],
            log: name,
            about,
            filter: Filter::User,
            directed: false,
            access: Access::Public,
            payload: Payload::Nothing,
        }
    }

    const fn twin(self, twin: &'static str) -> Self {
        Self { twin, ..self }
    }

    const fn older(self, older: &'static [&'static str]) -> Self {
        Self { older, ..self }
    }

    const fn caused_by(self, log: &'static str) -> Self {
        Self { log, ..self }
    }

    const fn filter(self, filter: Filter) -> Self {
        Self { filter, ..self }
    }

    const fn directed(self) -> Self {
        Self {
            directed: true,
            ..self
        }
    }

    const fn access(self, access: Access) -> Self {
        Self { access, ..self }
    }

    const fn tells(self, payload: Payload) -> Self {
        Self { payload, ..self }
    }

    const fn profile(name: &'static str) -> Self {
        Self::new(name, &[(Whom::Subject, Outbound)]).tells(Payload::Change)
    }

    const fn about_post(name: &'static str, member: &'static [(Whom, ActivityDirection)]) -> Self {
        Self::new(name, member)
            .caused_by("post.create")
            .access(Access::Given(Scope::TweetRead))
            .tells(Payload::Post)
    }

    const fn tie(name: &'static str, scope: Scope) -> Self {
        Self::new(name, &[(Whom::Actor, Outbound)])
            .access(Access::Given(scope))
            .tells(Payload::Tie)
    }

    const fn message(name: &'static str, about: &'static [(Whom, ActivityDirection)]) -> Self {
        Self::new(name, about)
            .directed()
            .access(Access::Given(Scope::DmRead))
    }

    /// Accepted; this platform has no such thing.
    const fn elsewhere(name: &'static str, access: Access) -> Self {
        Self::new(name, &[]).caused_by("").access(access)
    }

    /// Whether it may be told only where the user has agreed.
    pub const fn is_private(&self) -> bool {
        matches!(self.access, Access::Given(_))
    }

    /// What a subscriber who calls it so is answered with; none where it is not called so.
    fn called(&self, name: &str) -> Option<&'static str> {
        if name == self.name || self.older.contains(&name) {
            return Some(self.name);
        }
        (name == self.twin && !name.is_empty()).then_some(self.twin)
    }
}

const ACTOR: &[(Whom, ActivityDirection)] = &[(Whom::Actor, Outbound)];
const BOTH: &[(Whom, ActivityDirection)] = &[(Whom::Actor, Outbound), (Whom::Subject, Inbound)];
const LIKED: &[(Whom, ActivityDirection)] =
    &[(Whom::Actor, Outbound), (Whom::Named("author_id"), Inbound)];
const HOSTS: &[(Whom, ActivityDirection)] =
    &[(Whom::Actor, Outbound), (Whom::Named("host_ids"), Outbound)];
const MENTIONED: &[(Whom, ActivityDirection)] = &[(Whom::Named("mentioned_ids"), Inbound)];
const REPLIED_TO: &[(Whom, ActivityDirection)] = &[(Whom::Named("replied_user_id"), Inbound)];
const QUOTED: &[(Whom, ActivityDirection)] = &[(Whom::Named("quoted_user_id"), Inbound)];
const REPOSTED: &[(Whom, ActivityDirection)] = &[(Whom::Named("author_id"), Inbound)];
const RECIPIENTS: &[(Whom, ActivityDirection)] = &[(Whom::Named("recipient_ids"), Inbound)];

const CHAT: Access = Access::Given(Scope::DmRead);

/// Every kind.
pub const KINDS: &[Kind] = &[
    Kind::profile("profile.update.bio").older(&["ProfileBioUpdate"]),
    Kind::profile("profile.update.profile_picture").older(&["ProfilePictureUpdate"]),
    Kind::profile("profile.update.banner_picture").older(&["ProfileBannerUpdate"]),
    Kind::profile("profile.update.screenname").older(&["ProfileScreennameUpdate"]),
    Kind::profile("profile.update.handle"),
    Kind::profile("profile.update.geo").older(&["ProfileGeoUpdate"]),
    Kind::profile("profile.update.url").older(&["ProfileUrlUpdate"]),
    Kind::profile("profile.update.verified_badge")
        .twin("profile.update.verified")
        .older(&["ProfileVerifiedBadgeUpdate"])
        .caused_by("profile.update.verified"),
    Kind::profile("profile.update.affiliate_badge")
        .twin("profile.update.affiliate")
        .older(&["ProfileAffiliateBadgeUpdate"])
        .caused_by("profile.update.affiliate"),
    Kind::new("post.create", ACTOR).tells(Payload::Post),
    Kind::new("post.delete", ACTOR).tells(Payload::PostGone),
    Kind::about_post("post.mention.create", MENTIONED),
    Kind::about_post("post.reply.create", REPLIED_TO),
    Kind::about_post("post.quote.create", QUOTED),
    Kind::about_post("post.repost.create", REPOSTED),
    Kind::new("like.create", LIKED)
        .directed()
        .access(Access::Given(Scope::LikeRead))
        .tells(Payload::Like),
    Kind::new("follow.follow", BOTH)
        .directed()
        .tells(Payload::Tie),
    Kind::new("follow.unfollow", BOTH)
        .directed()
        .tells(Payload::Tie),
    Kind::tie("mute.mute", Scope::MuteRead),
    Kind::tie("mute.unmute", Scope::MuteRead),
    Kind::tie("block.block", Scope::BlockRead),
    Kind::tie("block.unblock", Scope::BlockRead),
    Kind::message("dm.sent", ACTOR).tells(Payload::Message),
    Kind::message("dm.received", RECIPIENTS).tells(Payload::Message),
    Kind::message("dm.read", RECIPIENTS).tells(Payload::Read),
    Kind::message("dm.indicate_typing", RECIPIENTS).tells(Payload::Typing),
    Kind::new("spaces.start", HOSTS).tells(Payload::Space),
    Kind::new("spaces.end", HOSTS).tells(Payload::Space),
    Kind::new("news.new", &[])
        .filter(Filter::Keyword)
        .access(Access::Enterprise)
        .tells(Payload::Story),
    Kind::new("oauth.revoke", &[])
        .filter(Filter::Nothing)
        .tells(Payload::Revoke),
    Kind::elsewhere("chat.received", CHAT).directed(),
    Kind::elsewhere("chat.sent", CHAT).directed(),
    Kind::elsewhere("chat.conversation.join", CHAT)
        .older(&["chat.conversation_join"])
        .directed(),
    Kind::elsewhere("chat.conversation.member_added", CHAT).directed(),
    Kind::elsewhere("chat.conversation.member_removed", CHAT).directed(),
    Kind::elsewhere("chat.conversation.admin_added", CHAT).directed(),
    Kind::elsewhere("chat.conversation.admin_removed", CHAT).directed(),
    Kind::elsewhere("chat.update.group_name", CHAT).directed(),
    Kind::elsewhere("chat.update.restrictions", CHAT).directed(),
    Kind::elsewhere("broadcast.start", Access::Public),
    Kind::elsewhere("broadcast.end", Access::Public),
    Kind::elsewhere("broadcast.chat", Access::Given(Scope::BroadcastRead)),
];

/// The kind that is called so, and what its subscriber is answered with.
pub fn named(name: &str) -> Option<(&'static Kind, &'static str)> {
    KINDS
        .iter()
        .find_map(|kind| Some((kind, kind.called(name)?)))
}

/// The kinds that an entry of the log causes.
pub fn caused_by(log: &str) -> impl Iterator<Item = &'static Kind> {
    KINDS
        .iter()
        .filter(move |kind| kind.log == log && !log.is_empty())
}

const COUNT: usize = count();

/// Every name that is taken.
pub const NAMES: [&str; COUNT] = names();

const fn count() -> usize {
    let (mut count, mut rest) = (0, KINDS);
    while let [kind, tail @ ..] = rest {
        count += 1 + kind.older.len();
        if !kind.twin.is_empty() {
            count += 1;
        }
        rest = tail;
    }
    count
}

const fn names() -> [&'static str; COUNT] {
    let mut names = [""; COUNT];
    let (mut left, mut rest): (&mut [&'static str], _) = (&mut names, KINDS);
    while let [kind, tail @ ..] = rest {
        left = put(left, kind.name);
        if !kind.twin.is_empty() {
            left = put(left, kind.twin);
        }
        let mut older = kind.older;
        while let [name, others @ ..] = older {
            left = put(left, name);
            older = others;
        }
        rest = tail;
    }
    names
}

/// Puts a name into the first place; the places behind it.
const fn put<'n>(places: &'n mut [&'static str], name: &'static str) -> &'n mut [&'static str] {
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

    use super::{KINDS, NAMES, named};

    #[test]
    fn every_name_leads_to_one_kind() {
        let all: BTreeSet<&str> = NAMES.into_iter().collect();
        assert_eq!(all.len(), NAMES.len(), "{NAMES:?}");
        assert!(!all.contains(""));
        for kind in KINDS {
            assert_eq!(named(kind.name).map(|(_, said)| said), Some(kind.name));
            for older in kind.older {
                assert_eq!(named(older).map(|(_, said)| said), Some(kind.name));
            }
        }
        let verified = "profile.update.verified";
        let (kind, said) = named(verified).expect("spec §6 names it");
        assert_eq!(
            (kind.name, said),
            ("profile.update.verified_badge", verified)
        );
        assert!(named("ProfileX").is_none() && named("").is_none());
    }
}
