//! The time zone of a member: where pages show times in it, and how they read them.

use base::{AccountTimeZone, Time};

use super::{press, signed_in};
use crate::harness::shared_server;
use crate::pages::browser::Browser;

const SETTINGS: &str = "/settings/profile";
const HALF_AN_HOUR_OFF: &str = "Asia/Kolkata";

fn save_zone(browser: &mut Browser<'_>, zone: &str) -> u16 {
    let page = browser.get(SETTINGS);
    browser.submit(&page, SETTINGS, &[("name", "Ada"), ("messages", "everyone"), ("time_zone", zone)]).status
}

/// The zone's abbreviation in the exact time of the first post on a page.
#[track_caller]
fn shown_zone(browser: &mut Browser<'_>, path: &str) -> String {
    let page = browser.get(path).assert_page(200);
    let (_, after) = page.split_once("<time datetime=\"").unwrap_or_else(|| panic!("no time in {page}"));
    let (title, _) = after.split_once("title=\"").unwrap().1.split_once('"').unwrap();
    title.rsplit(' ').next().unwrap().to_owned()
}

#[test]
fn pages_show_times_in_the_zone_of_the_member_who_reads_them() {
    let server = shared_server();
    let (author, mut browser) = signed_in(server, "tzauthor");
    author.publish_text("What time is it?");
    let profile = format!("/{}", author.username);
    assert_eq!(shown_zone(&mut browser, &profile), "UTC");
    assert!(browser.get(SETTINGS).assert_page(200).contains("<option selected>UTC</option>"));
    assert_eq!(save_zone(&mut browser, HALF_AN_HOUR_OFF), 303);
    assert!(browser.get(SETTINGS).assert_page(200).contains("<option selected>Asia/Kolkata</option>"));
    for path in [&*profile, "/home", "/settings/sessions", "/settings/security"] {
        assert_eq!(shown_zone(&mut browser, path), "IST", "{path}");
    }
    let (_, mut reader) = signed_in(server, "tzreader");
    assert_eq!(shown_zone(&mut reader, &profile), "UTC", "the reader's zone counts");
    assert_eq!(shown_zone(&mut Browser::new(server), &profile), "UTC");
    assert_eq!(save_zone(&mut browser, "UTC"), 303);
    assert_eq!(shown_zone(&mut browser, &profile), "UTC");
}

#[test]
fn unknown_time_zone_is_refused_at_its_field_and_changes_nothing() {
    let (owner, mut browser) = signed_in(shared_server(), "tzwrong");
    for wrong in ["Mars/Olympus", "europe/berlin", "Etc/GMT+3", "UTC+1"] {
        let page = browser.get(SETTINGS);
        let fields = [("name", "Changed"), ("messages", "everyone"), ("time_zone", wrong)];
        let reply = browser.submit(&page, SETTINGS, &fields).assert_page(400);
        assert!(reply.contains("id=\"time_zone-error\"") && reply.contains("Choose a time zone"), "{reply}");
    }
    let kept = owner.get("/2/users/me").assert_status(200);
    assert_ne!(kept["data"]["name"], "Changed");
    let page = browser.get(SETTINGS);
    let without = [("name", "Changed"), ("messages", "everyone")];
    assert_eq!(browser.submit(&page, SETTINGS, &without).status, 303, "a form without the field keeps the zone");
}

#[test]
fn post_is_scheduled_in_the_zone_of_its_author() {
    let (_, mut browser) = signed_in(shared_server(), "tzplans");
    assert_eq!(save_zone(&mut browser, HALF_AN_HOUR_OFF), 303);
    let zone = AccountTimeZone::from_name(HALF_AN_HOUR_OFF);
    let page = browser.get("/compose");
    let form = page.assert_page(200);
    assert!(form.contains("Date and time in Asia/Kolkata") && form.contains(" IST now."), "{form}");
    let day = 24 * 3600 * 1000;
    let now = Time::from_ms(base::clock::wall_time().ms() / 60_000 * 60_000);
    let at = now.plus_ms(2 * day);
    let local = zone.format_local(at);
    let fields = [("text", "In two days"), ("publish_at", &*local), ("act", "schedule")];
    assert_eq!(browser.submit(&page, "/compose", &fields).status, 303);
    let scheduled = browser.get("/compose/scheduled").assert_page(200);
    assert!(scheduled.contains(&format!("datetime=\"{at}\"")), "no {at} in {scheduled}");
    assert!(
        scheduled.contains(&zone.format_long(at)) && scheduled.contains("Times are in Asia/Kolkata"),
        "{scheduled}"
    );
    let (_, id) = scheduled.split_once("<li id=\"d").unwrap();
    let id = id.split_once('"').unwrap().0;
    let edit = browser.get(format!("/compose?draft={id}")).assert_page(200);
    assert!(edit.contains(&format!("value=\"{local}\"")), "no {local} in {edit}");
    assert_eq!(press(&mut browser, "/compose/scheduled", &format!("delete-draft {id}")), 303);
}

#[test]
fn account_is_erased_at_a_time_in_the_zone_of_its_owner() {
    let (owner, mut browser) = signed_in(shared_server(), "tzleaver");
    assert_eq!(save_zone(&mut browser, HALF_AN_HOUR_OFF), 303);
    let page = browser.get("/settings/data");
    assert_eq!(browser.submit(&page, "/settings/data/delete", &[("password", "a long secret")]).status, 303);
    let offer = Browser::new(shared_server()).sign_in(&owner.username, "a long secret", "/home").assert_page(200);
    assert!(offer.contains("Restore your account?") && offer.contains(" IST\""), "{offer}");
}
