//! `/console/clients`: how each client library connects, and which have done so.

mod guides;

use emulator::clients::{CredentialsKind, SeenClient};
use pages::console::{ClientGuide, ClientsPage, SeenClientItem};
use portal::{BrowserVisit, PageExit, PageQuery, portal_page};
use web::endpoint::Endpoint;
use web::request_context::{HttpReply, RequestContext};
use web::security_headers::allow_scripts;

use super::certificate;
use crate::world_environment::WorldEnvironment;
use guides::{GUIDES, GuideTemplate};

const PATH: &str = "/console/clients";

pub(super) static ENDPOINTS: &[Endpoint] =
    &[portal_page("consoleClients", "GET", PATH, &show)
        .summary("How client libraries connect, and which have done so.")];

async fn show(call: RequestContext) -> Result<HttpReply, PageExit> {
    let visit = BrowserVisit::from_call(&call).await?;
    let query = PageQuery::from_call(&call).unwrap_or_default();
    let is_revealed = query.get("secrets") == Some("shown");
    let environment = WorldEnvironment::load(&call).await?;
    let emulator = call.emulator()?;
    let seen = emulator.clients.list();
    let credentials = environment.credentials(is_revealed);
    let mut values = environment.addresses();
    values.extend(credentials.iter().cloned());
    let without_guide = seen.iter().filter(|client| GUIDES.iter().all(|guide| guide.family != client.family));
    let page = ClientsPage {
        frame: visit.page_frame(&call),
        addresses: environment.addresses(),
        credentials,
        is_revealed,
        is_recording: emulator.journal.is_enabled(),
        path: PATH,
        certificate: emulator.ca_file.is_some().then_some(certificate::PATH),
        emulated_hosts: call.state.page_context.config.emulated_hosts.clone(),
        others: without_guide.map(seen_item).collect(),
        guides: GUIDES.iter().map(|guide| render_guide(guide, &values, &seen)).collect(),
    };
    Ok(allow_scripts(visit.render_page(&call, &page)?))
}

/// `@API_KEY@` in a program stands for the value of `LOCUM_API_KEY`.
fn render_guide(guide: &GuideTemplate, values: &[(String, String)], seen: &[SeenClient]) -> ClientGuide {
    let mut program = guide.program.to_owned();
    for (name, value) in values {
        program = program.replace(&format!("@{}@", name.trim_start_matches("LOCUM_")), value);
    }
    ClientGuide {
        id: guide.id,
        language: guide.language,
        library: guide.library,
        install: guide.install,
        file: guide.file,
        program,
        run: guide.run,
        note: guide.note,
        seen: seen.iter().find(|client| client.family == guide.family).map(seen_item),
    }
}

fn seen_item(client: &SeenClient) -> SeenClientItem {
    let credentials: Vec<&str> = client.credentials().map(CredentialsKind::name).collect();
    SeenClientItem {
        family: client.family,
        first: client.first_at,
        last: client.last_at,
        requests: client.requests,
        successes: client.successes,
        credentials: format!("credentials: {}", credentials.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use emulator::clients::{OTHER_CLIENTS, find_family};

    #[test]
    fn programs_contain_the_values_of_the_world() {
        let values = [("LOCUM_BASE_URL".to_owned(), "http://127.0.0.1:1".to_owned())];
        let guide = GUIDES.iter().find(|guide| guide.id == "curl").unwrap();
        let shown = render_guide(guide, &values, &[]);
        assert!(shown.program.contains("http://127.0.0.1:1/2/users/me"), "{}", shown.program);
        assert!(shown.seen.is_none());
    }

    #[test]
    fn every_guide_waits_for_a_family_that_is_recognized() {
        for guide in GUIDES {
            assert_ne!(guide.family, OTHER_CLIENTS, "{}", guide.id);
            assert_eq!(find_family(guide.example_agent, guide.example_agent), guide.family, "{}", guide.id);
        }
    }
}
