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
    assert!(unknown.stderr.contains("[possible values: moderator, admin, owner]"), "{}", unknown.stderr);
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

#[test]
fn last_owner_who_is_not_suspended_cannot_be_suspended_or_banned() {
    let server = TestServer::start_network(&[]);
    let cli = |args: &[&str]| server.run_cli(args);
    for name in ["ada", "bob"] {
        cli(&["user", "create", name]).assert_success();
    }
    cli(&["role", "grant", "ada", "owner"]).assert_success();
    let all = [
        &["user", "suspend", "ada"][..],
        &["mod", "suspend", "ada", "--for", "7d"],
        &["mod", "ban", "ada", "--reason", "Rule 2"],
    ];
    for args in all {
        let refused = cli(args);
        assert!(refused.assert_exit_code(1).stderr.contains("last owner"), "{refused:?}");
    }
    assert_eq!(cli(&["user", "show", "ada"]).json()["state"], "active");
    cli(&["mod", "warn", "ada"]).assert_success();
    cli(&["role", "grant", "bob", "owner"]).assert_success();
    cli(&["user", "suspend", "ada"]).assert_success();
    cli(&["mod", "ban", "bob", "--reason", "Rule 2"]).assert_exit_code(1);
    cli(&["role", "revoke", "bob"]).assert_exit_code(1);
}
