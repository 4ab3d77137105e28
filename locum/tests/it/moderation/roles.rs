//! Who may be granted what at the command line.

use crate::harness::TestServer;

#[test]
fn roles_are_granted_listed_and_revoked_but_not_the_last_owner() {
    let server = TestServer::start_network(&[]);
    let cli = |args: &[&str]| server.run_cli(args);
    for name in ["ada", "bob"] {
        cli(&["user", "create", name]).assert_success();
    }
    let unknown = cli(&["role", "grant", "ada", "king"]);
    assert!(unknown.stderr.contains("[moderator,admin,owner]"), "{}", unknown.stderr);
    cli(&["role", "grant", "ada", "owner"]).assert_success();
    cli(&["role", "grant", "bob", "moderator"]).assert_success();
    let listed = cli(&["role", "list"]).json();
    let listed = listed.as_array().unwrap().iter();
    let listed: Vec<_> = listed.map(|row| (row["username"].as_str().unwrap(), row["role"].as_str().unwrap())).collect();
    assert_eq!(listed, [("ada", "owner"), ("bob", "moderator")]);
    for args in [["role", "revoke", "ada", ""], ["role", "grant", "ada", "admin"]] {
        let args: Vec<&str> = args.into_iter().filter(|arg| !arg.is_empty()).collect();
        let refused = cli(&args);
        assert!(refused.stderr.contains("last owner"), "{}", refused.stderr);
    }
    cli(&["role", "revoke", "bob"]).assert_success();
    let setup = cli(&["role", "setup"]);
    assert!(setup.stderr.contains("has an owner"), "{}", setup.stderr);
}
