//! Real posts, when they have been fetched.

use archive::{ArchiveRecord, JsonLinesRecords, ReadPosition, SkipReason};
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

fn asked(variable: &str) -> Option<PathBuf> {
    let path = std::env::var_os(variable).map(PathBuf::from);
    if path.is_none() {
        eprintln!("skipped: {variable} is not set (scripts/fetch-test-data prints it)");
    }
    path
}

fn text_of(path: &Path) -> String {
    let bytes = fs::read(path).unwrap();
    let mut text = String::new();
    if path.extension().is_some_and(|ending| ending == "gz") {
        flate2::read::GzDecoder::new(&*bytes).read_to_string(&mut text).unwrap();
        return text;
    }
    String::from_utf8(bytes).unwrap()
}

/// Ids of all posts and accounts anywhere within.
fn gather(value: &Value, posts: &mut BTreeSet<i64>, users: &mut BTreeSet<i64>) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| gather(item, posts, users)),
        Value::Object(fields) => {
            let id = fields.get("id_str").and_then(Value::as_str).and_then(|id| id.parse().ok());
            let has = |name: &str| fields.contains_key(name);
            if let Some(id) = id {
                if has("entities") && (has("text") || has("full_text")) {
                    posts.insert(id);
                } else if has("screen_name") && has("followers_count") {
                    users.insert(id);
                }
            }
            // The maker of a lent film is told by its id elsewhere; nobody's account hangs on it.
            let inner = fields.iter().filter(|(name, _)| *name != "source_user");
            inner.for_each(|(_, item)| gather(item, posts, users));
        }
        _ => {}
    }
}

#[test]
fn every_recorded_post_and_account_comes_out() {
    let Some(folder) = asked("LOCUM_RTWEET_DIR") else {
        return;
    };
    let (mut posts, mut users) = (BTreeSet::new(), BTreeSet::new());
    let (mut read_posts, mut read_users) = (BTreeSet::new(), BTreeSet::new());
    let (mut media, mut lists) = (0, 0);
    // Sources of reposts within an account's last post stand there without their authors.
    let mut authorless = 0;
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let cassette: Value = serde_json::from_str(&text_of(&path)).unwrap();
        for exchange in cassette["http_interactions"].as_array().unwrap() {
            let body = exchange["response"]["body"]["string"].as_str().unwrap_or_default();
            let Ok(value) = serde_json::from_str::<Value>(body) else {
                continue;
            };
            let (mut these_posts, mut these_users) = (BTreeSet::new(), BTreeSet::new());
            gather(&value, &mut these_posts, &mut these_users);
            posts.extend(&these_posts);
            users.extend(&these_users);
            let name = path.display().to_string();
            for item in JsonLinesRecords::new(&name, body.as_bytes(), ReadPosition::START) {
                match item.unwrap().1 {
                    ArchiveRecord::Post(post) => {
                        read_posts.insert(post.id);
                        read_users.extend(post.user.as_ref().map(|user| user.id));
                        media += post.media.len();
                        assert!(post.created_at_ms > 0, "{}", post.id);
                        authorless += u32::from(post.author.is_none());
                    }
                    ArchiveRecord::User(user) => drop(read_users.insert(user.id)),
                    ArchiveRecord::Skipped(skipped) => {
                        assert!(matches!(skipped.why, SkipReason::Bad(_)));
                        assert!(these_posts.is_empty(), "{name}: {skipped:?}");
                    }
                    ArchiveRecord::List(_) => lists += 1,
                    other => panic!("{other:?}"),
                }
            }
        }
    }
    eprintln!(
        "{} posts, {} accounts, {media} attachments, {lists} lists read, {authorless} posts without author",
        read_posts.len(),
        read_users.len()
    );
    assert_eq!(posts.difference(&read_posts).count(), 0, "of {}", posts.len());
    let missing: Vec<_> = users.difference(&read_users).collect();
    assert!(missing.is_empty(), "{missing:?} of {}", users.len());
}

#[test]
fn ground_truth_posts_come_out_with_their_text() {
    let Some(file) = asked("LOCUM_VADER_FILE") else {
        return;
    };
    let text = fs::read_to_string(file).unwrap();
    let mut lines = String::new();
    let mut want = Vec::new();
    for line in text.lines() {
        let mut parts = line.splitn(3, '\t');
        let (id, _, text) = (parts.next().unwrap(), parts.next(), parts.next().unwrap());
        let post =
            serde_json::json!({ "id_str": id, "full_text": text, "created_at": "Thu Jan 01 00:00:01 +0000 1970" });
        lines.push_str(&post.to_string());
        lines.push('\n');
        want.push(text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&"));
    }
    let records = JsonLinesRecords::new("vader", lines.as_bytes(), ReadPosition::START);
    let texts = records.map(|item| match item.unwrap().1 {
        ArchiveRecord::Post(post) => post.text,
        other => panic!("{other:?}"),
    });
    assert_eq!(texts.collect::<Vec<_>>(), want);
    eprintln!("{} posts read", want.len());
}
