//! The certificate authority of a development server.

use std::path::PathBuf;

use crate::harness::TestServer;

#[test]
fn certificate_authority_is_shown_and_renewed() {
    let mut server = TestServer::prepare(&["--world", "empty"]);
    let missing = server.run_cli(&["ca", "path"]);
    assert!(missing.code == 1 && missing.stderr.contains("start `locum dev`"), "{missing:?}");
    server.restart();
    let path = server.run_cli(&["ca", "path"]);
    let path = PathBuf::from(path.assert_success().stdout.trim());
    assert_eq!(path, server.data_dir().join("ca/ca.pem"));
    let before = std::fs::read(&path).unwrap();
    let shown = server.run_cli(&["ca", "show"]).json();
    assert!(shown["hosts"].as_array().unwrap().iter().any(|host| host == "api.x.com"), "{shown}");
    let renewed = server.run_cli(&["ca", "renew"]);
    assert!(renewed.stderr.contains("Restart the running server"), "{renewed:?}");
    assert_ne!(std::fs::read(&path).unwrap(), before);
    assert!(server.connect_tls("api.x.com").is_err(), "the running server has the old one");
    server.stop();
    server.restart();
    server.connect_tls("api.x.com").unwrap();
}
