//! The ways of an upload, and who may take them.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde_json::{Value, json};

use super::samples::{Film, gif, jpeg, mp4, png};
use super::{MULTIPART, append, at_once, in_segments, multipart, parts, person, picture, processed, seen};
use crate::harness::{TestRequest, TestServer, percent_encode, shared_server};

#[test]
fn photo_is_uploaded_in_one_step_and_described() {
    let author = person("author");
    let created = at_once(&author, "tweet_image", &png(90, 60)).assert_status(200);
    let data = &created["data"];
    let (id, key) = (data["id"].as_str().unwrap(), data["media_key"].as_str().unwrap());
    assert_eq!(key, format!("3_{id}"));
    assert_eq!(data["image"], json!({ "image_type": "image/png", "w": 90, "h": 60 }));
    assert!((86_000..=86_400).contains(&data["expires_after_secs"].as_i64().unwrap()));
    assert_eq!(data["processing_info"], Value::Null);
    let described = json!({ "id": id, "metadata": { "alt_text": { "text": "a <plain> square" } } });
    let response = author.post("/2/media/metadata", &described).assert_status(200);
    assert_eq!(response["data"]["associated_metadata"]["alt_text"]["text"], "a <plain> square");
}

#[test]
fn status_of_an_unknown_upload_names_the_parameter() {
    let refused = person("author").get("/2/media/upload?media_id=1&command=STATUS").assert_status(404);
    assert_eq!(refused["errors"][0]["parameter"], "media_id", "{refused}");
}

#[test]
fn metadata_of_media_is_returned_and_another_shape_refused() {
    let author = person("author");
    let id = picture(&author, &png(90, 60));
    let metadata = json!({
        "allow_download_status": { "allow_download": true },
        "alt_text": { "text": "a square" },
        "audience_policy": { "creator_subscriptions": ["Any"], "x_subscriptions": [] },
        "content_expiration": { "timestamp_sec": 1_740_787_200 },
        "domain_restrictions": { "whitelist": ["example.com"] },
        "found_media_origin": { "provider": "giphy", "id": "u5BzatR15TZ04" },
        "geo_restrictions": { "whitelisted_country_codes": ["us"], "blacklisted_country_codes": [] },
        "management_info": { "managed": false },
        "preview_image": { "media_key": { "media": id, "media_category": "TweetImage" } },
        "sensitive_media_warning": { "adult_content": false, "graphic_violence": false, "other": false },
        "shared_info": { "shared": false },
        "sticker_info": { "stickers": [{ "id": "12345", "aspect_ratio": 1.78 }] },
        "upload_source": { "upload_source": "gallery" },
    });
    let set = |metadata: &Value| author.post("/2/media/metadata", &json!({ "id": id, "metadata": metadata }));
    let response = set(&metadata).assert_status(200);
    assert_eq!(response["data"], json!({ "id": id, "associated_metadata": metadata }));
    for wrong in [
        json!({ "sensitive_media_warning": { "adult_content": "very" } }),
        json!({ "found_media_origin": { "provider": "giphy" } }),
        json!({ "found_media_origin": { "provider": "ninecharacters", "id": "1" } }),
        json!({ "upload_source": "gallery" }),
        json!({ "colour": {} }),
    ] {
        set(&wrong).assert_problem(400, "invalid-request");
    }
    let others = json!({ "id": id, "metadata": { "shared_info": { "shared": true } } });
    person("other").post("/2/media/metadata", &others).assert_status(404);
}

