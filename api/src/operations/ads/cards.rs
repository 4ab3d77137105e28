//! Cards.

use super::account;

account! {
    CARDS {
        "getAdsCards" GET "cards" []
            => "Cards of an account.",
        "getAdsCard" GET "cards/{card_id}" [card_id]
            => "A card.",
        "createAdsCard" POST "cards" []
            => "Creates a card.",
        "updateAdsCard" PUT "cards/{card_id}" [card_id]
            => "Changes a card.",
        "deleteAdsCard" DELETE "cards/{card_id}" [card_id]
            => "Deletes a card.",
        "getAdsCardsByUri" GET "cards/all" []
            => "Cards of any kind, by card URI.",
        "getAdsCardOfAnyKind" GET "cards/all/{card_id}" [card_id]
            => "A card of any kind.",
        "getAdsPollCards" GET "cards/poll" []
            => "Poll cards of an account.",
        "getAdsPollCard" GET "cards/poll/{card_id}" [card_id]
            => "A poll card.",
        "createAdsPollCard" POST "cards/poll" []
            => "Creates a poll card.",
        "deleteAdsPollCard" DELETE "cards/poll/{card_id}" [card_id]
            => "Deletes a poll card.",
        "createAdsVideoConversationCard" POST "cards/video_conversation" []
            => "Creates a video conversation card.",
        "updateAdsVideoConversationCard" PUT "cards/video_conversation/{card_id}" [card_id]
            => "Changes a video conversation card.",
        "deleteAdsVideoConversationCard" DELETE "cards/video_conversation/{card_id}" [card_id]
            => "Deletes a video conversation card.",
    }
}
