//! Configurations of measurement providers, which report the events of an advertiser's apps.

use ads_engine::{FieldSpec, ListFilter, Resource, ResourceVerb};
use base::VocabularyWord;

pub static APP_EVENT_PROVIDER_CONFIGURATION: Resource = Resource {
    name: "app_event_provider_configuration",
    id: VocabularyWord::same_in_both("id"),
    path: "app_event_provider_configurations",
    label: "app event provider configuration",
    not_found: "APP_EVENT_PROVIDER_CONFIGURATION_NOT_FOUND",
    fields: &[FieldSpec::text("provider_advertiser_id", 1, 255).required()],
    filters: &[ListFilter::ids("ids", "id", &APP_EVENT_PROVIDER_CONFIGURATION)],
    verbs: &[ResourceVerb::List, ResourceVerb::Get, ResourceVerb::Create, ResourceVerb::Delete],
    ..Resource::DEFAULT
};
