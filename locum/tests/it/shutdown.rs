//! Signals to a server that is busy.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::time::Duration;

use rustix::process::Signal;
use serde_json::json;

use crate::harness::{DeliveryResponse, StreamClient, TestRequest, TestServer, WebhookReceiver, wait_until};
use crate::media::samples;

const RULES: &str = "/2/posts/search/stream/rules";

/// Sends all of an upload but its last bytes; returns the connection and the rest.
fn start_upload(server: &TestServer) -> (TcpStream, Vec<u8>) {
    let file = samples::png(64, 64);
    let part = "--XX\r\ncontent-disposition: form-data; name=\"media\"; filename=\"a.png\"\r\n\r\n";
    let category = "--XX\r\ncontent-disposition: form-data; name=\"media_category\"\r\n\r\ntweet_image\r\n";
    let body = [category.as_bytes(), part.as_bytes(), &file, b"\r\n--XX--\r\n"].concat();
    let head = format!(
        "POST /2/media/upload HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer {}\r\nConnection: close\r\n\
         Content-Type: multipart/form-data; boundary=XX\r\nContent-Length: {}\r\n\r\n",
        server.env_value("USER_TOKEN"),
        body.len()
    );
    let mut client = TcpStream::connect(server.url.strip_prefix("http://").unwrap()).unwrap();
    let (now, later) = body.split_at(body.len() / 2);
    client.write_all(&[head.as_bytes(), now].concat()).unwrap();
    (client, later.to_vec())
}

fn send_webhook_event(server: &TestServer, receiver: &WebhookReceiver, app: &crate::harness::TestApp) {
    let body = json!({ "url": receiver.url("/hook") });
    let created = server.send(TestRequest::post("/2/webhooks").json(&body).bearer(&app.bearer)).assert_status(200);
    server.execute_command(&["webhook", "send", created["data"]["id"].as_str().unwrap(), "--key", "1"]).unwrap();
    wait_until("the delivery is in progress", || receiver.received_requests().len() == 1);
}

#[test]
fn signal_finishes_streams_uploads_and_webhooks_within_the_grace_period() {
    let mut server = TestServer::start(&["--set", "listen.shutdown_grace=20s"]);
    let app = server.new_app("enterprise");
    let receiver = WebhookReceiver::open(&app.secret);
    receiver.set_delivery_handler(|_| DeliveryResponse::After(Duration::from_secs(1), 200));
    let rule = json!({ "add": [{ "value": "shutdown" }] });
    server.send(TestRequest::post(RULES).bearer(&app.bearer).json(&rule)).assert_status(201);
    let mut stream = StreamClient::open(&server, "/2/posts/search/stream", &app.bearer);
    let (mut upload, rest) = start_upload(&server);
    send_webhook_event(&server, &receiver, &app);
    server.signal(Signal::TERM);
    assert_eq!(stream.disconnect_type(), "OperationalDisconnect");
    upload.write_all(&rest).unwrap();
    let mut response = String::new();
    upload.read_to_string(&mut response).unwrap();
    assert!(response.starts_with("HTTP/1.1 200 ") && response.contains("media_key"), "{response}");
    let (code, took) = server.wait_for_exit();
    assert_eq!(code, Some(0));
    assert!(took < Duration::from_secs(20), "{took:?}");
    // What was delivered is not delivered again.
    server.restart();
    std::thread::sleep(Duration::from_millis(500));
    assert_eq!(receiver.received_requests().len(), 1);
}

#[test]
fn silent_mail_server_does_not_delay_the_end() {
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let mail = format!("mail.smtp_url=smtp://{}", silent.local_addr().unwrap());
    let settings = [&mail, "mail.from=no-reply@harbour.example", "auth.registration=invite"];
    let args: Vec<&str> = settings.iter().flat_map(|set| ["--set", set]).collect();
    let mut server = TestServer::start_network(&args);
    server.run_cli(&["invite", "--email", "grace@mail.example"]).assert_success();
    let _connection = silent.accept().unwrap();
    let (code, took) = server.stop();
    assert_eq!(code, Some(0));
    assert!(took < Duration::from_secs(4), "{took:?}");
}

#[test]
fn second_signal_ends_a_busy_server_at_once() {
    let mut server = TestServer::start(&["--set", "listen.shutdown_grace=60s"]);
    let (mut upload, rest) = start_upload(&server);
    wait_until("the upload is in progress", || {
        server.send_control(TestRequest::get("/metrics")).text().contains("locum_requests_in_flight 1")
    });
    server.signal(Signal::TERM);
    wait_until("the server shuts down", || TcpStream::connect(server.url.strip_prefix("http://").unwrap()).is_err());
    server.signal(Signal::TERM);
    let (code, took) = server.wait_for_exit();
    assert_eq!(code, Some(130));
    assert!(took < Duration::from_secs(2), "{took:?}");
    let mut response = String::new();
    let _reset = upload.write_all(&rest).and_then(|()| upload.read_to_string(&mut response));
    assert_eq!(response, "");
}