#[test]
fn post_with_media_that_was_marked_as_sensitive_is_possibly_sensitive() {
    let author = person("author");
    let is_sensitive = |id: &str| {
        let body = json!({ "text": "look", "media": { "media_ids": [id] } });
        let post = author.create_post(&body).assert_status(201)["data"]["id"].as_str().unwrap().to_owned();
        let read = author.get(format!("/2/posts/{post}?post.fields=possibly_sensitive")).assert_status(200);
        read["data"]["possibly_sensitive"].clone()
    };
    let set = |id: &str, metadata: &Value| {
        author.post("/2/media/metadata", &json!({ "id": id, "metadata": metadata })).assert_status(200);
    };
    let [marked, plain] = [10, 20].map(|width| picture(&author, &png(width, 10)));
    set(&marked, &json!({ "sensitive_media_warning": { "graphic_violence": true } }));
    set(&marked, &json!({ "upload_source": { "upload_source": "gallery" } }));
    set(&plain, &json!({ "sensitive_media_warning": { "graphic_violence": false } }));
    assert_eq!([is_sensitive(&marked), is_sensitive(&plain)], [true, false]);
}

#[test]
fn title_and_description_of_media_are_in_the_metadata_of_the_post() {
    let author = person("author");
    let [titled, plain] = [10, 20].map(|width| picture(&author, &png(width, 10)));
    let metadata = |media: &Value| {
        let created = author.create_post(&json!({ "text": "look", "media": media })).assert_status(201);
        let id = created["data"]["id"].as_str().unwrap();
        let read = author.get(format!("/2/posts/{id}?post.fields=media_metadata")).assert_status(200);
        read["data"]["media_metadata"].clone()
    };
    let with_both = json!({ "media_ids": [titled], "title": "A square", "description": "It is <red>." });
    let expected = json!([{ "media_key": format!("3_{titled}"), "title": "A square", "description": "It is <red>." }]);
    assert_eq!(metadata(&with_both), expected);
    assert_eq!(metadata(&json!({ "media_ids": [plain] })), Value::Null);
}

#[test]
fn post_with_a_photo_ends_in_its_link_and_returns_its_media() {
    let author = person("author");
    let created = at_once(&author, "tweet_image", &png(90, 60)).assert_status(200);
    let (id, key) = (created["data"]["id"].as_str().unwrap(), created["data"]["media_key"].as_str().unwrap());
    let described = json!({ "id": id, "metadata": { "alt_text": { "text": "a <plain> square" } } });
    author.post("/2/media/metadata", &described).assert_status(200);
    let body = json!({ "text": "look", "media": { "media_ids": [id] } });
    let created = author.create_post(&body).assert_status(201)["data"].clone();
    let post = created["id"].as_str().unwrap();
    let target = format!(
        "/2/posts/{post}?expansions=attachments.media_keys&post.fields=attachments,entities,\
         media_metadata,display_text_range&media.fields=url,alt_text,width,height,type"
    );
    let read = author.get(target).assert_status(200);
    assert_eq!(read["data"]["attachments"]["media_keys"], json!([key]));
    assert_eq!(read["data"]["media_metadata"][0]["alt_text"], "a <plain> square");
    let media = &read["includes"]["media"][0];
    assert_eq!((&media["width"], &media["height"]), (&json!(90), &json!(60)));
    assert_eq!((&media["type"], &media["alt_text"]), (&json!("photo"), &json!("a <plain> square")));
    let address = media["url"].as_str().unwrap();
    assert!(address.starts_with(&format!("{}/media/{key}.", shared_server().url)), "{address}");
    // The text ends in a link to the picture, which is no part of what is displayed.
    let text = read["data"]["text"].as_str().unwrap();
    assert_eq!(text, format!("look {address}"));
    assert_eq!(created["text"], text, "it was answered as it is read");
    assert_eq!(read["data"]["display_text_range"], json!([0, 4]));
    let link = &read["data"]["entities"]["urls"][0];
    assert_eq!((&link["start"], &link["media_key"]), (&json!(5), &json!(key)));
    let user = author.get("/2/users/me?user.fields=public_metrics").assert_status(200);
    assert_eq!(user["data"]["public_metrics"]["media_count"], 1);
    let again = json!({ "text": "look", "media": { "media_ids": [id] } });
    assert_eq!(author.create_post(&again).status, 403, "the same again");
    let other = picture(&author, &png(10, 10));
    author.create_post(&json!({ "text": "look", "media": { "media_ids": [other] } })).assert_status(201);
}

