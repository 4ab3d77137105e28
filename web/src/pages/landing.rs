//! The first page.

use network::registration::RegistrationPolicy;
use pages::Landing;

use super::front::LINKS;
use super::{Visit, run};
use crate::call::Call;
use crate::endpoint::Pending;

/// `GET /`.
pub(crate) fn show(call: Call) -> Pending {
    run(async move {
        let visit = Visit::of(&call).await?;
        let config = &call.home.front.config;
        let is_open = config.registration == RegistrationPolicy::Open;
        let page = Landing {
            frame: visit.frame(&call),
            sign_up: is_open.then(|| LINKS.sign_up.to_owned()),
            invited_only: config.registration == RegistrationPolicy::Invite,
            api: config.base_url.clone(),
            description: "/2/openapi.json".to_owned(),
        };
        Ok(visit.page(&call, &page)?)
    })
}
