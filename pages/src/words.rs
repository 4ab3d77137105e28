//! Permissions in words that the person who grants them understands.

use base::Scope;

/// An OAuth 1.0a access level.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Level {
    /// Read.
    #[default]
    Read,
    /// Read and write.
    Write,
    /// Read, write and direct messages.
    DirectMessages,
}

impl Level {
    /// Every level, narrowest first.
    pub const ALL: [Self; 3] = [Self::Read, Self::Write, Self::DirectMessages];

    /// The value in forms: `read`, `read-write`, `read-write-dm`.
    pub const fn value(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "read-write",
            Self::DirectMessages => "read-write-dm",
        }
    }

    /// Reads the value of a form.
    pub fn parse(value: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|level| level.value() == value)
    }

    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Read => "Read",
            Self::Write => "Read and write",
            Self::DirectMessages => "Read, write and direct messages",
        }
    }

    /// What a developer gets with it.
    pub const fn hint(self) -> &'static str {
        match self {
            Self::Read => "See posts, profiles and lists. Change nothing.",
            Self::Write => "Also post, like, follow and edit the profile.",
            Self::DirectMessages => "Also read and send direct messages.",
        }
    }

    /// What an app with this level can do.
    pub fn can(self, email: bool) -> Vec<&'static str> {
        let mut can = vec![
            "See posts from your timeline, protected accounts included",
            "See your profile and settings, and who you follow, mute and block",
            "See your lists and bookmarks",
        ];
        if self != Self::Read {
            can.extend([
                "Post, repost, like and delete posts for you",
                "Follow and unfollow, mute and block accounts for you",
                "Change your profile and lists",
            ]);
        }
        if self == Self::DirectMessages {
            can.push("Read, send and delete your direct messages");
        }
        if email {
            can.push("See your confirmed email address");
        }
        can
    }

    /// What an app with this level cannot do.
    pub fn cannot(self, email: bool) -> Vec<&'static str> {
        let mut cannot = Vec::new();
        if self == Self::Read {
            cannot.push("Post, like or follow, or change anything for you");
        }
        if self != Self::DirectMessages {
            cannot.push("Read or send your direct messages");
        }
        if !email {
            cannot.push("See your email address");
        }
        cannot.push("See or change your password");
        cannot
    }
}

/// What one scope lets an app do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Power {
    /// Whether it changes things, not only sees them.
    pub writes: bool,
    /// What the app can do.
    pub words: &'static str,
    /// What deserves a second thought.
    pub warning: Option<&'static str>,
}

const fn sees(words: &'static str) -> Power {
    Power {
        writes: false,
        words,
        warning: None,
    }
}

const fn changes(words: &'static str) -> Power {
    Power {
        writes: true,
        words,
        warning: None,
    }
}

impl Power {
    const fn but(self, warning: &'static str) -> Self {
        Self {
            warning: Some(warning),
            ..self
        }
    }
}

/// A scope in words.
pub const fn power(scope: Scope) -> Power {
    match scope {
        Scope::TweetRead => sees("Posts that you can see, protected accounts included"),
        Scope::TweetWrite => changes("Post and repost for you"),
        Scope::TweetModerateWrite => changes("Hide and show replies to your posts"),
        Scope::UsersRead => sees("Profiles that you can see, your own included"),
        Scope::UsersEmail => sees("Your confirmed email address"),
        Scope::FollowsRead => sees("Who you follow and who follows you"),
        Scope::FollowsWrite => changes("Follow and unfollow accounts for you"),
        Scope::BlockRead => sees("Accounts that you have blocked"),
        Scope::BlockWrite => changes("Block and unblock accounts for you"),
        Scope::MuteRead => sees("Accounts that you have muted"),
        Scope::MuteWrite => changes("Mute and unmute accounts for you"),
        Scope::LikeRead => sees("Posts that you have liked"),
        Scope::LikeWrite => changes("Like and unlike posts for you"),
        Scope::BookmarkRead => sees("Your bookmarks"),
        Scope::BookmarkWrite => changes("Add and remove your bookmarks"),
        Scope::ListRead => sees("Your lists, private ones included"),
        Scope::ListWrite => changes("Create, change and delete your lists"),
        Scope::SpaceRead => sees("Spaces that you can see"),
        Scope::DmRead => sees("Your direct messages").but(
            "It can read your private conversations, with what others wrote to you in confidence.",
        ),
        Scope::DmWrite => changes("Send and delete direct messages for you")
            .but("It can write to people privately in your name."),
        Scope::MediaWrite => changes("Upload photos and videos for you"),
        Scope::TimelineRead => sees("Timelines made for you, such as reposts of your posts"),
        Scope::BroadcastRead => sees("Broadcasts and their chat"),
        Scope::BroadcastWrite => changes("Start, change and end broadcasts for you"),
        Scope::OfflineAccess => changes("Stay connected when you are not using it").but(
            "Its access does not end by itself. It lasts until you remove it in your settings.",
        ),
        Scope::AdsRead => sees("Advertising accounts that you have a role on, and their figures"),
        Scope::AdsWrite => changes("Manage advertising for accounts that you have a role on")
            .but("It can start campaigns, which cost what their budgets allow."),
    }
}
