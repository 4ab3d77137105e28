//! OAuth 2.0 scopes (contract §2.6).

use std::fmt;

macro_rules! scopes {
    ($($(#[$doc:meta])* $name:ident = $text:literal),* $(,)?) => {
        /// One scope.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[repr(u8)]
        pub enum Scope { $($(#[$doc])* $name),* }

        impl Scope {
            /// Every scope, in the order of the contract's table.
            pub const ALL: &[Self] = &[$(Self::$name),*];

            /// The name on the wire.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$name => $text),* }
            }
        }
    };
}

scopes! {
    /// Read posts the user can see, protected ones included.
    TweetRead = "tweet.read",
    /// Post and repost.
    TweetWrite = "tweet.write",
    /// Hide and unhide replies.
    TweetModerateWrite = "tweet.moderate.write",
    /// Read accounts the user can see.
    UsersRead = "users.read",
    /// Read the user's confirmed email.
    UsersEmail = "users.email",
    /// Read follows.
    FollowsRead = "follows.read",
    /// Change follows.
    FollowsWrite = "follows.write",
    /// Read blocks.
    BlockRead = "block.read",
    /// Change blocks.
    BlockWrite = "block.write",
    /// Read mutes.
    MuteRead = "mute.read",
    /// Change mutes.
    MuteWrite = "mute.write",
    /// Read likes.
    LikeRead = "like.read",
    /// Change likes.
    LikeWrite = "like.write",
    /// Read bookmarks.
    BookmarkRead = "bookmark.read",
    /// Change bookmarks.
    BookmarkWrite = "bookmark.write",
    /// Read lists.
    ListRead = "list.read",
    /// Manage lists.
    ListWrite = "list.write",
    /// Read spaces.
    SpaceRead = "space.read",
    /// Read direct messages.
    DmRead = "dm.read",
    /// Send direct messages.
    DmWrite = "dm.write",
    /// Upload media.
    MediaWrite = "media.write",
    /// Custom timelines.
    TimelineRead = "timeline.read",
    /// Read broadcasts.
    BroadcastRead = "broadcast.read",
    /// Manage broadcasts.
    BroadcastWrite = "broadcast.write",
    /// Issue a refresh token.
    OfflineAccess = "offline.access",
    /// Read the advertising accounts that the user has a role on.
    AdsRead = "ads.read",
    /// Change them.
    AdsWrite = "ads.write",
}

impl Scope {
    /// Reads one scope name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|scope| scope.name() == name)
    }

    const fn bit_mask(self) -> u32 {
        #[expect(clippy::as_conversions, reason = "a fieldless enum's number, in a const")]
        let place = self as u8;
        1 << place
    }
}

/// A set of scopes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Scopes(u32);

impl Scopes {
    /// No scope.
    pub const NONE: Self = Self(0);

    /// A set of the scopes given.
    pub const fn from_slice(scopes: &[Scope]) -> Self {
        let mut bits = 0;
        let mut rest = scopes;
        while let [first, tail @ ..] = rest {
            bits |= first.bit_mask();
            rest = tail;
        }
        Self(bits)
    }

    /// Every scope there is.
    pub const fn all() -> Self {
        Self::from_slice(Scope::ALL)
    }

    /// Reads a space-separated list; an unknown name is the error.
    pub fn parse(text: &str) -> Result<Self, String> {
        text.split(' ')
            .filter(|name| !name.is_empty())
            .try_fold(Self::NONE, |set, name| {
                Scope::parse(name)
                    .map(|scope| set.with_scope(scope))
                    .ok_or_else(|| name.to_owned())
            })
    }

    /// This set and one more.
    #[must_use]
    pub const fn with_scope(self, scope: Scope) -> Self {
        Self(self.0 | scope.bit_mask())
    }

    /// Whether every scope of `needed` is here.
    pub const fn contains_all(self, needed: Self) -> bool {
        self.0 & needed.0 == needed.0
    }

    /// Whether one scope is here.
    pub const fn contains(self, scope: Scope) -> bool {
        self.0 & scope.bit_mask() != 0
    }

    /// The scopes, in the contract's order.
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
