//! Small archives made by the tests.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use tempfile::TempDir;
use transfer::ImportSource;
use zip::write::SimpleFileOptions;

/// Snowflake of 2023-02-18T12:33:11Z.
pub(crate) const BASE: i64 = 1_626_922_775_081_910_272;

/// An id a number of seconds after [`BASE`].
pub(crate) const fn at(seconds: i64) -> i64 {
    BASE + seconds * 1_000 * 4_194_304
}

pub(crate) type Files = Vec<(String, Vec<u8>)>;

/// Ada's archive: a post with a film, a repost, an old reply, both versions of an edited post, a
/// thread, follows both ways, likes, a block, a mute, lists, a deleted post.
pub(crate) fn ada() -> Files {
    let manifest = r#"window.__THAR_CONFIG = { "userInfo" : { "accountId" : "12", "userName" : "ada", "displayName" : "Ada" },
      "dataTypes" : { "account" : { "files" : [ { "fileName" : "data/account.js", "count" : "1" } ] },
        "tweets" : { "files" : [ { "fileName" : "data/tweets.js", "count" : "8" } ] },
        "directMessages" : { "files" : [ { "fileName" : "data/direct-messages.js", "count" : "2" } ] },
        "like" : { "files" : [ { "fileName" : "data/like.js", "count" : "3" } ] } } }"#;
    let tweets = ada_tweets();
    let mut files = parts("12", "ada", "Ada");
    files.extend([
        text("data/manifest.js", manifest),
        text("data/tweets.js", &array("tweets", &tweets)),
        text("data/like.js", &array("like", &[
            format!(r#"{{"like":{{"tweetId":"{}","fullText":"a &gt; b"}}}}"#, at(5)),
            r#"{"like":{"fullText":"no id"}}"#.to_owned(),
            format!(r#"{{"like":{{"tweetId":"{}"}}}}"#, at(0)),
        ])),
        text("data/follower.js", &ties("follower", "follower", &[7, 8])),
        text("data/following.js", &ties("following", "following", &[8, 77, 12])),
        text("data/block.js", &ties("block", "blocking", &[9])),
        text("data/mute.js", &ties("mute", "muting", &[10])),
        text("data/profile.js", r#"window.YTD.profile.part0 = [ {"profile":{"description":{"bio":"a &amp; b","website":"https://ada.example","location":"here"}}} ]"#),
        text("data/lists-created.js", r#"x = [ {"userListInfo":{"url":"https://twitter.com/ada/lists/friends"}} ]"#),
        text("data/lists-member.js", r#"x = [ {"userListInfo":{"urls":["https://twitter.com/i/lists/44","https://twitter.com/bea/lists/c"]}} ]"#),
        text("data/lists-subscribed.js", r#"x = [ {"userListInfo":{"url":"https://twitter.com/bea/lists/d"}} ]"#),
        text("data/deleted-tweet-headers.js", r#"x = [ {"tweet":{"tweet_id":"55","user_id":"12","created_at":"x","deleted_at":"2023-02-18T12:33:11.000Z"}} ]"#),
        text("data/direct-messages.js", "x = [ {}, {} ]"),
        text(&format!("data/tweets_media/{}-high.mp4", at(0)), "a film"),
    ]);
    files
}

/// Newest first, as the archive has them.
fn ada_tweets() -> Vec<String> {
    let film = r#""extended_entities":{"media":[{"url":"https://t.co/mmmmmmmmmm","type":"video","id_str":"99",
      "media_url_https":"https://pbs.twimg.com/thumb/Abc-1.jpg","sizes":{"large":{"w":"640","h":"480"}},
      "video_info":{"duration_millis":"1500","variants":[{"bitrate":"2176000","content_type":"video/mp4","url":"https://video.twimg.com/v/high.mp4"}]}}]}"#;
    let picture = r#""extended_entities":{"media":[{"url":"https://t.co/nnnnnnnnnn","type":"photo","id_str":"98",
      "media_url_https":"https://pbs.twimg.com/media/gone.jpg","sizes":{"large":{"w":"10","h":"20"}}}]}"#;
    let edits = format!(r#""edit_info":{{"initial":{{"editTweetIds":["{}","{}"]}}}}"#, at(50), at(60));
    vec![
        post(
            at(90),
            "third of three",
            &format!(
                r#""in_reply_to_status_id_str":"{}","in_reply_to_user_id_str":"12","in_reply_to_screen_name":"ada""#,
                at(80)
            ),
        ),
        post(
            at(80),
            "second of three",
            &format!(
                r#""in_reply_to_status_id_str":"{}","in_reply_to_user_id_str":"12","in_reply_to_screen_name":"ada""#,
                at(70)
            ),
        ),
        post(at(70), "first of three, and one picture https://t.co/nnnnnnnnnn", picture),
        post(at(60), "a better word", &edits),
        post(at(50), "a bettr word", &edits),
        post(
            at(10),
            "RT @Grace_H: the first &amp; only …",
            r#""entities":{"user_mentions":[{"name":"Grace","screen_name":"Grace_H","id_str":"77"}]}"#,
        ),
        post(
            at(0),
            "Fish &amp; <chips> with @Grace_H https://t.co/mmmmmmmmmm",
            &format!(
                r#""favorite_count":"5","retweet_count":"2",
          "entities":{{"user_mentions":[{{"name":"Grace","screen_name":"Grace_H","id_str":"77"}}]}},{film}"#
            ),
        ),
        post(
            20,
            "@bob old one",
            r#""created_at":"Tue Mar 21 20:50:14 +0000 2006","in_reply_to_status_id_str":"19",
          "in_reply_to_user_id_str":"5","in_reply_to_screen_name":"bob""#,
        ),
    ]
}

/// The archive of Grace, whom Ada follows: the post that Ada likes is hers.
pub(crate) fn grace() -> Files {
    let tweets = [
        post(
            at(6),
            "@ada thank you",
            &format!(
                r#""in_reply_to_status_id_str":"{}","in_reply_to_user_id_str":"12","in_reply_to_screen_name":"ada""#,
                at(0)
            ),
        ),
        post(at(5), "a &gt; b, and more", r#""favorite_count":"3""#),
    ];
    let mut files = parts("77", "Grace_H", "Grace Hopper");
    files.extend([
        text("data/tweets.js", &array("tweets", &tweets)),
        text("data/following.js", &ties("following", "following", &[12])),
        text("data/like.js", &array("like", &[format!(r#"{{"like":{{"tweetId":"{}"}}}}"#, at(0))])),
    ]);
    files
}

/// An archive's account and nothing else.
pub(crate) fn parts(id: &str, handle: &str, name: &str) -> Files {
    let account = format!(
        r#"window.YTD.account.part0 = [ {{"account":{{"email":"secret@example.org","username":"{handle}","accountId":"{id}",
           "createdAt":"2009-05-11T08:00:00.000Z","accountDisplayName":"{name}"}}}} ]"#
    );
    vec![text("data/account.js", &account)]
}

pub(crate) fn text(name: &str, text: &str) -> (String, Vec<u8>) {
    (name.to_owned(), text.as_bytes().to_vec())
}

pub(crate) fn post(id: i64, words: &str, more: &str) -> String {
    let comma = if more.is_empty() { "" } else { "," };
    format!(r#"{{"tweet":{{"id_str":"{id}","full_text":"{words}","lang":"en"{comma}{more}}}}}"#)
}

pub(crate) fn array(name: &str, elements: &[String]) -> String {
    format!("window.YTD.{name}.part0 = [ {} ]", elements.join(",\n"))
}

pub(crate) fn ties(name: &str, wrapper: &str, ids: &[i64]) -> String {
    let elements = ids.iter();
    let elements = elements.map(|id| format!(r#"{{"{wrapper}":{{"accountId":"{id}","userLink":"x"}}}}"#));
    array(name, &elements.collect::<Vec<_>>())
}

pub(crate) struct Made {
    _folder: TempDir,
    path: PathBuf,
}

impl Made {
    pub(crate) fn source(&self) -> ImportSource {
        ImportSource::Archive(self.path.clone())
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
}

pub(crate) fn folder(files: &Files) -> Made {
    let folder = tempfile::tempdir().unwrap();
    for (name, bytes) in files {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }
    let path = folder.path().to_owned();
    Made { _folder: folder, path }
}

pub(crate) fn zipped(files: &Files) -> Made {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("archive.zip");
    let mut zip = zip::ZipWriter::new(fs::File::create(&path).unwrap());
    for (name, bytes) in files {
        zip.start_file(name, SimpleFileOptions::default()).unwrap();
        zip.write_all(bytes).unwrap();
    }
    zip.finish().unwrap();
    Made { _folder: folder, path }
}

/// Lines in a file.
pub(crate) fn lines(name: &str, lines: &[String]) -> (TempDir, ImportSource) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    fs::write(&path, lines.join("\n")).unwrap();
    (folder, ImportSource::JsonLines(path))
}
