//! The data types of an archive and what is done with each.

use crate::{ListRole, Why};

/// What is done with the files of a data type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Handling {
    Read(Kind),
    Skip(Why),
}

/// The data types that are read, in reading order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Account,
    Profile,
    Note,
    Post,
    DeletedPost,
    DeletedHeader,
    Follower,
    Following,
    Like,
    Block,
    Mute,
    List(ListRole),
    Talk,
}

const READ: [(&str, Kind, u8); 17] = [
    ("account", Kind::Account, 0),
    ("profile", Kind::Profile, 1),
    ("noteTweet", Kind::Note, 2),
    ("tweets", Kind::Post, 3),
    ("communityTweet", Kind::Post, 4),
    ("communityTweets", Kind::Post, 4),
    ("deletedTweets", Kind::DeletedPost, 5),
    ("deletedTweet", Kind::DeletedPost, 5),
    ("deletedTweetHeaders", Kind::DeletedHeader, 6),
    ("follower", Kind::Follower, 7),
    ("following", Kind::Following, 8),
    ("like", Kind::Like, 9),
    ("block", Kind::Block, 10),
    ("mute", Kind::Mute, 11),
    ("listsCreated", Kind::List(ListRole::Created), 12),
    ("listsMember", Kind::List(ListRole::Member), 13),
    ("listsSubscribed", Kind::List(ListRole::Subscribed), 14),
];

/// Those that are read only when they are asked for.
const ASKED: [(&str, Kind, u8); 2] = [
    ("directMessages", Kind::Talk, 15),
    ("directMessagesGroup", Kind::Talk, 16),
];

const PRIVATE: [&str; 19] = [
    "accountCreationIp",
    "accountLabel",
    "accountTimezone",
    "ageinfo",
    "contact",
    "deviceToken",
    "directMessageGroupHeaders",
    "directMessageHeaders",
    "directMessageMute",
    "directMessages",
    "directMessagesGroup",
    "emailAddressChange",
    "ipAudit",
    "keyRegistry",
    "niDevices",
    "phoneNumber",
    "protectedHistory",
    "sso",
    "userLinkClicks",
];

const NOT_KEPT: [&str; 53] = [
    "accountSuspension",
    "adEngagements",
    "adFreeArticleVisits",
    "adImpressions",
    "adMobileConversionsAttributed",
    "adMobileConversionsUnattributed",
    "adOnlineConversionsAttributed",
    "adOnlineConversionsUnattributed",
    "app",
    "article",
    "articleMetadata",
    "audioVideoCallsInDm",
    "audioVideoCallsInDmRecipientSessions",
    "birdwatchNote",
    "birdwatchNoteRating",
    "branchLinks",
    "catalogItem",
    "commerceCatalog",
    "communityNote",
    "communityNoteBatSignal",
    "communityNoteRating",
    "communityNoteTombstone",
    "communityTweetMedia",
    "connectedApplication",
    "deletedNoteTweet",
    "expandedProfile",
    "grokChatItem",
    "jobApplications",
    "manifest",
    "moment",
    "moments",
    "personalization",
    "periscopeAccountInformation",
    "periscopeBanInformation",
    "periscopeBroadcastMetadata",
    "periscopeCommentsMadeByUser",
    "periscopeExpiredBroadcasts",
    "periscopeFollowers",
    "periscopeProfileDescription",
    "productDrop",
    "productSet",
    "professionalData",
    "replyPrompt",
    "savedSearch",
    "screenNameChange",
    "shopModule",
    "shopifyAccount",
    "smartblock",
    "spacesMetadata",
    "tweetHeaders",
    "tweetdeck",
    "twitterShop",
    "verified",
];

/// What is done with the files of a data type; direct messages are left out unless asked for.
pub(crate) fn handling(kind: &str, messages: bool) -> Handling {
    let asked = ASKED.iter().filter(|_| messages);
    let read = READ.iter().chain(asked).find(|(name, ..)| *name == kind);
    match read {
        Some((_, kind, _)) => Handling::Read(*kind),
        None if PRIVATE.contains(&kind) => Handling::Skip(Why::Private),
        None if NOT_KEPT.contains(&kind) => Handling::Skip(Why::NotKept),
        None => Handling::Skip(Why::Unknown),
    }
}

impl Handling {
    /// Where the type stands in the reading order.
    pub(crate) fn rank(&self) -> u8 {
        let Self::Read(kind) = self else {
            return u8::MAX;
        };
        READ.iter()
            .chain(&ASKED)
            .find(|(_, read, _)| read == kind)
            .map_or(u8::MAX, |(.., rank)| *rank)
    }
}
