//! A small archive written by hand, as names and contents.

use archive::{Archive, ArchiveError, ArchiveRecord, ArchivedPost, ReadPosition, SkippedItem};
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use tempfile::TempDir;
use zip::write::SimpleFileOptions;

pub(crate) type Files = Vec<(&'static str, Vec<u8>)>;

/// Snowflake of 2023-02-18T12:33:11.000Z.
pub(crate) const POST: i64 = 1_626_922_775_081_910_272;

pub(crate) const MANIFEST: &str = r#"window.__THAR_CONFIG = {
  "userInfo" : { "accountId" : "12", "userName" : "ada", "displayName" : "Ada" },
  "archiveInfo" : { "sizeBytes" : "1", "isPartialArchive" : false },
  "dataTypes" : {
    "account" : { "files" : [ { "fileName" : "data/account.js", "globalName" : "YTD.account.part0", "count" : "1" } ] },
    "tweets" : { "mediaDirectory" : "data/tweets_media", "files" : [
      { "fileName" : "data/tweets.js", "globalName" : "YTD.tweets.part0", "count" : "3" },
      { "fileName" : "data/tweets-part1.js", "globalName" : "YTD.tweets.part1", "count" : "1" } ] },
    "directMessages" : { "files" : [ { "fileName" : "data/direct-messages.js", "count" : "7" } ] },
    "like" : { "files" : [ { "fileName" : "data/like.js", "count" : "2" } ] }
  }
}"#;

const ACCOUNT: &str = r#"window.YTD.account.part0 = [ {
  "account" : { "email" : "ada@example.org", "createdVia" : "web", "username" : "ada",
    "accountId" : "12", "createdAt" : "2009-05-11T08:00:00.000Z", "accountDisplayName" : "Ada 🦀" } } ]"#;

const TWEETS: &str = r#"window.YTD.tweets.part0 = [
  { "tweet" : { "edit_info" : { "initial" : { "editTweetIds" : [ "1626922775081910272" ], "isEditEligible" : true } },
    "id" : "1626922775081910272", "id_str" : "1626922775081910272", "lang" : "en", "favorited" : false,
    "source" : "<a href=\"https://mobile.twitter.com\" rel=\"nofollow\">Twitter Web App</a>",
    "full_text" : "Fish &amp; &lt;chips&gt; &amp;lt; https://t.co/aaaaaaaaaa \ud83e\udd80 https://t.co/mmmmmmmmmm",
    "created_at" : "Sat Feb 18 12:33:11 +0000 2023", "favorite_count" : "5", "retweet_count" : "2", "truncated" : false,
    "display_text_range" : [ "0", "12" ], "possibly_sensitive" : true,
    "entities" : { "hashtags" : [ ], "symbols" : [ ], "user_mentions" : [ ],
      "urls" : [ { "url" : "https://t.co/aaaaaaaaaa", "expanded_url" : "https://example.org/menu", "display_url" : "example.org/menu", "indices" : [ "1", "2" ] } ],
      "media" : [ { "url" : "https://t.co/mmmmmmmmmm", "type" : "photo", "id_str" : "99", "media_url_https" : "https://pbs.twimg.com/media/Abc-1.jpg" } ] },
    "extended_entities" : { "media" : [
      { "url" : "https://t.co/mmmmmmmmmm", "type" : "video", "id" : "99", "id_str" : "99", "media_url_https" : "https://pbs.twimg.com/thumb/Abc-1.jpg",
        "sizes" : { "large" : { "w" : "640", "h" : "480", "resize" : "fit" } },
        "video_info" : { "aspect_ratio" : [ "4", "3" ], "duration_millis" : "1500", "variants" : [
          { "content_type" : "application/x-mpegURL", "url" : "https://video.twimg.com/p/x.m3u8?tag=1" },
          { "bitrate" : "832000", "content_type" : "video/mp4", "url" : "https://video.twimg.com/v/low.mp4?tag=1" },
          { "bitrate" : "2176000", "content_type" : "video/mp4", "url" : "https://video.twimg.com/v/high.mp4" } ] } } ] } } },
  { "tweet" : { "id_str" : "1626922775081910276", "full_text" : "RT @grace_h: the first &amp; only …",
    "entities" : { "user_mentions" : [ { "name" : "Grace", "screen_name" : "Grace_H", "id_str" : "77", "id" : "77", "indices" : [ "3", "11" ] } ] } } },
  { "tweet" : { "id_str" : "20", "full_text" : "@bob old one", "created_at" : "Tue Mar 21 20:50:14 +0000 2006",
    "in_reply_to_status_id_str" : "19", "in_reply_to_user_id_str" : "5", "in_reply_to_screen_name" : "bob",
    "entities" : { "user_mentions" : [ { "name" : "Bob", "screen_name" : "bob", "id_str" : "-1" } ] } } }
]"#;

