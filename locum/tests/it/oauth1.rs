//! OAuth 1.0a over HTTP: what a signature covers, and every way in which it does not hold.

use std::io::{Read, Write};

use serde_json::json;

use crate::harness::{
    DatabaseEngine, OAuth1Credentials, PostgresServer, TestRequest, TestResponse, TestServer, percent_encode,
    shared_server, suite_engine, wait_until,
};

const PUBLIC: &str = "core.public_origins=https://api.x.com,https://api.twitter.com";

/// Sends a request under a header.
fn send(server: &TestServer, request: &TestRequest, header: &str) -> TestResponse {
    server.send(request.clone().authorization(header))
}

fn me() -> TestRequest {
    TestRequest::get("/2/users/me")
}

#[test]
fn signature_is_accepted_for_any_query_encoding() {
    let user = shared_server().new_user("signer");
    let queries = [
        "user.fields=created_at",
        "user.fields=created_at,description",
        "user.fields=created_at%2Cdescription",
        "user%2Efields=created_at",
        "expansions=pinned_post_id&user.fields=created_at",
    ];
    for query in queries {
        user.send_signed(TestRequest::get(format!("/2/users/me?{query}"))).assert_status(200);
    }
    // An operation refuses what it does not know only after the signature held.
    let strange = [
        "a=b%20c",
        "a=b+c",
        "a=%2B",
        "a=~",
        "a=%7E",
        "a=%E6%97%A5%E6%9C%AC",
        "a=",
        "a",
        "a=b&B=c",
        "a%20b=c",
        "a=b%26c",
        "a=*",
        "a='",
        "a=!%27()*",
        "a=%e2%98%83",
        "a=b=c",
        "a=1&b=%3D%25",
        "z=1&a=2",
        "a=%2520",
        "-._~=-._~",
        "a=/?",
        "A=1&a=1",
        "a=%0A",
        "a=:@",
    ];
    for query in strange {
        user.send_signed(TestRequest::get(format!("/2/users/me?{query}"))).assert_problem(400, "invalid-request");
    }
}

#[test]
fn repeated_parameter_is_refused_after_its_signature_is_verified() {
    let user = shared_server().new_user("signer");
    let request = TestRequest::get("/2/users/me?user.fields=name&user.fields=username");
    let sentence = "Duplicate parameters are not allowed: the `user.fields` query parameter";
    user.send_signed(request.clone()).assert_error(400, sentence);
    let header =
        request.oauth1_header(&OAuth1Credentials { token: ("x", "y"), ..user.oauth1_credentials() }, &user.server.url);
    send(user.server, &request, &header).assert_legacy_code(401, 89);
}

#[test]
fn token_operation_verifies_the_signature_before_its_parameters() {
    let user = shared_server().new_user("signer");
    let good = OAuth1Credentials { token: ("", ""), ..user.oauth1_credentials() };
    let bad = OAuth1Credentials { consumer: (good.consumer.0, "another secret"), ..good.clone() };
    let sent = |query: &str, form: &str, key: &OAuth1Credentials<'_>| {
        let request = TestRequest::post(format!("/oauth/request_token?oauth_callback=oob{query}")).form(form);
        send(user.server, &request, &request.oauth1_header(key, &user.server.url))
    };
    let twice = "&x_auth_access_type=read&x_auth_access_type=read";
    for (query, form) in [
        ("", "more=1&more=1"),
        ("&more=1", "more=2"),
        (twice, ""),
        ("&x_auth_access_type=none", ""),
        ("", "x_auth_access_type=none"),
    ] {
        sent(query, form, &bad).assert_legacy_code(401, 32);
        sent(query, form, &good).assert_legacy_code(400, 44);
    }
}

#[test]
fn request_token_is_issued_for_get_too() {
    let user = shared_server().new_user("signer");
    let key = OAuth1Credentials { token: ("", ""), ..user.oauth1_credentials() };
    let request = TestRequest::get("/oauth/request_token?oauth_callback=oob");
    let response = send(user.server, &request, &request.oauth1_header(&key, &user.server.url));
    assert!(response.status == 200 && response.text().contains("oauth_callback_confirmed=true"), "{}", response.text());
}

#[test]
fn access_level_in_the_authorization_header_is_read() {
    let user = shared_server().new_user("signer");
    let key = OAuth1Credentials { token: ("", ""), ..user.oauth1_credentials() };
    let (path, level) = ("/oauth/request_token?oauth_callback=oob", "x_auth_access_type");
    for (value, status) in [("read", 200), ("none", 400)] {
        let signed = TestRequest::post(format!("{path}&{level}={value}"));
        let header = format!("{}, {level}=\"{value}\"", signed.oauth1_header(&key, &user.server.url));
        let response = send(user.server, &TestRequest::post(path), &header);
        assert_eq!(response.status, status, "{value}: {}", response.text());
    }
}

