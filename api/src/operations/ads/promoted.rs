//! Promoted accounts and posts, and related settings of line items.

use web::endpoint::per_quarter_hour;

use super::account;

account! {
    PROMOTED {
        "getAdsPromotedAccounts" GET "promoted_accounts" []
            => "Promoted accounts of an account.",
        "getAdsPromotedAccount" GET "promoted_accounts/{promoted_account_id}" [promoted_account_id]
            => "A promoted account.",
        "deleteAdsPromotedAccount" DELETE "promoted_accounts/{promoted_account_id}"
            [promoted_account_id]
            => "Ends the promotion of an account.",
        "createAdsPromotedAccount" POST "promoted_accounts" []
            => "Promotes an account with a line item.",
        "getAdsPromotedPosts" GET "promoted_posts" | "promoted_tweets" []
            => "Promoted posts of an account." at per_quarter_hour(10_000),
        "getAdsPromotedPost" GET "promoted_posts/{promoted_post_id}"
            | "promoted_tweets/{promoted_post_id}" [promoted_post_id]
            => "A promoted post." at per_quarter_hour(10_000),
        "deleteAdsPromotedPost" DELETE "promoted_posts/{promoted_post_id}"
            | "promoted_tweets/{promoted_post_id}" [promoted_post_id]
            => "Ends the promotion of a post.",
        "createAdsPromotedPosts" POST "promoted_posts" | "promoted_tweets" []
            => "Promotes posts with a line item.",
        "getAdsPromotableUsers" GET "promotable_users" []
            => "Users whose posts an account may promote.",
        "getAdsPromotableUser" GET "promotable_users/{promotable_user_id}" [promotable_user_id]
            => "A user whose posts an account may promote.",
        "getAdsScheduledPromotedPosts" GET "scheduled_promoted_posts"
            | "scheduled_promoted_tweets" []
            => "Promotions of scheduled posts.",
        "getAdsScheduledPromotedPost" GET "scheduled_promoted_posts/{scheduled_promoted_post_id}"
            | "scheduled_promoted_tweets/{scheduled_promoted_post_id}" [scheduled_promoted_post_id]
            => "A promotion of a scheduled post.",
        "createAdsScheduledPromotedPost" POST "scheduled_promoted_posts"
            | "scheduled_promoted_tweets" []
            => "Promotes a scheduled post with a line item.",
        "createAdsLineItemCategory" POST "line_item_curated_categories" []
            => "Adds a curated category to a line item.",
        "updateAdsLineItemCategory" PUT
            "line_item_curated_categories/{line_item_curated_category_id}"
            [line_item_curated_category_id]
            => "Changes the curated category of a line item.",
        "deleteAdsLineItemCategory" DELETE
            "line_item_curated_categories/{line_item_curated_category_id}"
            [line_item_curated_category_id]
            => "Removes a curated category from a line item.",
        "getAdsTrackingTags" GET "tracking_tags" []
            => "Tracking tags of an account.",
        "getAdsTrackingTag" GET "tracking_tags/{tracking_tag_id}" [tracking_tag_id]
            => "A tracking tag.",
        "deleteAdsTrackingTag" DELETE "tracking_tags/{tracking_tag_id}" [tracking_tag_id]
            => "Deletes a tracking tag.",
        "createAdsTrackingTag" POST "tracking_tags" []
            => "Adds a tracking tag to a line item.",
        "updateAdsTrackingTag" PUT "tracking_tags/{tracking_tag_id}" [tracking_tag_id]
            => "Changes a tracking tag.",
    }
}
