//! The pages of the console: one module for each page.

mod certificate;
mod clients;
mod clock;
mod explorer;
mod faults;
mod home;
mod limits;
mod live;
mod people;
mod requests;
mod sign_in;
mod snapshots;
mod streams;
mod webhooks;
mod worlds;

use web::endpoint::Endpoint;

pub static ENDPOINTS: &[&[Endpoint]] = &[
    home::ENDPOINTS,
    certificate::ENDPOINTS,
    clients::ENDPOINTS,
    clock::ENDPOINTS,
    explorer::ENDPOINTS,
    faults::ENDPOINTS,
    limits::ENDPOINTS,
    live::ENDPOINTS,
    people::ENDPOINTS,
    requests::ENDPOINTS,
    sign_in::ENDPOINTS,
    snapshots::ENDPOINTS,
    streams::ENDPOINTS,
    webhooks::ENDPOINTS,
    worlds::ENDPOINTS,
];
