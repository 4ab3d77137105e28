//! The kinds of writes. Each function writes once, or does something and undoes it.

use serde_json::{Value, json};

use super::{Expected, WriteProgram};
use crate::harness::{TestRequest, percent_encode, unique_number};
use crate::media::{samples, upload_request};

pub(super) const ALL: [fn(&WriteProgram<'_>); 10] = [
    publish_and_delete,
    publish_poll,
    like_and_unlike,
    follow_and_unfollow,
    send_message,
    create_campaign,
    create_campaigns_in_batch,
    upload_picture,
    register_and_delete_webhook,
    replace_bearer_token,
];
/// Kinds that are counted.
pub(super) const KINDS: usize = 15;

fn text_of(value: &Value, name: &str) -> String {
    value["data"][name].as_str().unwrap_or_else(|| panic!("{value}")).to_owned()
}

impl WriteProgram<'_> {
    fn token(&self) -> &str {
        &self.actors.user.1
    }

    fn get(&self, target: String) -> TestRequest {
        TestRequest::get(target).bearer(self.token())
    }

    /// A path of the user.
    fn own(&self, rest: &str) -> String {
        format!("/2/users/{}{rest}", self.actors.user.0)
    }
}

fn publish_and_delete(program: &WriteProgram<'_>) {
    let text = format!("Entry {}", unique_number());
    let request = TestRequest::post("/2/posts").json(&json!({ "text": text })).bearer(program.token());
    let Some(created) = program.send("post", &text, request) else { return };
    let target = format!("/2/posts/{}", text_of(&created.json(), "id"));
    program.record(&text, program.get(target.clone()), Expected::Contains(text.clone()));
    if unique_number().is_multiple_of(3) {
        let request = TestRequest::delete(target.clone()).bearer(program.token());
        if program.send("deletion", &text, request).is_some() {
            program.record(&text, program.get(target), Expected::Lacks(text.clone()));
        }
    }
}

fn publish_poll(program: &WriteProgram<'_>) {
    let text = format!("Which {}", unique_number());
    let poll = json!({ "text": text, "poll": { "options": ["Tea", "Coffee"], "duration_minutes": 1440 } });
    let request = TestRequest::post("/2/posts").json(&poll).bearer(program.token());
    let Some(created) = program.send("poll", &text, request) else { return };
    let target = format!("/2/posts/{}?expansions=attachments.poll_ids", text_of(&created.json(), "id"));
    program.record(&text, program.get(target), Expected::Contains("Coffee".to_owned()));
}

fn like_and_unlike(program: &WriteProgram<'_>) {
    for post in &program.actors.posts {
        let subject = format!("like {post}");
        let read = || program.get(format!("/2/posts/{post}/liking_users"));
        let user = &program.actors.user.0;
        let body = json!({ "post_id": post });
        let request = TestRequest::post(program.own("/likes")).json(&body).bearer(program.token());
        if program.send("like", &subject, request).is_some() {
            program.record(&subject, read(), Expected::Contains(user.clone()));
        }
        let request = TestRequest::delete(program.own(&format!("/likes/{post}"))).bearer(program.token());
        if program.send("unlike", &subject, request).is_some() {
            program.record(&subject, read(), Expected::Lacks(user.clone()));
        }
    }
}

fn follow_and_unfollow(program: &WriteProgram<'_>) {
    for target in &program.actors.followed {
        let subject = format!("follow {target}");
        let read = || program.get(program.own("/following?max_results=100"));
        let body = json!({ "target_user_id": target });
        let request = TestRequest::post(program.own("/following")).json(&body).bearer(program.token());
        if program.send("follow", &subject, request).is_some() {
            program.record(&subject, read(), Expected::Contains(target.clone()));
        }
        let request = TestRequest::delete(program.own(&format!("/following/{target}"))).bearer(program.token());
        if program.send("unfollow", &subject, request).is_some() {
            program.record(&subject, read(), Expected::Lacks(target.clone()));
        }
    }
}

