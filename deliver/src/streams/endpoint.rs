//! The streams and their connection limits (contract core §9.1).

use store::rules::StreamProduct;

base::named_enum! {
    /// A stream, as named in the connections API. The activity stream and the powerstream have names of our own.
    pub enum StreamEndpoint {
        Filtered = "filtered_stream",
        Powerstream = "powerstream",
        Sample = "sample_stream",
        Sample10 = "sample10_stream",
        Firehose = "firehose_stream",
        FirehoseEn = "firehose_stream_lang_en",
        FirehoseJa = "firehose_stream_lang_ja",
        FirehoseKo = "firehose_stream_lang_ko",
        FirehosePt = "firehose_stream_lang_pt",
        PostsCompliance = "tweets_compliance_stream",
        UsersCompliance = "users_compliance_stream",
        Labels = "tweet_label_stream",
        LikesFirehose = "likes_firehose_stream",
        LikesSample10 = "likes_sample10_stream",
        LikesCompliance = "likes_compliance_stream",
        Activity = "activity_stream",
    }
}

impl StreamEndpoint {
    /// The product whose rules filter the stream, if rules do.
    pub const fn rule_product(self) -> Option<StreamProduct> {
        match self {
            Self::Filtered => Some(StreamProduct::Stream),
            Self::Powerstream => Some(StreamProduct::Powerstream),
            _ => None,
        }
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
