//! The data types of an archive and how each is handled.

use crate::{ArchivedListRole, SkipReason};

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum DataTypeHandling {
    Read(ReadableDataType),
    Skip(SkipReason),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ReadableDataType {
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
    List(ArchivedListRole),
    Conversation,
}

const READ: [(&str, ReadableDataType, u8); 17] = [
    ("account", ReadableDataType::Account, 0),
    ("profile", ReadableDataType::Profile, 1),
    ("noteTweet", ReadableDataType::Note, 2),
    ("tweets", ReadableDataType::Post, 3),
    ("communityTweet", ReadableDataType::Post, 4),
    ("communityTweets", ReadableDataType::Post, 4),
    ("deletedTweets", ReadableDataType::DeletedPost, 5),
    ("deletedTweet", ReadableDataType::DeletedPost, 5),
    ("deletedTweetHeaders", ReadableDataType::DeletedHeader, 6),
    ("follower", ReadableDataType::Follower, 7),
    ("following", ReadableDataType::Following, 8),
    ("like", ReadableDataType::Like, 9),
    ("block", ReadableDataType::Block, 10),
    ("mute", ReadableDataType::Mute, 11),
    ("listsCreated", ReadableDataType::List(ArchivedListRole::Created), 12),
    ("listsMember", ReadableDataType::List(ArchivedListRole::Member), 13),
    ("listsSubscribed", ReadableDataType::List(ArchivedListRole::Subscribed), 14),
];

/// Only read on request.
const ON_REQUEST: [(&str, ReadableDataType, u8); 2] = [
    ("directMessages", ReadableDataType::Conversation, 15),
    ("directMessagesGroup", ReadableDataType::Conversation, 16),
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

const UNSUPPORTED: [&str; 56] = [
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
    "bookmark",
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
    "drafts",
    "expandedProfile",
    "grokChatItem",
    "jobApplications",
    "manifest",
    "moment",
    "moments",
    "mutedWords",
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

/// Direct messages are skipped unless `messages` is true.
pub(crate) fn classify_data_type(kind: &str, messages: bool) -> DataTypeHandling {
    let on_request = ON_REQUEST.iter().filter(|_| messages);
    let read = READ.iter().chain(on_request).find(|(name, ..)| *name == kind);
    match read {
        Some((_, kind, _)) => DataTypeHandling::Read(*kind),
        None if PRIVATE.contains(&kind) => DataTypeHandling::Skip(SkipReason::Private),
        None if UNSUPPORTED.contains(&kind) => DataTypeHandling::Skip(SkipReason::NotKept),
        None => DataTypeHandling::Skip(SkipReason::Unknown),
    }
}

impl DataTypeHandling {
    pub(crate) fn reading_order(&self) -> u8 {
        let Self::Read(kind) = self else {
            return u8::MAX;
        };
        READ.iter().chain(&ON_REQUEST).find(|(_, read, _)| read == kind).map_or(u8::MAX, |(.., rank)| *rank)
    }
}