#[test]
fn video_segments_are_accepted_in_any_order() {
    let author = person("author");
    let film = Film { bytes: 40_000, is_turned: true, shown_ms: 700, ..Film::default() };
    let file = mp4(film);
    let begin = json!({ "media_type": "video/mp4", "media_category": "tweet_video",
        "total_bytes": file.len() });
    let ended = in_segments(&author, &begin, &file, &[2, 0, 3, 1]);
    let (id, key) = (ended["id"].as_str().unwrap(), ended["media_key"].as_str().unwrap());
    assert_eq!(key, format!("7_{id}"));
    assert_eq!(ended["processing_info"]["check_after_secs"], 1);
    let described = json!({ "id": id, "metadata": { "alt_text": { "text": "noise" } } });
    author.post("/2/media/metadata", &described).assert_status(200);
    let status = processed(&author, id);
    let info = &status["data"]["processing_info"];
    assert_eq!(info, &json!({ "state": "succeeded", "progress_percent": 100 }));
    assert_eq!(status["data"]["size"], file.len());
    let media = seen(&author, key);
    assert_eq!(media["type"], "video");
    assert_eq!((&media["width"], &media["height"]), (&json!(48), &json!(64)), "as it is shown");
    assert_eq!((&media["duration_ms"], &media["alt_text"]), (&json!(700), &json!("noise")));
    let variant = &media["variants"][0];
    assert_eq!(variant["content_type"], "video/mp4");
    assert_eq!(variant["bit_rate"], file.len() * 8);
    let served = shared_server().send(TestRequest::get(super::path_of(&variant["url"])));
    assert_eq!((served.status, &served.body), (200, &file));
    assert_eq!(media["url"], Value::Null, "only photos have one");
    author.create_post(&json!({ "media": { "media_ids": [id] } })).assert_status(201);
    let photo = picture(&author, &png(9, 9));
    let both = json!({ "text": "x", "media": { "media_ids": [photo, id] } });
    author.create_post(&both).assert_status(400);
}

#[test]
fn json_segment_is_decoded_from_base64() {
    let author = person("author");
    let file = jpeg(120, 80);
    let begin = json!({ "media_type": "image/jpeg", "total_bytes": file.len() });
    let begun = author.post("/2/media/upload/initialize", &begin).assert_status(200);
    let id = begun["data"]["id"].as_str().unwrap();
    let (first, second) = file.split_at(500);
    for (place, piece) in [(json!("1"), second), (json!(0), first)] {
        let body = json!({ "media": BASE64_STANDARD.encode(piece), "segment_index": place });
        author.post(format!("/2/media/upload/{id}/append"), &body).assert_status(200);
    }
    let ended = author.post(format!("/2/media/upload/{id}/finalize"), &json!({})).assert_status(200);
    assert_eq!(ended["data"]["image"]["image_type"], "image/jpeg");
    let again = author.post(format!("/2/media/upload/{id}/finalize"), &json!({})).assert_status(200);
    assert_eq!(again["data"]["media_key"], ended["data"]["media_key"]);
    let late = json!({ "media": "AAAA", "segment_index": "2" });
    author.post(format!("/2/media/upload/{id}/append"), &late).assert_status(400);
    for index in [json!("x"), json!([0]), json!(1_000)] {
        let wrong = json!({ "media": "AAAA", "segment_index": index });
        author.post(format!("/2/media/upload/{id}/append"), &wrong).assert_status(400);
    }
    let once = json!({ "media": BASE64_STANDARD.encode(&file), "media_category": "tweet_image" });
    author.post("/2/media/upload", &once).assert_status(200);
    author.post("/2/media/upload", &json!({ "media": "%%", "media_category": "tweet_image" })).assert_status(400);
    author.post("/2/media/upload", &json!({ "media": 5 })).assert_status(400);
    author.post("/2/media/upload", &json!({ "media_category": "tweet_image" })).assert_status(400);
}

