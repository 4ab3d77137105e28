//! Who works with an account.

use super::*;

fn add_user(manager: &mut Manager, name: &str, role: &str, composes: &str) -> TestResponse {
    manager.send("/people/new", &[("username", name), ("role", role), ("composes", composes)])
}

/// The roles that people have on the account.
fn roles(manager: &Manager) -> Vec<String> {
    let show = shared_server().run_cli(&["ads", "account", "show", &manager.ads.account]).json();
    let all = show["roles"].as_array().unwrap().iter();
    let mut roles: Vec<String> = all.map(|one| one["role"].as_str().unwrap_or_default().to_owned()).collect();
    roles.sort();
    roles
}

#[test]
fn user_is_added_to_an_account_with_a_valid_role_once() {
    let mut manager = Manager::new();
    let colleague = shared_server().new_user("colleague");
    let response = add_user(&mut manager, "", "AD_MANAGER", "false");
    assert_eq!(error_of(&response, "username"), "This field is required.");
    let response = add_user(&mut manager, "nobody_at_all", "AD_MANAGER", "false");
    assert!(error_of(&response, "username").contains("No user has this username"));
    let response = add_user(&mut manager, &colleague.username, "KING", "false");
    assert!(error_of(&response, "role").contains("Choose a role"));
    let response = add_user(&mut manager, &colleague.username, "ANALYST", "true");
    assert!(error_of(&response, "composes").contains("makes no posts"));
    let name = format!("@{}", colleague.username);
    assert_eq!(add_user(&mut manager, &name, "AD_MANAGER", "true").status, 303);
    let response = add_user(&mut manager, &name, "ANALYST", "false");
    assert!(error_of(&response, "username").contains("already"));
}

#[test]
fn last_administrator_stays_until_there_is_another() {
    let mut manager = Manager::new();
    let colleague = shared_server().new_user("colleague");
    assert_eq!(add_user(&mut manager, &colleague.username, "AD_MANAGER", "true").status, 303);
    let own = manager.ads.person.id.clone();
    let (edit, remove) = (format!("/people/{own}/edit"), format!("/people/{own}/remove"));
    let response = manager.send(&edit, &[("role", "ANALYST"), ("composes", "false")]);
    assert!(error_of(&response, "role").contains("needs an administrator"));
    let response = manager.send(&remove, &[]);
    assert_eq!(response.status, 400);
    assert!(response.text().contains("needs an administrator"), "{}", response.text());
    // Others decide nothing about it.
    let mut other = browser(&colleague.username);
    let home = manager.home.clone();
    for form in ["/people/new".to_owned(), edit.clone(), remove.clone()] {
        let path = format!("{home}{form}");
        let fields = [("username", colleague.username.as_str()), ("role", "ACCOUNT_ADMIN"), ("composes", "true")];
        let status = blindly(&mut other, &path, &fields).status;
        assert!(matches!(status, 403 | 404), "{form}: {status}");
        assert_ne!(other.get(path).status, 200, "{form}");
    }

    assert_eq!(roles(&manager), ["ACCOUNT_ADMIN", "AD_MANAGER"]);
    let theirs = format!("/people/{}", colleague.id);
    let fields = [("role", "ACCOUNT_ADMIN"), ("composes", "true")];
    manager.make(&format!("{theirs}/edit"), &fields);
    // With another one there, the first may go.
    assert_eq!(manager.send(&remove, &[]).status, 303);
    assert_eq!(manager.browser.get(home.clone()).status, 404);
    assert_eq!(other.get(home.clone()).status, 200);
    assert_eq!(roles(&manager), ["ACCOUNT_ADMIN"]);
    let listed = shared_server().run_cli(&["audit", "list", "--user", &manager.ads.person.username]);
    let listed = listed.json().to_string();
    for kind in ["ads_role.give", "ads_role.take"] {
        assert!(listed.contains(kind), "{kind}: {listed}");
    }
    assert!(listed.contains(&manager.ads.account));
}