#[test]
fn token_operation_ignores_undeclared_parameters() {
    let user = shared_server().new_user("signer");
    let key = OAuth1Credentials { token: ("", ""), ..user.oauth1_credentials() };
    for (query, form) in [("&more=1", ""), ("", "more=1"), ("&more=1", "further=2")] {
        let request = TestRequest::post(format!("/oauth/request_token?oauth_callback=oob{query}")).form(form);
        let response = send(user.server, &request, &request.oauth1_header(&key, &user.server.url));
        assert_eq!(response.status, 200, "{query} {form}: {}", response.text());
    }
}

#[test]
fn signature_for_the_public_address_is_accepted() {
    let server = TestServer::start(&["--set", PUBLIC]);
    let user = server.new_user("signer");
    let url = &user.server.url;
    let port = url.rsplit(':').next().unwrap();
    let origins = [
        url.clone(),
        format!("http://localhost:{port}"),
        "https://api.x.com".to_owned(),
        "https://api.twitter.com".to_owned(),
    ];
    for origin in origins {
        let host = origin.split("://").nth(1).unwrap().to_owned();
        let header = me().oauth1_header(&user.oauth1_credentials(), &origin);
        let request = me().header("host", if host.contains(port) { host } else { port_host(url) });
        assert_eq!(send(user.server, &request, &header).status, 200, "{origin}");
    }
    for origin in ["https://api.example.com", "http://api.x.com", "https://api.x.com:8443"] {
        let header = me().oauth1_header(&user.oauth1_credentials(), origin);
        send(user.server, &me(), &header).assert_legacy_code(401, 32);
    }
}

fn port_host(url: &str) -> String {
    url.split("://").nth(1).unwrap().to_owned()
}

#[test]
fn host_is_normalized_before_it_is_signed() {
    let server = TestServer::start(&["--set", PUBLIC]);
    let user = server.new_user("signer");
    for (host, origin) in
        [("API.X.com", "http://api.x.com"), ("api.x.com:80", "http://api.x.com"), ("api.x.com", "https://api.x.com")]
    {
        let header = me().oauth1_header(&user.oauth1_credentials(), origin);
        let response = send(user.server, &me().header("host", host), &header);
        assert_eq!(response.status, 200, "{host}: {}", response.text());
    }
}

#[test]
fn forwarding_headers_are_trusted_only_from_a_trusted_proxy() {
    let origin = "https://social.example";
    let through = |request: TestRequest| {
        request.header("x-forwarded-proto", "https").header("x-forwarded-host", "social.example")
    };
    let user = shared_server().new_user("signer");
    let header = me().oauth1_header(&user.oauth1_credentials(), origin);
    send(user.server, &through(me()), &header).assert_legacy_code(401, 32);

    let server = TestServer::start(&["--set", "listen.trusted_proxies=127.0.0.1"]);
    let user = server.new_user("signer");
    let header = me().oauth1_header(&user.oauth1_credentials(), origin);
    send(&server, &through(me()), &header).assert_status(200);
    let header = me().oauth1_header(&user.oauth1_credentials(), origin);
    send(&server, &me(), &header).assert_legacy_code(401, 32);
}

#[test]
fn signature_covers_a_form_and_no_json_body() {
    let user = shared_server().new_user("signer");
    let url = &user.server.url;
    let text = json!({ "text": "Signed, but not the body" });
    user.send_signed(TestRequest::post("/2/tweets").json(&text)).assert_status(201);

    // The operation wants JSON: it says so once the signature of the form held.
    let form = TestRequest::post("/2/tweets").form("status=Hello Ladies + Gentlemen&b=%E2%98%83");
    assert_eq!(user.send_signed(form.clone()).status, 415, "a form is not JSON");
    let mut other = form.clone();
    other.body = b"status=Hello".to_vec();
    send(user.server, &form, &other.oauth1_header(&user.oauth1_credentials(), url)).assert_legacy_code(401, 32);
    other.body.clear();
    send(user.server, &form, &other.oauth1_header(&user.oauth1_credentials(), url)).assert_legacy_code(401, 32);
}

#[test]
fn signature_is_accepted_in_header_query_or_form() {
    let user = shared_server().new_user("signer");
    let as_pairs = |header: &str| {
        let pairs = header.trim_start_matches("OAuth ").split(", ");
        pairs.map(|pair| pair.replace('"', "")).collect::<Vec<_>>().join("&")
    };
    let header = me().oauth1_header(&user.oauth1_credentials(), &user.server.url);
    user.server.send(TestRequest::get(format!("/2/users/me?{}", as_pairs(&header)))).assert_status(200);

    let other = shared_server().new_user("signer");
    let path = "/1.1/oauth/invalidate_token.json";
    let header = TestRequest::post(path).form("").oauth1_header(&other.oauth1_credentials(), &other.server.url);
    other.server.send(TestRequest::post(path).form(as_pairs(&header))).assert_status(200);
}