fn send_message(program: &WriteProgram<'_>) {
    let text = format!("Message {}", unique_number());
    let target = format!("/2/dm_conversations/with/{}/messages", program.actors.other);
    let request = TestRequest::post(target).json(&json!({ "text": text })).bearer(program.token());
    let Some(created) = program.send("message", &text, request) else { return };
    let target = format!("/2/dm_events/{}", text_of(&created.json(), "dm_event_id"));
    program.record(&text, program.get(target), Expected::Contains(text.clone()));
}

fn create_campaign(program: &WriteProgram<'_>) {
    let (name, actors) = (format!("Campaign {}", unique_number()), program.actors);
    let path = format!("/12/accounts/{}/campaigns", actors.account);
    let target = format!(
        "{path}?funding_instrument_id={}&name={}&daily_budget_amount_local_micro=20000000&entity_status=PAUSED",
        actors.instrument,
        percent_encode(&name)
    );
    let Some(created) = program.send("campaign", &name, TestRequest::post(target).bearer(program.token())) else {
        return;
    };
    let target = format!("{path}/{}", text_of(&created.json(), "id"));
    program.record(&name, program.get(target), Expected::Contains(name.clone()));
}

fn create_campaigns_in_batch(program: &WriteProgram<'_>) {
    let (name, actors) = (format!("Batch {}x", unique_number()), program.actors);
    let item = |number: usize| {
        json!({ "operation_type": "Create", "params": {
            "name": format!("{name}{number}"), "funding_instrument_id": actors.instrument,
            "daily_budget_amount_local_micro": 10_000_000, "entity_status": "PAUSED",
        } })
    };
    let items = Value::Array((0..40).map(item).collect());
    let path = format!("/12/batch/accounts/{}/campaigns", actors.account);
    let list = format!("/12/accounts/{}/campaigns?count=1000&q={}", actors.account, percent_encode(&name));
    let stored = format!("\"name\":\"{name}");
    let request = TestRequest::post(path).json(&items).bearer(program.token());
    let expected = match program.send("batch", &name, request) {
        Some(_) => Expected::Contains(format!("{stored}39")),
        None => Expected::AllOrNone(stored.clone(), 40),
    };
    program.record(&format!("{name}, its last"), program.get(list.clone()), expected);
    program.record(&name, program.get(list), Expected::AllOrNone(stored, 40));
}

fn upload_picture(program: &WriteProgram<'_>) {
    let subject = format!("upload {}", unique_number());
    let request = upload_request("tweet_image", &samples::png(8, 8)).bearer(program.token());
    let Some(created) = program.send("upload", &subject, request) else { return };
    let key = text_of(&created.json(), "media_key");
    program.record(&subject, program.get(format!("/2/media/{key}")), Expected::Contains(key.clone()));
}

fn register_and_delete_webhook(program: &WriteProgram<'_>) {
    let (number, bearer) = (unique_number(), &program.actors.app_bearer);
    let url = program.actors.receiver.url(&format!("/hook{number}"));
    let list = || TestRequest::get("/2/webhooks").bearer(bearer);
    let request = TestRequest::post("/2/webhooks").json(&json!({ "url": url })).bearer(bearer);
    let Some(created) = program.send("webhook", &url, request) else { return };
    let id = text_of(&created.json(), "id");
    program.record(&url, list(), Expected::Contains(id.clone()));
    let request = TestRequest::delete(format!("/2/webhooks/{id}")).bearer(bearer);
    if program.send("webhook deletion", &url, request).is_some() {
        program.record(&url, list(), Expected::Lacks(id));
    }
}

fn replace_bearer_token(program: &WriteProgram<'_>) {
    let (key, secret) = &program.actors.rotated_app;
    let request = TestRequest::post("/oauth2/token").form("grant_type=client_credentials").basic(key, secret);
    let Some(granted) = program.send("token", "the token of the app", request) else { return };
    let token = granted.json()["access_token"].as_str().unwrap().to_owned();
    let read = || TestRequest::get(format!("/2/users/{}", program.actors.other)).bearer(&token);
    program.record("the token of the app", read(), Expected::Status(200));
    let form = format!("access_token={}", percent_encode(&token));
    let request = TestRequest::post("/oauth2/invalidate_token").form(form).basic(key, secret);
    if program.send("token invalidation", "the token of the app", request).is_some() {
        program.record(&token, read(), Expected::Status(401));
    }
}
