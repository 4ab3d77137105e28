//! The streams and their connection limits (contract core §9.1).

use store::rules::StreamProduct;

/// A stream, as named in the connections API.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum StreamEndpoint {
    Filtered,
    Powerstream,
    Sample,
    Sample10,
    Firehose,
    FirehoseEn,
    FirehoseJa,
    FirehoseKo,
    FirehosePt,
    PostsCompliance,
    UsersCompliance,
    Labels,
    LikesFirehose,
    LikesSample10,
    LikesCompliance,
    Activity,
}

impl StreamEndpoint {
    pub const ALL: [Self; 16] = [
        Self::Filtered,
        Self::Powerstream,
        Self::Sample,
        Self::Sample10,
        Self::Firehose,
        Self::FirehoseEn,
        Self::FirehoseJa,
        Self::FirehoseKo,
        Self::FirehosePt,
        Self::PostsCompliance,
        Self::UsersCompliance,
        Self::Labels,
        Self::LikesFirehose,
        Self::LikesSample10,
        Self::LikesCompliance,
        Self::Activity,
    ];

    /// The product whose rules filter the stream, if rules do.
    pub const fn rule_product(self) -> Option<StreamProduct> {
        match self {
            Self::Filtered => Some(StreamProduct::Stream),
            Self::Powerstream => Some(StreamProduct::Powerstream),
            _ => None,
        }
    }

    /// The name in the contract; the activity stream and the powerstream have names of our own.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Filtered => "filtered_stream",
            Self::Powerstream => "powerstream",
            Self::Sample => "sample_stream",
            Self::Sample10 => "sample10_stream",
            Self::Firehose => "firehose_stream",
            Self::FirehoseEn => "firehose_stream_lang_en",
            Self::FirehoseJa => "firehose_stream_lang_ja",
            Self::FirehoseKo => "firehose_stream_lang_ko",
            Self::FirehosePt => "firehose_stream_lang_pt",
            Self::PostsCompliance => "tweets_compliance_stream",
            Self::UsersCompliance => "users_compliance_stream",
            Self::Labels => "tweet_label_stream",
            Self::LikesFirehose => "likes_firehose_stream",
            Self::LikesSample10 => "likes_sample10_stream",
            Self::LikesCompliance => "likes_compliance_stream",
            Self::Activity => "activity_stream",
        }
    }

    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|one| one.name() == name)
    }

    /// The maximum number of concurrent connections of an app, per partition.
    pub const fn max_connections(self, enterprise: bool) -> usize {
        match self {
            Self::Activity => 2,
            Self::Filtered if enterprise => 2,
            _ => 1,
        }
    }
}