/// Each is routed as what was signed is.
#[test]
fn changed_method_or_spelling_of_a_signed_path_is_refused() {
    let user = shared_server().new_user("signer");
    let request = TestRequest::get("/2/tweets?ids=20&tweet.fields=created_at");
    let posts = TestRequest { target: "/2/posts?ids=20&tweet.fields=created_at".to_owned(), ..request.clone() };
    let sign = || request.oauth1_header(&user.oauth1_credentials(), &user.server.url);
    send(user.server, &posts, &sign()).assert_legacy_code(401, 32);
    let head = TestRequest { method: "HEAD", ..request.clone() };
    assert_eq!(send(user.server, &head, &sign()).status, 401);
    send(user.server, &request, &sign()).assert_status(200);
}

#[test]
fn any_changed_character_of_the_header_is_refused() {
    let user = shared_server().new_user("signer");
    let names = ["oauth_consumer_key", "oauth_nonce", "oauth_signature", "oauth_timestamp", "oauth_token"];
    for name in names {
        let header = me().oauth1_header(&user.oauth1_credentials(), &user.server.url);
        let at = header.find(&format!("{name}=\"")).unwrap() + name.len() + 5;
        let email = if &header[at..=at] == "1" { "2" } else { "1" };
        let mut flipped = header.clone();
        flipped.replace_range(at..=at, email);
        let response = send(user.server, &me(), &flipped);
        assert_eq!(response.status, 401, "{name}: {}", response.text());
        let code = response.json()["errors"][0]["code"].clone();
        let expected = match name {
            "oauth_token" => 89,
            "oauth_timestamp" => 135,
            _ => 32,
        };
        assert_eq!(code, expected, "{name}");
        if name != "oauth_timestamp" {
            send(user.server, &me(), &header).assert_status(200);
        }
    }
    for (consumer, token) in [(true, false), (false, true)] {
        let mut key = user.oauth1_credentials();
        if consumer {
            key.consumer.1 = "wrong";
        }
        if token {
            key.token.1 = "wrong";
        }
        let header = me().oauth1_header(&key, &user.server.url);
        send(user.server, &me(), &header).assert_legacy_code(401, 32);
    }
}

#[test]
fn nonce_is_accepted_once_even_across_a_crash() {
    // The port is another after the restart: the requests are signed for a public address.
    let mut server = TestServer::start(&["--set", "core.public_origins=https://api.x.com"]);
    let (first, second) = {
        let user = server.new_user("signer");
        let sign = || me().oauth1_header(&user.oauth1_credentials(), "https://api.x.com");
        let (first, second) = (sign(), sign());
        send(&server, &me(), &first).assert_status(200);
        send(&server, &me(), &first).assert_legacy_code(401, 32);
        send(&server, &me(), &second).assert_status(200);
        (first, second)
    };
    server.crash_and_restart();
    for header in [&first, &second] {
        send(&server, &me(), header).assert_legacy_code(401, 32);
    }
    server.stop();
    server.restart();
    send(&server, &me(), &first).assert_legacy_code(401, 32);
}

#[test]
fn nonce_is_accepted_once_even_across_a_crash_of_the_database_server() {
    if suite_engine() != DatabaseEngine::Postgres {
        return;
    }
    let mut postgres = PostgresServer::start();
    let server = TestServer::start_on_postgres(&postgres, &[]);
    let user = server.new_user("signer");
    let credentials = user.oauth1_credentials();
    // Also of a client whose clock is ahead.
    let signatures =
        [0, 200].map(|skew| me().oauth1_header(&OAuth1Credentials { skew, ..credentials.clone() }, &server.url));
    for header in &signatures {
        send(&server, &me(), header).assert_status(200);
    }
    postgres.crash_and_restart();
    wait_until("the database server is back", || server.send(TestRequest::get("/readyz")).status == 200);
    for header in &signatures {
        send(&server, &me(), header).assert_legacy_code(401, 32);
    }
}

#[test]
fn concurrent_replays_pass_exactly_once() {
    let user = shared_server().new_user("signer");
    let header = me().oauth1_header(&user.oauth1_credentials(), &user.server.url);
    let answers: Vec<u16> = std::thread::scope(|scope| {
        let send = || send(user.server, &me(), &header).status;
        let all: Vec<_> = (0..8).map(|_| scope.spawn(send)).collect();
        all.into_iter().map(|one| one.join().unwrap()).collect()
    });
    assert_eq!(answers.iter().filter(|status| **status == 200).count(), 1, "{answers:?}");
    assert!(answers.iter().all(|status| [200, 401].contains(status)), "{answers:?}");
}

