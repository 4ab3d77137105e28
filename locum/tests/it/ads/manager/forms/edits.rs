//! Forms that change a record, sent as a browser shows them.

use serde_json::json;

use super::super::Manager;
use super::{manager_with_picture, website_card};

/// The fields of a form that a page shows, as a browser sends them if nothing is typed.
fn shown_fields(html: &str) -> Vec<(String, String)> {
    let form = html.split("<div class=\"field\">").skip(1);
    let value_after =
        |text: &str, start: &str| text.split(start).nth(1).map(|rest| rest.split('"').next().unwrap().to_owned());
    let fields = form.filter_map(|field| {
        let name = value_after(field, " name=\"")?;
        let value = match field.split_once("<select") {
            Some((_, options)) => {
                let mut options = options.split("<option").skip(1);
                let first = options.clone().next().unwrap();
                value_after(options.find(|option| option.contains("\" selected>")).unwrap_or(first), "value=\"")
            }
            None => value_after(field, " value=\"").or_else(|| {
                let area = field.split_once("<textarea")?.1.split_once(">\n")?.1;
                Some(area.split("</textarea>").next().unwrap().to_owned())
            }),
        };
        Some((name, value.unwrap_or_default()))
    });
    fields.collect()
}

impl Manager {
    /// Opens a form, changes one field, and saves.
    fn change_field(&mut self, form: &str, name: &str, value: &str) {
        let mut fields = shown_fields(&self.shown(form));
        let field = fields.iter_mut().find(|(known, _)| known == name).unwrap();
        value.clone_into(&mut field.1);
        let fields: Vec<(&str, &str)> = fields.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        self.make(form, &fields);
    }
}

#[test]
fn renamed_card_and_draft_keep_a_medium_that_left_the_library() {
    let (mut manager, picture) = manager_with_picture();
    let card = website_card(&mut manager, &picture);
    let draft = [("text", "Spring"), ("media_1", picture.as_str()), ("nullcast", "true")];
    manager.make("/drafts/new", &draft);
    let draft = manager.ads.get("/draft_posts", &[])["data"][0]["id"].as_str().unwrap().to_owned();
    let before = manager.ads.get(&format!("/cards/{card}"), &[])["data"].clone();
    manager.picture();
    manager.ads.send("DELETE", &format!("/media_library/{picture}"), &[]).assert_status(200);
    manager.change_field(&format!("/cards/{card}/edit"), "name", "Summer card");
    let after = manager.ads.get(&format!("/cards/{card}"), &[])["data"].clone();
    assert_eq!((&after["name"], &after["components"]), (&json!("Summer card"), &before["components"]));
    manager.change_field(&format!("/drafts/{draft}/edit"), "name", "Season");
    let after = manager.ads.get("/draft_posts", &[])["data"][0].clone();
    assert_eq!((&after["name"], &after["media_keys"]), (&json!("Season"), &json!([picture])));
}

#[test]
fn field_that_changed_while_a_form_was_open_stays_unless_the_form_changes_it() {
    let mut manager = Manager::new();
    let campaign = manager.campaign();
    let path = format!("{}/campaigns/{campaign}/edit", manager.home);
    let open = manager.browser.get(path.clone());
    let others = [("entity_status", "PAUSED"), ("daily_budget_amount_local_micro", "30000000")];
    manager.ads.send("PUT", &format!("/campaigns/{campaign}"), &others).assert_status(200);
    let mut fields = shown_fields(&open.text());
    let mut save = |manager: &mut Manager, name: &str, value: &str| {
        fields.iter_mut().find(|(known, _)| known == name).unwrap().1 = value.to_owned();
        let fields: Vec<(&str, &str)> = fields.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        let saved = manager.browser.submit(&open, &path, &fields);
        (saved.status, manager.ads.get(&format!("/campaigns/{campaign}"), &[])["data"].clone())
    };
    // A form that is shown again still knows what it was first shown with.
    assert_eq!(save(&mut manager, "total_budget_amount_local_micro", "nothing").0, 400);
    let (status, stored) = save(&mut manager, "total_budget_amount_local_micro", "100");
    assert_eq!((status, &stored["total_budget_amount_local_micro"]), (303, &json!(100_000_000)));
    assert_eq!(
        (&stored["entity_status"], &stored["daily_budget_amount_local_micro"]),
        (&json!("PAUSED"), &json!(30_000_000))
    );
}
