//! Who may do what to whose account: every declared operation by everyone who may not.

use std::collections::BTreeMap;

use ads::access::Role;
use serde_json::{Value, json};

use super::{Advertiser, send};
use crate::harness::{Answer, Ask, Person, shared};

/// The operations that name an account.
fn operations() -> impl Iterator<Item = &'static ads::Operation> {
    let all = ads::operations().iter();
    all.filter(|operation| operation.path.contains("{account_id}"))
}

/// A request of an operation; whether it is a good one is looked at after who asks.
fn ask(operation: &ads::Operation, account: &str, before: &str) -> Ask {
    let mut path = operation.path.replace("<posts>", "posts");
    path = path.replace("{account_id}", account);
    while let Some((head, rest)) = path.split_once('{') {
        let (_, tail) = rest.split_once('}').unwrap();
        path = format!("{head}1{tail}");
    }
    let ask = Ask::new(operation.method, format!("{before}{path}"));
    if operation.takes_json() {
        ask.json(&json!({}))
    } else {
        ask
    }
}

fn code(answer: &Answer) -> String {
    let body = answer.json();
    let code = body["errors"][0]["code"].as_str();
    format!("{} {}", answer.status, code.unwrap_or_default())
}

/// What is wrong, over all operations that `concerns`.
fn wrong(
    person: &Person<'_>,
    account: &str,
    before: &str,
    concerns: impl Fn(&ads::Operation) -> bool,
    holds: impl Fn(&str) -> bool,
) -> Vec<String> {
    let all = operations().filter(|operation| concerns(operation));
    all.filter_map(|operation| {
        let answered = code(&person.signed(ask(operation, account, before)));
        let line = || format!("{} {}: {answered}", operation.method, operation.path);
        (!holds(&answered)).then(line)
    })
    .collect()
}

const NO_ACCOUNT: &str = "403 ACCOUNT_NOT_FOUND";

#[test]
fn an_account_is_nothing_to_those_without_a_role_on_it() {
    let (ads, stranger) = (Advertiser::new(), shared().person("stranger"));
    let nothing = Vec::<String>::new();
    let here = |operation: &ads::Operation| !operation.sandbox;
    let is_unknown = |code: &str| code == NO_ACCOUNT;
    assert!(operations().count() > 60);
    assert_eq!(
        wrong(&stranger, &ads.account, "", here, is_unknown),
        nothing
    );
    // An account of production is not in the sandbox, and the other way round.
    let sandbox = "/ads-sandbox";
    let all = |_: &ads::Operation| true;
    assert_eq!(
        wrong(&ads.person, &ads.account, sandbox, all, is_unknown),
        nothing
    );
    let made = send(&ads.person, "POST", "/ads-sandbox/12/accounts", &[]).is(200);
    let inside = made["data"][0]["id"].as_str().unwrap();
    assert_eq!(wrong(&ads.person, inside, "", here, is_unknown), nothing);
    assert_eq!(wrong(&stranger, inside, sandbox, all, is_unknown), nothing);
    let only = |operation: &ads::Operation| operation.sandbox;
    let is_elsewhere = |code: &str| code == "405 METHOD_NOT_ALLOWED";
    assert_eq!(
        wrong(&ads.person, &ads.account, "", only, is_elsewhere),
        nothing
    );
    // Whoever deletes an account has none.
    let path = format!("{sandbox}/12/accounts/{inside}");
    send(&ads.person, "DELETE", &path, &[]).is(200);
    assert_eq!(
        wrong(&ads.person, inside, sandbox, all, is_unknown),
        nothing
    );
}

#[test]
fn a_role_allows_what_it_is_for_and_nothing_else() {
    let (ads, colleague) = (Advertiser::new(), shared().person("colleague"));
    for role in Role::ALL {
        let grant = ["ads", "account", "role", &ads.account, &colleague.username];
        shared().cli(&[&grant[..], &[role.name()]].concat()).well();
        let forbidden =
            |operation: &ads::Operation| !operation.sandbox && !operation.who.allows(role);
        let refused = |code: &str| code == "403 ACTION_NOT_ALLOWED";
        let nothing = Vec::<String>::new();
        assert_eq!(
            wrong(&colleague, &ads.account, "", forbidden, refused),
            nothing,
            "{role:?}"
        );
        let allowed = |operation: &ads::Operation| !operation.sandbox && operation.who.allows(role);
        let served = |code: &str| !code.starts_with('5') && code != NO_ACCOUNT;
        assert_eq!(
            wrong(&colleague, &ads.account, "", allowed, served),
            nothing,
            "{role:?}"
        );
    }
}

/// One of each of some kinds, by the path that they are at.
fn tree(ads: &Advertiser) -> BTreeMap<&'static str, String> {
    let campaign = ads.campaign();
    let item = ads.line_item(&campaign);
    let of_item = |path, more: &[(&str, &str)]| {
        ads.make(path, &[&[("line_item_id", item.as_str())], more].concat())
    };
    let tag = [
        ("tracking_tag_type", "IMPRESSION_TAG"),
        ("tracking_tag_url", "https://partner.example"),
    ];
    let keyword = [
        ("targeting_type", "BROAD_KEYWORD"),
        ("targeting_value", "bike"),
    ];
    let post = ads.person.says("Promoted");
    let promote = [("line_item_id", item.as_str()), ("post_ids", post.as_str())];
    let promoted = ads.send("POST", "/promoted_posts", &promote).is(200);
    BTreeMap::from([
        (
            "custom_audiences",
            ads.make("/custom_audiences", &[("name", "Readers")]),
        ),
        ("tracking_tags", of_item("/tracking_tags", &tag)),
        (
            "targeting_criteria",
            of_item("/targeting_criteria", &keyword),
        ),
        (
            "promoted_posts",
            promoted["data"][0]["id"].as_str().unwrap().to_owned(),
        ),
        ("funding_instruments", ads.instrument.clone()),
        ("line_items", item.clone()),
        ("campaigns", campaign),
    ])
}

#[test]
fn what_belongs_to_one_account_is_not_in_another() {
    let (ads, other) = (Advertiser::new(), Advertiser::new());
    let ids = tree(&ads);
    for (kind, id) in &ids {
        let one = format!("/{kind}/{id}");
        ads.get(&one, &[]);
        for operation in operations().filter(|operation| !operation.sandbox) {
            let path = operation.path.replace("<posts>", "posts");
            let is_one = path.split('/').nth_back(1) == Some(*kind) && path.ends_with('}');
            if !is_one || path.contains("/batch/") {
                continue;
            }
            // Whatever else is wrong: that it is not there comes first, or nothing is done.
            let answer = other.send(operation.method, &one, &[("with_deleted", "true")]);
            assert!(
                [400, 404].contains(&answer.status),
                "{} {}",
                answer.status,
                answer.text()
            );
        }
        assert_eq!(other.send("GET", &one, &[]).status, 404);
        assert_eq!(ads.get(&one, &[])["data"]["deleted"], false, "{kind}");
    }
    let lists = ["campaigns", "line_items", "promoted_posts", "tracking_tags"];
    for list in lists {
        for filter in ["campaign_ids", "line_item_ids", "funding_instrument_ids"] {
            let kind = filter.replace("_ids", "s");
            let found = other.get(&format!("/{list}"), &[(filter, &ids[kind.as_str()])]);
            let own: Vec<&Value> = found["data"].as_array().unwrap().iter().collect();
            assert!(own.is_empty(), "{list} {filter}: {found}");
        }
    }
}
