//! Where a user may be sent.

use base::Error;
use identity::apps::{self, App};
use identity::oauth1_flow::{self as flow, LoopbackPorts};

use super::{CALLBACK, app};
use test_stores::{World, each_engine};

const REGISTERED: [&str; 6] = [
    "https://client.example/cb",
    "http://127.0.0.1:3000/cb",
    "https://client.example:8443/other",
    "myapp://done/here",
    "com.example.app:/back",
    "https://client.example/r?to=a",
];
const GOOD: &[&str] = &[
    "oob",
    "https://client.example/cb",
    "https://client.example/cb?x=1",
    "https://client.example/cb?x=https://evil.example/",
    "https://client.example:443/cb",
    "HTTPS://Client.Example/cb",
    "https://client.example:8443/other",
    "http://127.0.0.1:3000/cb?a=b&c",
    "myapp://done/here?x=1",
    "com.example.app:/back",
    "https://client.example/r?to=a",
    "https://client.example/r?to=a&b=c",
];
const BAD: &[&str] = &[
    "http://client.example/cb",
    "https://client.example/cb/",
    "https://client.example/CB",
    "https://client.example/cb2",
    "https://client.example/c",
    "https://client.example/",
    "https://client.example",
    "https://client.example//cb",
    "https://client.example/./cb",
    "https://client.example/x/../cb",
    "https://client.example/%63b",
    "https://client.example/cb#f",
    "https://client.example/cb?x#f",
    "https://client.example:8443/cb",
    "https://client.example:/cb",
    "https://client.example:+443/cb",
    "https://client.example:4430/cb",
    "https://user@client.example/cb",
    "https://client.example@evil.example/cb",
    "https://client.example.evil.example/cb",
    "https://evil.example/cb?https://client.example/cb",
    "https://evil.example\\@client.example/cb",
    "https://client.example\\.evil.example/cb",
    "https://client.example./cb",
    "//client.example/cb",
    "/cb",
    "client.example/cb",
    " https://client.example/cb",
    "https://client.example/cb\r\nSet-Cookie: a=b",
    "https://client.example/cb?x=ä",
    "http://127.0.0.1:3001/cb",
    "http://localhost:3000/cb",
    "http://127.0.0.1/cb",
    "myapp://done/there",
    "myapp:/done/here",
    "javascript:alert(1)",
    "data:text/html,x",
    "OOB",
    "https://client.example/r?to=b",
    "https://client.example/r?to=ab",
    "https://client.example/r",
];

#[each_engine]
async fn callback_must_be_registered_by_the_app(world: World) {
    let mut app = app(&world, "demo", &REGISTERED).await;
    // An older list may hold what would not be taken now.
    app.callback_urls.push_str("\njavascript:alert(1)\ndata:text/html,x");
    let judge = async |app: &App, url: &'static str, ports| {
        let app = app.clone();
        let work = move |tx: &mut store::Tx<'_>| flow::issue_request_token(tx, &app, url, None, ports);
        match world.store.write(work).await {
            Ok(_) => "ok".to_owned(),
            Err(Error::Refused(refusal)) => format!("{refusal:?}"),
            Err(Error::Failed(fault)) => panic!("{fault}"),
        }
    };
    for url in GOOD {
        assert_eq!(judge(&app, url, LoopbackPorts::Exact).await, "ok", "{url}");
    }
    for url in BAD {
        let message = judge(&app, url, LoopbackPorts::Exact).await;
        assert!(message.contains("code: 415"), "{url}: {message}");
    }
    let any = LoopbackPorts::AnyOnLoopback;
    for url in ["http://127.0.0.1:49152/cb", "http://localhost:3000/cb", "http://[::1]/cb"] {
        assert_eq!(judge(&app, url, any).await, "ok", "{url}");
    }
    for url in ["https://client.example:8080/cb", "http://127.0.0.1:49152/no"] {
        assert!(judge(&app, url, any).await.contains("415"), "{url}");
    }
    let missing = judge(&app, "", LoopbackPorts::Exact).await;
    assert!(missing.contains("code: 38") && missing.contains("oauth_callback parameter"));
    let desktop = App { callback_urls: String::new(), ..app.clone() };
    assert_eq!(judge(&desktop, "oob", LoopbackPorts::Exact).await, "ok");
    let message = judge(&desktop, CALLBACK, LoopbackPorts::Exact).await;
    assert!(message.contains("code: 417"), "{message}");
    let suspended = App { state: apps::AppStatus::Suspended, ..app };
    let message = judge(&suspended, CALLBACK, LoopbackPorts::Exact).await;
    assert_eq!(message, "Unauthenticated(App)");
}