#[test]
fn older_upload_steps_are_selected_by_command() {
    let author = person("author");
    let file = gif(3);
    let size = file.len().to_string();
    let begin =
        [("command", "INIT"), ("media_type", "image/gif"), ("total_bytes", &size), ("media_category", "tweet_gif")];
    let begun = author.send(multipart("/2/media/upload", &begin, "", &[])).assert_status(200);
    let id = begun["data"]["id"].as_str().unwrap();
    // The file may stand before what it belongs to.
    let target = format!("/2/media/upload?command=APPEND&media_id={id}");
    let response = author.send(multipart(&target, &[("segment_index", "0")], "media", &file));
    assert_eq!((response.status, response.body.len()), (204, 0), "{}", response.text());
    let end = [("command", "FINALIZE"), ("media_id", id)];
    author.send(multipart("/2/media/upload", &end, "", &[])).assert_status(200);
    let status = processed(&author, id);
    assert_eq!(status["data"]["processing_info"]["state"], "succeeded");
    let media = seen(&author, &format!("16_{id}"));
    assert_eq!((&media["type"], &media["duration_ms"]), (&json!("animated_gif"), &json!(600)));
    let still = shared_server().send(TestRequest::get(super::path_of(&media["preview_image_url"])));
    assert_eq!(still.status, 200, "{}", still.text());
    assert_ne!(still.header("content-type"), "image/gif");
}

#[test]
fn gif_of_one_frame_in_segments_is_an_animation_that_can_be_shown() {
    let author = person("author");
    let file = gif(1);
    let begin = json!({ "media_category": "tweet_gif", "total_bytes": file.len() });
    let ended = in_segments(&author, &begin, &file, &[0]);
    let id = ended["id"].as_str().unwrap();
    assert_eq!(processed(&author, id)["data"]["processing_info"]["state"], "succeeded");
    let media = seen(&author, &format!("16_{id}"));
    assert_eq!(media["type"], "animated_gif");
    for url in [&media["variants"][0]["url"], &media["preview_image_url"]] {
        assert_eq!(shared_server().send(TestRequest::get(super::path_of(url))).status, 200, "{media}");
    }
}

#[test]
fn older_upload_is_signed_without_its_multipart_body() {
    let author = person("author");
    let file = jpeg(50, 40);
    let target = "/1.1/media/upload.json";
    let created = author.send_signed(multipart(target, &[], "media", &file)).assert_status(200);
    let id = created["media_id"].as_i64().unwrap();
    assert_eq!(created["media_id_string"], id.to_string());
    assert_eq!((&created["size"], &created["image"]["w"]), (&json!(file.len()), &json!(50)));
    let data = format!("media_data={}", percent_encode(&BASE64_STANDARD.encode(&file)));
    author.send_signed(TestRequest::post(target).form(data)).assert_status(200);

    let film = mp4(Film::default());
    let begin = format!("command=INIT&media_type=video%2Fmp4&total_bytes={}", film.len());
    let begun = author.send_signed(TestRequest::post(target).form(begin)).assert_status(202);
    let id = begun["media_id_string"].as_str().unwrap();
    for (place, piece) in film.chunks(film.len().div_ceil(2)).enumerate().rev() {
        let place = place.to_string();
        let texts = [("command", "APPEND"), ("media_id", id), ("segment_index", &place)];
        let response = author.send_signed(multipart(target, &texts, "media", piece));
        assert_eq!(response.status, 204, "{}", response.text());
    }
    let end = format!("command=FINALIZE&media_id={id}");
    let ended = author.send_signed(TestRequest::post(target).form(end)).assert_status(200);
    assert!(ended["processing_info"]["state"].is_string());
    crate::harness::wait_until("it is looked at", || {
        let status =
            author.send_signed(TestRequest::get(format!("{target}?command=STATUS&media_id={id}"))).assert_status(200);
        status["processing_info"]["state"] == "succeeded"
    });
    let described = json!({ "media_id": id, "alt_text": { "text": "a film" } });
    let response = author.send_signed(TestRequest::post("/1.1/media/metadata/create.json").json(&described));
    assert_eq!(response.status, 200, "{}", response.text());
    assert_eq!(seen(&author, &format!("7_{id}"))["alt_text"], "a film");
    author
        .send_signed(TestRequest::post(target).form("command=INIT&media_type=video%2Fmp4"))
        .assert_legacy_code(403, 38);
    author.send_signed(multipart(target, &[], "media", b"<svg/>")).assert_legacy_code(400, 324);
    author.send(multipart(target, &[], "media", &file)).assert_status(200);
}

