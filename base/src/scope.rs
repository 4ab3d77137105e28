//! OAuth 2.0 scopes (contract core §2.6).

use std::fmt;

crate::named_enum! {
    /// In the order of the contract's table.
    #[repr(u8)]
    pub enum Scope {
        TweetRead = "tweet.read",
        TweetWrite = "tweet.write",
        TweetModerateWrite = "tweet.moderate.write",
        UsersRead = "users.read",
        UsersEmail = "users.email",
        FollowsRead = "follows.read",
        FollowsWrite = "follows.write",
        BlockRead = "block.read",
        BlockWrite = "block.write",
        MuteRead = "mute.read",
        MuteWrite = "mute.write",
        LikeRead = "like.read",
        LikeWrite = "like.write",
        BookmarkRead = "bookmark.read",
        BookmarkWrite = "bookmark.write",
        ListRead = "list.read",
        ListWrite = "list.write",
        SpaceRead = "space.read",
        DmRead = "dm.read",
        DmWrite = "dm.write",
        MediaWrite = "media.write",
        TimelineRead = "timeline.read",
        BroadcastRead = "broadcast.read",
        BroadcastWrite = "broadcast.write",
        OfflineAccess = "offline.access",
        AdsRead = "ads.read",
        AdsWrite = "ads.write",
    }
}

impl Scope {
    const fn bit_mask(self) -> u32 {
        #[expect(clippy::as_conversions, reason = "a fieldless enum's number, in a const")]
        let bit = self as u8;
        1 << bit
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Scopes(u32);

impl Scopes {
    pub const NONE: Self = Self(0);

    pub const fn from_slice(scopes: &[Scope]) -> Self {
        let mut bits = 0;
        let mut rest = scopes;
        while let [first, tail @ ..] = rest {
            bits |= first.bit_mask();
            rest = tail;
        }
        Self(bits)
    }

    /// Parses a space-separated list; the error is the first unknown name.
    pub fn parse(text: &str) -> Result<Self, String> {
        text.split(' ').filter(|name| !name.is_empty()).try_fold(Self::NONE, |set, name| {
            Scope::parse(name).map(|scope| set.with_scope(scope)).ok_or_else(|| name.to_owned())
        })
    }

    #[must_use]
    pub const fn with_scope(self, scope: Scope) -> Self {
        Self(self.0 | scope.bit_mask())
    }

    pub const fn contains_all(self, needed: Self) -> bool {
        self.0 & needed.0 == needed.0
    }

    pub const fn contains(self, scope: Scope) -> bool {
        self.0 & scope.bit_mask() != 0
    }

    pub fn iter(self) -> impl Iterator<Item = Scope> {
        Scope::ALL.iter().copied().filter(move |scope| self.contains(*scope))
    }
}

/// Space-separated, in the contract's order.
impl fmt::Display for Scopes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<_> = self.iter().map(Scope::name).collect();
        f.write_str(&names.join(" "))
    }
}