const MORE_TWEETS: &str = r#"window.YTD.tweets.part1 = [ { "tweet" : { "id_str" : "1626922775081910286",
  "full_text" : "see https://t.co/qqqqqqqqqq", "edit_info" : { "edit" : { "initialTweetId" : "1626922775081910285",
  "editControlInitial" : { "editTweetIds" : [ "1626922775081910285", "1626922775081910286" ] } } },
  "entities" : { "urls" : [ { "url" : "https://t.co/qqqqqqqqqq", "expanded_url" : "https://twitter.com/bob/status/1234567890123456789?s=20", "display_url" : "twitter.com/…" } ] } } } ]"#;

const LIKES: &str = r#"window.YTD.like.part0 = [ { "like" : { "tweetId" : "31", "fullText" : "a &gt; b", "expandedUrl" : "https://twitter.com/i/web/status/31" } },
  { "like" : { "fullText" : "no id" } }, { "like" : { "tweetId" : "32" } } ]"#;

const WHOLE: &[(&str, &str)] = &[
    ("data/manifest.js", MANIFEST),
    ("data/account.js", ACCOUNT),
    ("data/tweets.js", TWEETS),
    ("data/tweets-part1.js", MORE_TWEETS),
    ("data/like.js", LIKES),
    ("data/direct-messages.js", "window.YTD.direct_messages.part0 = [ {}, {} ]"),
    ("data/follower.js", r#"window.YTD.follower.part0 = [ {"follower":{"accountId":"7","userLink":"x"}} ]"#),
    ("data/following.js", r#"window.YTD.following.part0 = [ {"following":{"accountId":"8"}} ]"#),
    ("data/block.js", r#"window.YTD.block.part0 = [ {"blocking":{"accountId":"9"}} ]"#),
    ("data/mute.js", r#"window.YTD.mute.part0 = [ {"muting":{"accountId":"10"}} ]"#),
    (
        "data/profile.js",
        r#"window.YTD.profile.part0 = [ {"profile":{"description":{"bio":"a &amp; b","website":"","location":"here"},"avatarMediaUrl":"https://pbs.twimg.com/profile_images/1/face.jpg"}} ]"#,
    ),
    (
        "data/lists-created.js",
        r#"window.YTD.lists_created.part0 = [ {"userListInfo":{"url":"https://twitter.com/ada/lists/friends"}} ]"#,
    ),
    (
        "data/lists-member.js",
        r#"window.YTD.lists_member.part0 = [ {"userListInfo":{"urls":["https://twitter.com/i/lists/44","https://twitter.com/b/lists/c"]}} ]"#,
    ),
    (
        "data/deleted-tweet-headers.js",
        r#"x = [ {"tweet":{"tweet_id":"55","user_id":"12","created_at":"x","deleted_at":"2023-02-18T12:33:11.000Z"}} ]"#,
    ),
    ("data/hologram.js", "window.YTD.hologram.part0 = [ 1, 2, 3 ]"),
    ("data/ip-audit.js", "window.YTD.ip_audit.part0 = [ {} ]"),
    ("data/tweets_media/1626922775081910272-high.mp4", "film"),
    ("data/profile_media/12-face.jpg", "face"),
    ("Your archive.html", "<html>"),
    ("__MACOSX/data/._tweets.js", "litter"),
];

pub(crate) fn whole() -> Files {
    let bytes = |(name, text): &(&'static str, &str)| (*name, text.as_bytes().to_vec());
    WHOLE.iter().map(bytes).collect()
}

pub(crate) fn folder(files: &Files) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, bytes) in files {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }
    folder
}

/// The zip's folder and its path. Every name gets `top` before it.
pub(crate) fn zipped(files: &Files, top: &str) -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("archive.zip");
    let mut zip = zip::ZipWriter::new(fs::File::create(&path).unwrap());
    for (name, bytes) in files {
        zip.start_file(format!("{top}{name}"), SimpleFileOptions::default()).unwrap();
        zip.write_all(bytes).unwrap();
    }
    zip.finish().unwrap();
    (folder, path)
}

pub(crate) fn records(path: &Path) -> Vec<ArchiveRecord> {
    let archive = Archive::open(path).unwrap();
    archive.records(ReadPosition::START).map(|item| item.unwrap().1).collect()
}

pub(crate) fn posts(records: &[ArchiveRecord]) -> Vec<&ArchivedPost> {
    let posts = records.iter().filter_map(|record| match record {
        ArchiveRecord::Post(post) => Some(&**post),
        _ => None,
    });
    posts.collect()
}

pub(crate) fn skips(records: &[ArchiveRecord]) -> Vec<&SkippedItem> {
    let skips = records.iter().filter_map(|record| match record {
        ArchiveRecord::Skipped(skipped) => Some(skipped),
        _ => None,
    });
    skips.collect()
}

/// Good records and errors, in order, as one word each.
pub(crate) fn outline<I>(items: I) -> Vec<String>
where
    I: Iterator<Item = Result<(ReadPosition, ArchiveRecord), ArchiveError>>,
{
    let word = |record: &ArchiveRecord| match record {
        ArchiveRecord::Post(post) => format!("post {}", post.id),
        ArchiveRecord::Skipped(skipped) => format!("skipped {}", skipped.why),
        record => record.to_json_line(),
    };
    items.map(|item| item.map_or_else(|error| error.to_string(), |(_, record)| word(&record))).collect()
}
