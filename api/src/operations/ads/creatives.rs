//! Posts, media and creatives of an account.

use super::account;

account! {
    CREATIVES {
        "getAdsAccountMedia" GET "account_media" []
            => "Media of an account.",
        "getAdsAccountMediaById" GET "account_media/{account_media_id}" [account_media_id]
            => "An account media.",
        "deleteAdsAccountMedia" DELETE "account_media/{account_media_id}" [account_media_id]
            => "Deletes an account media.",
        "getAdsDraftPosts" GET "draft_posts" | "draft_tweets" []
            => "Draft posts of an account.",
        "getAdsDraftPost" GET "draft_posts/{draft_post_id}" | "draft_tweets/{draft_post_id}"
            [draft_post_id]
            => "A draft post.",
        "createAdsDraftPost" POST "draft_posts" | "draft_tweets" []
            => "Creates a draft post.",
        "updateAdsMedia" PUT "media_library/{media_key}" [media_key]
            => "Updates a media in the media library.",
        "deleteAdsMedia" DELETE "media_library/{media_key}" [media_key]
            => "Removes a media from the media library.",
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
            => "Preroll calls to action of an account.",
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
            => "Adds an account media to a line item.",
    }
}