#[test]
fn media_of_another_user_is_refused() {
    let (owner, other) = (person("owner"), person("other"));
    let id = picture(&owner, &png(20, 20));
    let post = |who: &crate::harness::TestUser<'_>, id: &str| {
        who.create_post(&json!({ "text": format!("of {id}"), "media": { "media_ids": [id] } }))
    };
    post(&other, &id).assert_error(400, "Your media IDs are invalid.");
    let described = json!({ "id": id, "metadata": { "alt_text": { "text": "mine" } } });
    other.post("/2/media/metadata", &described).assert_status(404);
    other.get(format!("/2/media/upload?media_id={id}")).assert_status(404);
    let hidden = other.get(format!("/2/media/3_{id}")).assert_status(200);
    assert_eq!(hidden["data"], Value::Null, "what nobody posted is its owner's");
    let begun = owner.post("/2/media/upload/initialize", &json!({})).assert_status(200);
    let open = begun["data"]["id"].as_str().unwrap();
    let target = format!("/2/media/upload/{open}/append");
    other.send(multipart(&target, &[("segment_index", "0")], "media", b"x")).assert_status(404);
    other.send(TestRequest::post(format!("/2/media/upload/{open}/finalize"))).assert_status(404);

    let texts = [("media_category", "tweet_image"), ("additional_owners", &*other.id)];
    let shared_id = owner.send(multipart("/2/media/upload", &texts, "media", &png(8, 8))).assert_status(200);
    let shared_id = shared_id["data"]["id"].as_str().unwrap();
    post(&other, shared_id).assert_status(201);
    let listed = json!({
        "media": BASE64_STANDARD.encode(png(8, 8)), "media_category": "tweet_image", "additional_owners": [&*other.id],
    });
    let listed = owner.post("/2/media/upload", &listed).assert_status(200);
    post(&other, listed["data"]["id"].as_str().unwrap()).assert_status(201);
    let third = person("third");
    let texts = [texts[0], ("additional_owners", &*third.id), ("additional_owners", &*other.id)];
    let repeated = owner.send(multipart("/2/media/upload", &texts, "media", &png(8, 8))).assert_status(200);
    post(&other, repeated["data"]["id"].as_str().unwrap()).assert_status(201);
    post(&owner, &id).assert_status(201);
    assert_eq!(seen(&other, &format!("3_{id}"))["type"], "photo");
    let reader = owner.new_token(&["--scopes", "tweet.read"]);
    let request = multipart("/2/media/upload", &[], "media", &png(8, 8)).bearer(&reader);
    shared_server().send(request).assert_status(403);
}

#[test]
fn invalid_upload_step_is_refused() {
    let author = person("author");
    let begin = |body: Value| author.post("/2/media/upload/initialize", &body);
    begin(json!({ "media_category": "tweet_image", "total_bytes": 5_242_881 })).assert_status(400);
    begin(json!({ "media_type": "image/bmp" })).assert_status(400);
    begin(json!({ "media_category": "tweet_sound" })).assert_status(400);
    begin(json!({ "total_bytes": -1 })).assert_status(400);
    begin(json!({ "additional_owners": ["1"] })).assert_status(400);
    let begun = begin(json!({ "media_type": "image/png", "total_bytes": 100 })).assert_status(200);
    let id = begun["data"]["id"].as_str().unwrap();
    let add = |index: &str, bytes: &[u8]| {
        let target = format!("/2/media/upload/{id}/append");
        author.send(multipart(&target, &[("segment_index", index)], "media", bytes))
    };
    let end = || author.send(TestRequest::post(format!("/2/media/upload/{id}/finalize")));
    end().assert_status(400);
    add("1000", b"x").assert_status(400);
    add("-1", b"x").assert_status(400);
    add("", b"x").assert_status(400);
    add("0", b"").assert_status(400);
    add("0", &[0; 101]).assert_status(400);
    add("0", &[0; 60]).assert_status(200);
    add("1", &[0; 41]).assert_status(400);
    end().assert_error(400, "Segments do not add up to provided total file size.");
    add("2", &[0; 40]).assert_status(200);
    end().assert_status(400);
    add("1", b"x").assert_status(400);
    author.send(TestRequest::post("/2/media/upload/1/finalize")).assert_status(404);
}

