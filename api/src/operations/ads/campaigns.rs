//! Campaigns.

use web::endpoint::{Endpoint, per_quarter_hour};

use super::{account, path_param, planned_endpoint};

account! {
    CAMPAIGNS {
        "getAdsCampaigns" GET "campaigns" []
            => "Campaigns of an account." at per_quarter_hour(10_000),
        "getAdsCampaign" GET "campaigns/{campaign_id}" [campaign_id]
            => "A campaign." at per_quarter_hour(10_000),
        "createAdsCampaign" POST "campaigns" []
            => "Creates a campaign.",
        "updateAdsCampaign" PUT "campaigns/{campaign_id}" [campaign_id]
            => "Changes a campaign.",
        "deleteAdsCampaign" DELETE "campaigns/{campaign_id}" [campaign_id]
            => "Deletes a campaign.",
    }
}

pub static BATCHES: &[Endpoint] = &[planned_endpoint(
    "batchAdsCampaigns",
    "POST",
    "/12/batch/accounts/{account_id}/campaigns",
    "Creates, changes and deletes up to 40 campaigns, all or none.",
)
.aliases(&["/11/batch/accounts/{account_id}/campaigns"])
.params(&[&[path_param("account_id")]])];
