//! The tools of `/mcp`: each is one operation of the Ads API.

use std::sync::LazyLock;

use ads_delivery::operations;
use ads_engine::AdsOperation;
use base::{Error, Fault, Refusal};
use schema::ParameterLocation;
use schema::json_schema::{add_description, loose_object_schema};
use serde_json::{Map, Value, json};
use web::error_formats::{ads_error_body, refusal_status};
use web::request_context::RequestContext;

/// Name, operation, description.
type ToolDeclaration = (&'static str, &'static str, &'static str);

const TOOLS: &[ToolDeclaration] = &[
    ("list_ads_accounts", "getAdsAccounts", "Lists the ads accounts that you have a role on."),
    ("list_campaigns", "getAdsCampaigns", "Lists the campaigns of an account."),
    ("get_campaign", "getAdsCampaign", "Reads a campaign."),
    ("list_line_items", "getAdsLineItems", "Lists the line items of an account or of some campaigns."),
    ("list_funding_instruments", "getAdsFundingInstruments", "Lists what can pay for campaigns."),
    ("list_promoted_posts", "getAdsPromotedPosts", "Lists the posts that line items promote."),
    ("list_targeting_criteria", "getAdsTargetingCriteria", "Lists whom line items are shown to."),
    ("list_account_posts", "getAdsPosts", "Lists posts that the account can promote."),
    (
        "get_account_stats",
        "getAdsStats",
        "Reads statistics of up to 20 campaigns, line items, promoted posts or funding instruments over at most 7 days.",
    ),
    ("get_active_entities", "getAdsActiveEntities", "Lists what has had statistics in a period of at most 90 days."),
    ("get_campaign_reach", "getAdsReachOfCampaigns", "Reads how many people campaigns have reached, and how often."),
    ("search_targeting_interests", "getAdsInterests", "Searches the interests that line items can target."),
    ("search_targeting_locations", "getAdsLocations", "Searches the places that line items can target."),
    ("create_campaign", "createAdsCampaign", "Creates a campaign, paused."),
    ("update_campaign", "updateAdsCampaign", "Changes a campaign."),
    ("activate_campaign", "activateAdsCampaign", "Starts or resumes a campaign. It may spend money from now on."),
    ("create_line_item", "createAdsLineItem", "Creates a line item of a campaign, paused."),
    ("update_line_item", "updateAdsLineItem", "Changes a line item."),
    ("activate_line_item", "activateAdsLineItem", "Starts or resumes a line item. It may spend money from now on."),
    ("add_targeting_criterion", "createAdsTargetingCriterion", "Restricts whom a line item is shown to."),
    ("remove_targeting", "deleteAdsTargetingCriterion", "Removes a targeting criterion."),
    ("create_ad_post", "createAdsPost", "Creates a post, by default one that only promotion shows."),
    ("promote_post", "createAdsPromotedPosts", "Promotes posts with a line item."),
];

/// What agents create spends nothing until it is activated (contract ads §4.18).
const CREATED_PAUSED: &[&str] = &["createAdsCampaign", "createAdsLineItem"];

pub(super) struct Tool {
    name: &'static str,
    operation: &'static AdsOperation,
    description: &'static str,
}

static ALL: LazyLock<Vec<Tool>> = LazyLock::new(|| {
    let find = |(name, id, description): &ToolDeclaration| {
        let operation = operations().iter().find(|operation| operation.id == *id)?;
        Some(Tool { name, operation, description })
    };
    TOOLS.iter().filter_map(find).collect()
});

pub(super) fn find(name: &str) -> Option<&'static Tool> {
    ALL.iter().find(|tool| tool.name == name)
}

pub(super) fn describe_all() -> Vec<Value> {
    ALL.iter().map(Tool::describe).collect()
}

impl Tool {
    fn describe(&self) -> Value {
        json!({
            "name": self.name,
            "description": self.description,
            "inputSchema": self.input_schema(),
            "annotations": {
                "readOnlyHint": !self.operation.is_write,
                "destructiveHint": self.operation.method == "DELETE",
                "openWorldHint": false,
            },
        })
    }

    fn is_created_paused(&self) -> bool {
        CREATED_PAUSED.contains(&self.operation.id)
    }

    fn input_schema(&self) -> Value {
        let is_offered = |name: &str| name != "entity_status" || !self.is_created_paused();
        let params = self.operation.params.iter().filter(|param| is_offered(param.name.post));
        let mut schema = loose_object_schema(params.clone());
        for param in params {
            if let Some(property) = schema.pointer_mut(&format!("/properties/{}", param.name.post)) {
                add_description(property, param.name, param.summary);
            }
        }
        schema
    }

    /// The result of the call; what the operation refuses is a result too, so that agents read why.
    pub(super) async fn run(&self, call: &RequestContext, arguments: Option<&Value>) -> Result<Value, Error> {
        if !call.require_caller()?.scopes.contains(self.operation.required_scope()) {
            return Err(Refusal::ScopeMissing.into());
        }
        let empty = Map::new();
        let arguments = match arguments {
            None | Some(Value::Null) => &empty,
            Some(Value::Object(members)) => members,
            Some(_) => return Ok(render_result(&json!({ "message": "The arguments must be an object" }), true)),
        };
        if let Some(name) = arguments.keys().find(|name| !self.takes(name)) {
            let message = format!("{} has no parameter {name}", self.name);
            return Ok(render_result(&json!({ "message": message }), true));
        }
        match self.execute(call, arguments).await {
            Ok(body) => Ok(render_result(&body, false)),
            Err(Error::Refused(refusal)) if refusal_status(&refusal) < 500 => {
                Ok(render_result(&ads_error_body(&refusal), true))
            }
            Err(error) => Err(error),
        }
    }

    fn takes(&self, name: &str) -> bool {
        self.operation.params.iter().any(|param| param.name.matches(name) || param.aliases.contains(&name))
    }

    async fn execute(&self, call: &RequestContext, arguments: &Map<String, Value>) -> Result<Value, Error> {
        let in_path = self.operation.params.iter().filter(|param| param.location == ParameterLocation::Path);
        let path = in_path.filter_map(|param| {
            let value = arguments.get(param.name.post)?;
            Some((param.name.post, value.as_str().map_or_else(|| value.to_string(), str::to_owned)))
        });
        let mut params = arguments.clone();
        if self.is_created_paused() {
            params.insert("entity_status".to_owned(), "PAUSED".into());
        }
        let mut request = super::build_request(call, self.operation, path.collect(), Some(params.into()))?;
        super::choose_vocabulary(call, &mut request);
        let response = super::execute(call, request).await?;
        serde_json::from_str(&response.body)
            .map_err(|error| Fault::new(format!("an answer is not JSON: {error}")).into())
    }
}

fn render_result(body: &Value, is_error: bool) -> Value {
    let content = json!([{ "type": "text", "text": body.to_string() }]);
    json!({ "content": content, "structuredContent": body, "isError": is_error })
}

#[cfg(test)]
mod tests {
    use super::{ALL, TOOLS};

    #[test]
    fn every_tool_has_its_operation() {
        assert_eq!((TOOLS.len(), ALL.len()), (23, 23));
    }
}
