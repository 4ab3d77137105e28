//! How far films are played, as far as the server served them.

use serde_json::{Value, json};

use super::samples::{Film, mp4, png};
use super::{at_once, path_of, person, picture, processed, seen};
use crate::harness::{TestRequest, TestResponse, TestUser, shared_server, wait_until};
use crate::views::wait_for_new_hour;

struct PostedFilm {
    author: TestUser<'static>,
    key: String,
    path: String,
    length: usize,
}

impl PostedFilm {
    /// Of a minute.
    fn new() -> Self {
        wait_for_new_hour();
        let author = person("author");
        let file = mp4(Film { duration_ms: 60_000, bytes: 60_000, ..Film::default() });
        let created = at_once(&author, "tweet_video", &file).assert_status(200);
        let id = created["data"]["id"].as_str().unwrap().to_owned();
        processed(&author, &id);
        author.create_post(&json!({ "media": { "media_ids": [id] } })).assert_status(201);
        let key = format!("7_{id}");
        let path = path_of(&seen(&author, &key)["variants"][0]["url"]);
        Self { author, key, path, length: file.len() }
    }

    fn get(&self, agent: &str, (first, end): (usize, usize)) -> TestResponse {
        let request = TestRequest::get(&*self.path).header("user-agent", agent);
        shared_server().send(request.header("range", format!("bytes={first}-{}", end - 1)))
    }

    fn analytics(&self, more: &str) -> Value {
        let target = format!("/2/media/analytics?media_keys={}&{}{more}", self.key, window());
        self.author.get(target).assert_status(200)["data"][0].clone()
    }

    fn wait_for(&self, name: &str, expected: i64) -> Value {
        wait_until(name, || self.analytics("")[name].as_i64() >= Some(expected));
        self.analytics("")
    }
}

/// From an hour ago until in an hour.
fn window() -> String {
    let time = |offset_ms| base::clock::wall_time().plus_ms(offset_ms);
    format!("start_time={}&end_time={}", time(-3_600_000), time(3_600_000))
}

fn figures(of: &Value) -> [i64; 7] {
    ["playback_start", "playback25", "playback50", "playback75", "playback_complete", "video_views", "watch_time_ms"]
        .map(|name| of[name].as_i64().unwrap_or_else(|| panic!("{name}: {of}")))
}

#[test]
fn served_ranges_of_a_film_count_as_playback() {
    let film = PostedFilm::new();
    let all = film.length;
    assert_eq!(figures(&film.analytics("")), [0; 7]);
    // The first third in small ranges, the same again, and the second quarter of another viewer.
    for _ in 0..2 {
        for first in (0..all / 3).step_by(1_000) {
            assert_eq!(film.get("one", (first, first + 1_000)).status, 206);
        }
    }
    film.get("two", (all / 4, all / 2));
    let seen = film.wait_for("watch_time_ms", 35_000);
    assert_eq!(figures(&seen), [1, 2, 0, 0, 0, 2, seen["watch_time_ms"].as_i64().unwrap()]);
    // All of it, by a user.
    let reader = person("reader");
    reader.get(&*film.path);
    let now = film.wait_for("playback_complete", 1);
    assert_eq!(figures(&now)[..6], [2, 3, 1, 1, 1, 3]);
    let watched = now["watch_time_ms"].as_i64().unwrap();
    assert_eq!(watched, 60_000 + seen["watch_time_ms"].as_i64().unwrap());
    for granularity in ["hourly", "daily", "total"] {
        let analytics = film.analytics(&format!("&granularity={granularity}"));
        let buckets = analytics["timestamped_metrics"].as_array().unwrap();
        let sum = |place: usize| -> i64 { buckets.iter().map(|bucket| figures(&bucket["metrics"])[place]).sum() };
        assert_eq!([sum(0), sum(3), sum(6)], [2, 1, watched], "{granularity}: {analytics}");
    }
    let fields = "media.fields=public_metrics,non_public_metrics,organic_metrics";
    let shown = film.author.get(format!("/2/media/{}?{fields}", film.key)).assert_status(200)["data"].clone();
    assert_eq!(shown["public_metrics"], json!({ "view_count": 3 }));
    let private = json!({
        "playback_0_count": 2, "playback_25_count": 3, "playback_50_count": 1, "playback_75_count": 1,
        "playback_100_count": 1,
    });
    assert_eq!(shown["non_public_metrics"], private);
    assert_eq!(shown["organic_metrics"]["playback_100_count"], 1);
}

#[test]
fn head_requests_and_ranges_outside_the_file_are_no_playback() {
    let film = PostedFilm::new();
    shared_server().send(TestRequest::new("HEAD", &*film.path).header("user-agent", "head"));
    film.get("beyond", (film.length + 1, film.length + 9));
    film.get("last", (film.length - 1, film.length));
    let seen = film.wait_for("watch_time_ms", 1);
    assert_eq!(figures(&seen), [0, 0, 0, 0, 0, 0, 1_000]);
}

#[test]
fn media_analytics_return_the_requested_fields() {
    let film = PostedFilm::new();
    let keys = |of: &Value| of.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
    let one = film.analytics("&media_analytics.fields=playback_start");
    assert_eq!(keys(&one), ["media_key", "playback_start"]);
    let buckets = film.analytics("&media_analytics.fields=timestamped_metrics,video_views&granularity=hourly");
    assert_eq!(keys(&buckets), ["media_key", "timestamped_metrics", "video_views"]);
    assert_eq!(keys(&buckets["timestamped_metrics"][0]["metrics"]), ["video_views"]);
    assert!(film.analytics("").get("cta_url_clicks").is_none(), "nothing counts them");
    let path = "/2/media/analytics";
    for wrong in [
        format!("?media_keys=nonsense&{}", window()),
        format!("?media_keys={}", film.key),
        format!("?{}", window()),
        format!("?media_keys={}&{}&granularity=weekly", film.key, window()),
        format!("?media_keys={}&{}&media_analytics.fields=likes", film.key, window()),
    ] {
        film.author.get(format!("{path}{wrong}")).assert_problem(400, "invalid-request");
    }
}

#[test]
fn analytics_of_foreign_media_are_refused() {
    let film = PostedFilm::new();
    let stranger = person("stranger");
    let photo = picture(&stranger, &png(8, 8));
    let hidden = at_once(&film.author, "tweet_image", &png(8, 8)).assert_status(200);
    let hidden = hidden["data"]["id"].as_str().unwrap();
    let keys = format!("3_{photo},{},3_{hidden},7_1", film.key);
    let target = format!("/2/media/analytics?media_keys={keys}&{}", window());
    let seen = stranger.get(&*target).assert_status(200);
    let own: Vec<&Value> = seen["data"].as_array().unwrap().iter().map(|one| &one["media_key"]).collect();
    assert_eq!(own, [&format!("3_{photo}")]);
    let errors = seen["errors"].as_array().unwrap().iter();
    let errors: Vec<_> =
        errors.map(|error| (error["value"].as_str().unwrap(), error["title"].as_str().unwrap())).collect();
    let unknown = format!("3_{hidden}");
    let expected = [(&*film.key, "Authorization Error"), (&*unknown, "Not Found Error"), ("7_1", "Not Found Error")];
    assert_eq!(errors, expected);
    let app = TestRequest::get(target).bearer(&stranger.app.bearer);
    shared_server().send(app).assert_problem(403, "unsupported-authentication");
}