#[test]
fn file_of_a_refused_upload_is_deleted() {
    let server = TestServer::start(&[]);
    let author = server.new_user("author");
    let mut body = parts(&[], "media", &png(8, 8));
    body.truncate(body.len() - "--XX--\r\n".len());
    body.extend(parts(&[("unknown", "x")], "", b""));
    author.send(TestRequest::post("/2/media/upload").body(MULTIPART, body)).assert_status(400);
    let received = std::fs::read_dir(server.data_dir().join("media/scratch")).unwrap();
    assert_eq!(received.count(), 0);
}

#[test]
fn large_form_is_read_for_a_known_caller_only() {
    let author = person("author");
    let begin = json!({ "media_type": "video/mp4", "total_bytes": 1_500_000 });
    let begun = author.post("/2/media/upload/initialize", &begin).assert_status(200);
    let target = format!("/2/media/upload/{}/append", begun["data"]["id"].as_str().unwrap());
    let file = BASE64_STANDARD.encode(vec![b'x'; 1_500_000]);
    let form = format!("segment_index=0&media={}", percent_encode(&file));
    let request = || TestRequest::post(target.as_str()).body("application/x-www-form-urlencoded", form.as_str());
    shared_server().send(request()).assert_status(413);
    shared_server().send(request().bearer("unknown")).assert_status(401);
    author.send(request()).assert_status(200);
}

#[test]
fn invalid_media_metadata_body_or_tag_is_refused() {
    let author = person("author");
    let body = json!({ "media_type": "image/png", "total_bytes": 100 });
    let begun = author.post("/2/media/upload/initialize", &body).assert_status(200);
    let id = begun["data"]["id"].as_str().unwrap();
    author.get("/2/media/upload").assert_status(400);
    let text = "x".repeat(1_001);
    let long = json!({ "id": id, "metadata": { "alt_text": { "text": text } } });
    author.post("/2/media/metadata", &long).assert_status(400);
    let odd = [("segment_index", "0"), ("colour", "red")];
    let odd = multipart(&format!("/2/media/upload/{id}/append"), &odd, "media", b"x");
    author.send(odd).assert_status(400);
    let request = TestRequest::post("/2/media/upload").body("multipart/form-data", b"x".to_vec());
    author.send(request).assert_status(415);
    let request = TestRequest::post("/2/media/upload").body(MULTIPART, b"--XX\r\nnonsense".to_vec());
    author.send(request).assert_status(400);
    let tags: Vec<String> = (0..11).map(|number| number.to_string()).collect();
    let photo = picture(&author, &png(7, 7));
    for tags in [json!(tags), json!(["99"])] {
        let media = json!({ "media_ids": [photo], "tagged_user_ids": tags });
        author.create_post(&json!({ "text": "t", "media": media })).assert_status(400);
    }
    let twice = json!({ "text": "t", "media": { "media_ids": [photo, photo] } });
    author.create_post(&twice).assert_status(400);
}

