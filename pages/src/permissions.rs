//! Permissions and scopes, described for the person who grants them.

use base::Scope;

base::named_enum! {
    /// Narrowest first, with the names in forms.
    #[derive(Default)]
    pub enum PermissionLevel {
        #[default]
        Read = "read",
        Write = "read-write",
        DirectMessages = "read-write-dm",
    }
}

impl PermissionLevel {
    pub const fn label(self) -> &'static str {
        match self {
            Self::Read => "Read",
            Self::Write => "Read and write",
            Self::DirectMessages => "Read, write and direct messages",
        }
    }

    pub const fn hint(self) -> &'static str {
        match self {
            Self::Read => "See posts, profiles and lists. Change nothing.",
            Self::Write => "Also post, like, follow and edit the profile.",
            Self::DirectMessages => "Also read and send direct messages.",
        }
    }

    pub fn allowed_actions(self, email: bool) -> Vec<&'static str> {
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

    pub fn denied_actions(self, email: bool) -> Vec<&'static str> {
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

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScopePermission {
    pub is_write: bool,
    pub description: &'static str,
    pub warning: Option<&'static str>,
}

const fn read_permission(words: &'static str) -> ScopePermission {
    ScopePermission { is_write: false, description: words, warning: None }
}

const fn write_permission(words: &'static str) -> ScopePermission {
    ScopePermission { is_write: true, description: words, warning: None }
}

impl ScopePermission {
    const fn with_warning(self, warning: &'static str) -> Self {
        Self { warning: Some(warning), ..self }
    }
}

pub const fn describe_scope(scope: Scope) -> ScopePermission {
    match scope {
        Scope::TweetRead => read_permission("Posts that you can see, protected accounts included"),
        Scope::TweetWrite => write_permission("Post and repost for you"),
        Scope::TweetModerateWrite => write_permission("Hide and show replies to your posts"),
        Scope::UsersRead => read_permission("Profiles that you can see, your own included"),
        Scope::UsersEmail => read_permission("Your confirmed email address"),
        Scope::FollowsRead => read_permission("Who you follow and who follows you"),
        Scope::FollowsWrite => write_permission("Follow and unfollow accounts for you"),
        Scope::BlockRead => read_permission("Accounts that you have blocked"),
        Scope::BlockWrite => write_permission("Block and unblock accounts for you"),
        Scope::MuteRead => read_permission("Accounts that you have muted"),
        Scope::MuteWrite => write_permission("Mute and unmute accounts for you"),
        Scope::LikeRead => read_permission("Posts that you have liked"),
        Scope::LikeWrite => write_permission("Like and unlike posts for you"),
        Scope::BookmarkRead => read_permission("Your bookmarks"),
        Scope::BookmarkWrite => write_permission("Add and remove your bookmarks"),
        Scope::ListRead => read_permission("Your lists, private ones included"),
        Scope::ListWrite => write_permission("Create, change and delete your lists"),
        Scope::SpaceRead => read_permission("Spaces that you can see"),
        Scope::DmRead => read_permission("Your direct messages")
            .with_warning("It can read your private conversations, including what others wrote to you."),
        Scope::DmWrite => write_permission("Send and delete direct messages for you")
            .with_warning("It can send private messages in your name."),
        Scope::MediaWrite => write_permission("Upload photos and videos for you"),
        Scope::TimelineRead => read_permission("Personal timelines, such as reposts of your posts"),
        Scope::BroadcastRead => read_permission("Broadcasts and their chat"),
        Scope::BroadcastWrite => write_permission("Start, change and end broadcasts for you"),
        Scope::OfflineAccess => write_permission("Stay connected when you are not using it")
            .with_warning("Its access does not expire. It lasts until you revoke it in your settings."),
        Scope::AdsRead => read_permission("Ads accounts that you have access to, and their statistics"),
        Scope::AdsWrite => write_permission("Manage campaigns for ads accounts that you have access to")
            .with_warning("It can start campaigns and spend their budgets."),
    }
}
