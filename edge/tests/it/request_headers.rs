use super::*;

fn post(fields: &str, body: &str) -> String {
    format!("POST / HTTP/1.1\r\nHost: a\r\n{fields}\r\n\r\n{body}")
}

#[tokio::test]
async fn contradictory_header_gets_400_and_is_closed() {
    let server = start(ListenerLimits::default(), echo);
    for bad in [
        "GET / HTTP/1.1\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: a b\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: ada@a\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: a/b\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: a:b\r\n\r\n",
        &post("Authorization: Bearer a\r\nAuthorization: Bearer b", ""),
        &post("Content-Length: 3\r\nTransfer-Encoding: chunked", "0\r\n\r\n"),
        &post("Transfer-Encoding: chunked\r\nContent-Length: 3", "0\r\n\r\n"),
        &post("Content-Length: 3\r\nContent-Length: 4", "abcd"),
        &post("Content-Length: +3", "abc"),
        &post("Content-Length: 3, 4", "abc"),
        &post("Content-Length : 3", "abc"),
        &post("Content-Length: 99999999999999999999", ""),
        &post("Transfer-Encoding: gzip, chunked", "0\r\n\r\n"),
        &post("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked", "0\r\n\r\n"),
        &post("Transfer-Encoding: identity", ""),
        &post("X: a\r\n folded", ""),
        &post("X: a\rb", ""),
        &post("X: a\nY: b", ""),
        &post("X: a\0b", ""),
        &post("X y: a", ""),
        "GET / HTTP/1.1\nHost: a\n\n",
        "GET /\r\n\r\n",
        "GET / HTTP/9.9\r\nHost: a\r\n\r\n",
        "\x16\x03\x01\x02\x00\x01\x00\x01\r\n\r\n",
    ] {
        assert_eq!(server.exchange_status(bad).await, "400", "{bad:?}");
    }
    assert!(server.responds().await);
}

#[tokio::test]
async fn contradictory_header_smuggles_no_second_request() {
    let server = start(ListenerLimits::default(), echo);
    let smuggled = post("Content-Length: 6\r\nTransfer-Encoding: chunked", "0\r\n\r\nG");
    let received = server.exchange(format!("{GET}{smuggled}ET /hidden HTTP/1.1\r\nHost: a\r\n\r\n")).await;
    assert_eq!(received.matches("HTTP/1.1 ").count(), 2, "{received}");
    assert!(received.contains("HTTP/1.1 400") && !received.contains("hidden"), "{received}");
    assert!(received.contains(r#""status":400"#) && received.contains("connection: close"), "{received}");
}

#[tokio::test]
async fn http10_request_needs_no_host() {
    let server = start(ListenerLimits::default(), echo);
    assert_eq!(server.exchange_status("GET / HTTP/1.0\r\n\r\n").await, "200");
}

#[tokio::test]
async fn request_header_above_a_size_limit_is_refused() {
    let server = start(ListenerLimits::default(), echo);
    let many = "x: y\r\n".repeat(150);
    let get = |target: &str, fields: &str| format!("GET {target} HTTP/1.1\r\nHost: a\r\n{fields}\r\n");
    for (request, status) in [
        (get("/", &many), "431"),
        (get("/", &format!("x: {}\r\n", "y".repeat(66_000))), "431"),
        (get("/", &format!("x: {}\r\n", "y".repeat(500_000))), "431"),
        (get(&format!("/{}", "a".repeat(70_000)), ""), "414"),
        (get(&format!("/{}", "a".repeat(49_200)), ""), "414"),
        (get(&format!("http://a/?{}", "a".repeat(49_152)), ""), "414"),
        (get(&format!("/{}", "a".repeat(3_000_000)), ""), "414"),
    ] {
        let length = request.len();
        let received = server.exchange(&request).await;
        assert!(received.starts_with(&format!("HTTP/1.1 {status} ")), "{status} at {length}: {received}");
    }
    let close = "Connection: close\r\n";
    let fits = get("/", &format!("{close}x: {}\r\n", "y".repeat(65_000)));
    assert_eq!(server.exchange_status(fits).await, "200");
    assert_eq!(server.exchange_status(get(&format!("/{}", "a".repeat(48_000)), close)).await, "200");
    server.wait_until(|stats| stats.open == 0 && stats.bad_requests >= 6).await;
}

#[tokio::test]
async fn request_that_is_no_http_is_counted() {
    let server = start(ListenerLimits::default(), echo);
    for request in ["garbage\r\n\r\n", "GET / HTTP/1.1\r\nHost: a\r\nno colon\r\n\r\n"] {
        assert_eq!(server.exchange_status(request).await, "400");
    }
    server.wait_until(|stats| stats.open == 0 && stats.bad_requests == 2).await;
}

#[tokio::test]
async fn chunk_extension_or_trailer_above_a_size_limit_is_refused() {
    let server = start(short_timeouts(), echo);
    let chunked = |body: &str| post("Transfer-Encoding: chunked\r\nConnection: close", body);
    let fine = chunked("3;a=b\r\nabc\r\n0\r\nT: x\r\n\r\n");
    assert!(server.exchange(fine).await.ends_with("abc"));
    for bad in [
        format!("3;{}\r\nabc\r\n0\r\n\r\n", "e".repeat(20_000)),
        format!("0\r\nT: {}\r\n\r\n", "e".repeat(200_000)),
        format!("0\r\n{}\r\n", "T: e\r\n".repeat(200)),
        "fffffffffffffffff\r\nabc".to_owned(),
        "-3\r\nabc\r\n0\r\n\r\n".to_owned(),
        "3\r\nabcd\r\n0\r\n\r\n".to_owned(),
    ] {
        assert_eq!(server.exchange_status(chunked(&bad)).await, "400", "{bad:.40}");
    }
    let endless = format!("3;{}", "e".repeat(5_000_000));
    let received = server.exchange(chunked(&endless)).await;
    assert!(received.is_empty() || received.starts_with("HTTP/1.1 400"), "{received}");
    server.wait_until(|stats| stats.open == 0).await;
}