#[test]
fn nonce_may_repeat_for_another_timestamp_or_token() {
    let (user, other) = (shared_server().new_user("signer"), shared_server().new_user("signer"));
    let nonce = Some(format!("nonce{}", user.id));
    let with = |key: OAuth1Credentials<'_>| me().oauth1_header(&key, &user.server.url);
    send(user.server, &me(), &with(OAuth1Credentials { nonce: nonce.clone(), ..user.oauth1_credentials() }))
        .assert_status(200);
    send(user.server, &me(), &with(OAuth1Credentials { nonce: nonce.clone(), ..other.oauth1_credentials() }))
        .assert_status(200);
    send(user.server, &me(), &with(OAuth1Credentials { nonce: nonce.clone(), skew: 9, ..user.oauth1_credentials() }))
        .assert_status(200);
}

#[test]
fn timestamp_too_far_off_is_refused() {
    let user = shared_server().new_user("signer");
    let at = |skew| me().oauth1_header(&OAuth1Credentials { skew, ..user.oauth1_credentials() }, &user.server.url);
    for skew in [-290, 290] {
        send(user.server, &me(), &at(skew)).assert_status(200);
    }
    for skew in [-302, 302, -100_000, 100_000] {
        send(user.server, &me(), &at(skew)).assert_legacy_code(401, 135);
    }
}

#[test]
fn other_signature_method_or_version_is_refused() {
    let user = shared_server().new_user("signer");
    let header = || me().oauth1_header(&user.oauth1_credentials(), &user.server.url);
    for method in ["PLAINTEXT", "RSA-SHA1", "HMAC-SHA256", "hmac-sha1"] {
        let other = header().replace("\"HMAC-SHA1\"", &format!("\"{method}\""));
        send(user.server, &me(), &other).assert_legacy_code(401, 32);
    }
    let plain = format!("{}&{}", percent_encode(&user.app.secret), percent_encode(user.oauth1_token().1));
    let plain = header().replace("HMAC-SHA1", "PLAINTEXT").split("oauth_signature=\"").next().unwrap().to_owned()
        + &format!("oauth_signature=\"{}\"", percent_encode(&plain));
    send(user.server, &me(), &plain).assert_legacy_code(401, 32);
    for version in ["2.0", "1.1", "1", ""] {
        let other = header().replace("\"1.0\"", &format!("\"{version}\""));
        send(user.server, &me(), &other).assert_legacy_code(401, 32);
    }
}

#[test]
fn malformed_authorization_header_is_refused() {
    let user = shared_server().new_user("signer");
    let header = || me().oauth1_header(&user.oauth1_credentials(), &user.server.url);
    let headers: Vec<Vec<u8>> = vec![
        header().replace("oauth_nonce=\"", "oauth_nonce=\"\u{f6}").into(),
        format!("{}, oauth_nonce=\"1\"", header()).into(),
        format!("{}, x=\"{}\"", header(), "x".repeat(10_000)).into(),
        b"OAuth ".to_vec(),
        b"OAuth \xff\xfe\xfd".to_vec(),
        b"Bearer ".to_vec(),
        b"Bearer \xff".to_vec(),
        b"Basic abc".to_vec(),
        b"Nonsense".to_vec(),
    ];
    for strange in headers {
        let shown = String::from_utf8_lossy(&strange).chars().take(90).collect::<String>();
        let status = raw(user.server, &strange);
        assert!(status.starts_with('4'), "{shown}: {status}");
    }
    send(user.server, &me(), &header()).assert_status(200);
}

/// The status of a request whose header no client library would send.
fn raw(server: &TestServer, authorization: &[u8]) -> String {
    let address = server.url.trim_start_matches("http://");
    let mut stream = std::net::TcpStream::connect(address).unwrap();
    let head = format!("GET /2/users/me HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\nAuthorization: ");
    stream.write_all(&[head.as_bytes(), authorization, b"\r\n\r\n"].concat()).unwrap();
    let mut response = String::new();
    stream.read_to_string(&mut response).unwrap();
    response.split(' ').nth(1).unwrap_or_default().to_owned()
}

#[test]
fn empty_oauth_token_is_no_token() {
    let user = shared_server().new_user("signer");
    let key = OAuth1Credentials { token: ("", ""), ..user.oauth1_credentials() };
    let header = me().oauth1_header(&key, &user.server.url);
    send(user.server, &me(), &header).assert_legacy_code(401, 32);
    let unsigned = format!("{header}, oauth_token=\"\"");
    assert_eq!(send(user.server, &me(), &unsigned).status, 401);
}
