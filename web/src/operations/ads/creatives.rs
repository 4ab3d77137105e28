//! Posts, media and creatives of an account.

use super::account;

account! {
    /// What an account may show.
    CREATIVES {
        "getAdsAccountMedia" GET "account_media" []
            => "Media of an account.",
        "getAdsAccountMediaById" GET "account_media/{account_media_id}" [account_media_id]
            => "A media of an account.",
        "deleteAdsAccountMedia" DELETE "account_media/{account_media_id}" [account_media_id]
            => "Deletes a media of an account.",
        "getAdsDraftPosts" GET "draft_posts" | "draft_tweets" []
            => "Drafts of an account.",
        "getAdsDraftPost" GET "draft_posts/{draft_post_id}" | "draft_tweets/{draft_post_id}"
            [draft_post_id]
            => "A draft.",
        "createAdsDraftPost" POST "draft_posts" | "draft_tweets" []
            => "Creates a draft.",
        "updateAdsMedia" PUT "media_library/{media_key}" [media_key]
            => "Changes a media in the library of an account.",
        "deleteAdsMedia" DELETE "media_library/{media_key}" [media_key]
            => "Removes a media from the library of an account.",
        "getAdsScheduledPosts" GET "scheduled_posts" | "scheduled_tweets" []
            => "Scheduled posts of an account.",
        "getAdsScheduledPost" GET "scheduled_posts/{scheduled_post_id}"
            | "scheduled_tweets/{scheduled_post_id}" [scheduled_post_id]
            => "A scheduled post.",
        "createAdsScheduledPost" POST "scheduled_posts" | "scheduled_tweets" []
            => "Schedules a post.",
        "updateAdsScheduledPost" PUT "scheduled_posts/{scheduled_post_id}"
            | "scheduled_tweets/{scheduled_post_id}" [scheduled_post_id]
            => "Changes a scheduled post.",
        "deleteAdsScheduledPost" DELETE "scheduled_posts/{scheduled_post_id}"
            | "scheduled_tweets/{scheduled_post_id}" [scheduled_post_id]
            => "Deletes a scheduled post.",
        "getAdsCallsToAction" GET "preroll_call_to_actions" []
            => "Calls to action of an account's prerolls.",
        "getAdsCallToAction" GET "preroll_call_to_actions/{preroll_call_to_action_id}"
            [preroll_call_to_action_id]
            => "A call to action.",
        "createAdsCallToAction" POST "preroll_call_to_actions" []
            => "Creates a call to action.",
        "updateAdsCallToAction" PUT "preroll_call_to_actions/{preroll_call_to_action_id}"
            [preroll_call_to_action_id]
            => "Changes a call to action.",
        "deleteAdsCallToAction" DELETE "preroll_call_to_actions/{preroll_call_to_action_id}"
            [preroll_call_to_action_id]
            => "Deletes a call to action.",
        "getAdsMediaCreatives" GET "media_creatives" []
            => "Media creatives of an account.",
        "getAdsMediaCreative" GET "media_creatives/{media_creative_id}" [media_creative_id]
            => "A media creative.",
        "deleteAdsMediaCreative" DELETE "media_creatives/{media_creative_id}" [media_creative_id]
            => "Deletes a media creative.",
        "createAdsMediaCreative" POST "media_creatives" []
            => "Puts a media of an account into a line item.",
    }
}