#[test]
fn acknowledged_segments_survive_a_killed_process() {
    let mut server = TestServer::start(&[]);
    let file = mp4(Film { bytes: 90_000, ..Film::default() });
    let (token, id) = {
        let author = server.new_user("author");
        let begin = json!({ "media_type": "video/mp4", "total_bytes": file.len() });
        let begun = author.post("/2/media/upload/initialize", &begin).assert_status(200);
        let id = begun["data"]["id"].as_str().unwrap().to_owned();
        append(&author, &id, &file, &[1, 2, 0]);
        (author.token.clone(), id)
    };
    server.crash_and_restart();
    let target = format!("/2/media/upload/{id}/finalize");
    server.send(TestRequest::post(target).bearer(&token)).assert_status(200);
    server.crash_and_restart();
    // If the process died at the work, that is taken up when its claim has ended.
    let begun = base::clock::monotonic_now();
    loop {
        let target = format!("/2/media/upload?media_id={id}");
        let status = server.send(TestRequest::get(target).bearer(&token)).assert_status(200);
        if status["data"]["processing_info"]["state"] == "succeeded" {
            break;
        }
        assert!(begun.elapsed().as_secs() < 90, "{status}");
        std::thread::sleep(std::time::Duration::from_millis(100));
    }
    let target = format!("/2/media/7_{id}?media.fields=variants");
    let media = server.send(TestRequest::get(target).bearer(&token)).assert_status(200);
    let address = media["data"]["variants"][0]["url"].as_str().unwrap();
    let path = address.strip_prefix(&server.url).unwrap().to_owned();
    assert_eq!(server.send(TestRequest::get(path)).body, file);
}

#[test]
fn subtitles_are_added_to_a_video_only() {
    let author = person("author");
    let film = at_once(&author, "tweet_video", &mp4(Film::default())).assert_status(200);
    let film = film["data"]["id"].as_str().unwrap();
    processed(&author, film);
    let file = b"1\n00:00:00,000 --> 00:00:01,000\nNoise\n";
    at_once(&author, "subtitles", file).assert_status(200);
    // The type of subtitles that twitter-api-v2 sends.
    let begin = format!("command=INIT&media_type=text%2Fplain&media_category=Subtitles&total_bytes={}", file.len());
    author.send_signed(TestRequest::post("/1.1/media/upload.json").form(begin)).assert_status(202);
    let begin = json!({ "media_type": "text/plain", "media_category": "subtitles", "total_bytes": file.len() });
    let words = in_segments(&author, &begin, file, &[0]);
    let words = words["id"].as_str().unwrap();
    let give = |video: &str, language: &str| {
        let subtitles = json!({ "id": words, "language_code": language, "display_name": "English" });
        let body = json!({ "id": video, "media_category": "TweetVideo", "subtitles": subtitles });
        author.post("/2/media/subtitles", &body)
    };
    let given = give(film, "EN").assert_status(200);
    assert_eq!(given["data"]["associated_subtitles"][0]["language_code"], "EN");
    give(words, "EN").assert_status(404);
    give(film, "E1").assert_status(400);
    author.create_post(&json!({ "text": "s", "media": { "media_ids": [words] } })).assert_status(400);
    let take = json!({ "id": film, "media_category": "TweetVideo", "language_code": "EN" });
    let taken = author.send(TestRequest::delete("/2/media/subtitles").json(&take)).assert_status(200);
    assert_eq!(taken["data"]["deleted"], true);
    // As released v1.1 clients do it.
    let v1 = |what: &str, video: &Value, subtitles: &Value| {
        let body =
            json!({ "media_id": video, "media_category": "TweetVideo", "subtitle_info": { "subtitles": subtitles } });
        author.send_signed(TestRequest::post(format!("/1.1/media/subtitles/{what}.json")).json(&body))
    };
    let (film, words) = (json!(film), json!(words));
    let number = json!(film.as_str().unwrap().parse::<u64>().unwrap());
    let english = json!([{ "media_id": words, "language_code": "EN", "display_name": "English" }]);
    assert_eq!(v1("create", &number, &english).status, 200);
    v1("create", &words, &english).assert_legacy_code(404, 34);
    v1("create", &film, &json!([{ "media_id": words, "language_code": "E1" }])).assert_legacy_code(400, 44);
    assert_eq!(v1("delete", &film, &json!([{ "language_code": "EN" }])).status, 200);
}
