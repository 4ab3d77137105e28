//! The console of a development server: one file for each page.

mod clients;
mod clock;
mod explorer;
mod faults;
mod home;
mod limits;
mod people;
mod requests;
mod select_option;
mod snapshots;
mod streams;
mod webhooks;
mod worlds;

pub use clients::{ClientGuide, ClientsPage, SeenClientItem};
pub use clock::{ClockReportItem, ConsoleClockPage, DueItem};
pub use explorer::{
    ExplorerField, ExplorerFieldSet, ExplorerGroup, ExplorerInput, ExplorerOperation, ExplorerOperationPage,
    ExplorerPage, ExplorerResponse,
};
pub use faults::{FaultEffectGroup, FaultEffectItem, FaultInput, FaultRuleItem, FaultsPage};
pub use home::{ConsoleHomePage, WebhookAttemptLine, WorldEventLine};
pub use limits::{ConsoleLimitsPage, CostItem};
pub use people::{
    MintedToken, PeoplePage, PersonApp, PersonItem, PersonPage, PersonPost, PersonRelation, PostFields, ProfileFields,
};
pub use requests::{
    CausedDeliveryLine, CausedEventLine, ComparedPart, ConsoleRequestDiffPage, ConsoleRequestPage, ConsoleRequestsPage,
    RecordedMessage, RecordedRequestLine, RequestFilterForm,
};
pub use select_option::{SelectOption, word_options};
pub use snapshots::{ComparedTable, ComparisonSection, ConsoleSnapshotsPage, SnapshotRow};
pub use streams::{ConsoleStreamsPage, EndedStreamItem, StreamItem, TrafficItem};
pub use webhooks::{AppWebhook, ConsoleWebhooksPage};
pub use worlds::{ConsoleWorldsPage, WorldKeysSection, WorldRow};

pub(crate) use requests::RequestTable;
pub(crate) use select_option::LabeledSelect;

/// `(path, name, what it is for)` of each page, in the order of the navigation.
pub(crate) const SECTIONS: [(&str, &str, &str); 13] = [
    ("/console", "Home", "What happens at the moment"),
    ("/console/requests", "Requests", "Every request with its response, and what it caused"),
    ("/console/clients", "Connect", "Set up a client library, and see its first request arrive"),
    ("/console/explorer", "API explorer", "Find an endpoint and call it"),
    ("/console/streams", "Streams", "Open connections, and those that ended"),
    ("/console/webhooks", "Webhooks", "Registered webhooks, challenges and deliveries"),
    ("/console/faults", "Faults", "Make requests, streams and deliveries fail"),
    ("/console/clock", "Clock", "Stop the time, or move it forward"),
    ("/console/snapshots", "Snapshots", "Save the world, and return to it"),
    ("/console/worlds", "Worlds", "Isolated copies for parallel tests"),
    ("/console/people", "People", "Users and their relationships; act as any of them"),
    ("/console/limits", "Limits and cost", "Rate limits, and what the calls would cost"),
    ("/mailbox", "Mailbox", "Emails that a production server would have sent"),
];
