//! How many posts a second are read. Only for a release build: `cargo test -p archive --release -- --ignored --nocapture`.
#![expect(clippy::disallowed_methods, reason = "measures itself, no product code")]

use crate::sample::{folder, whole, zipped};
use archive::{Archive, ArchiveRecord, JsonLinesRecords, ReadPosition};
use std::path::Path;
use std::time::Instant;

const COPIES: i64 = 200_000;

/// A post as the archive writes it, about 1,900 bytes, blanks included.
const POST: &str = r#"  {
    "tweet" : {
      "edit_info" : {
        "initial" : {
          "editTweetIds" : [
            "ID"
          ],
          "editableUntil" : "2023-02-18T13:33:11.000Z",
          "editsRemaining" : "5",
          "isEditEligible" : false
        }
      },
      "retweeted" : false,
      "source" : "<a href=\"http://twitter.com/download/iphone\" rel=\"nofollow\">Twitter for iPhone</a>",
      "entities" : {
        "hashtags" : [ ],
        "symbols" : [ ],
        "user_mentions" : [
          {
            "name" : "Bob",
            "screen_name" : "bob",
            "indices" : [
              "0",
              "4"
            ],
            "id_str" : "N7",
            "id" : "N7"
          }
        ],
        "urls" : [
          {
            "url" : "https://t.co/abcdefghij",
            "expanded_url" : "https://example.org/N7",
            "display_url" : "example.org/N7",
            "indices" : [
              "90",
              "113"
            ]
          }
        ]
      },
      "display_text_range" : [
        "0",
        "113"
      ],
      "favorite_count" : "1",
      "in_reply_to_status_id_str" : "N7",
      "id_str" : "ID",
      "in_reply_to_user_id" : "N7",
      "truncated" : false,
      "retweet_count" : "0",
      "id" : "ID",
      "in_reply_to_status_id" : "N7",
      "possibly_sensitive" : false,
      "created_at" : "Sat Feb 18 12:33:11 +0000 2023",
      "favorited" : false,
      "full_text" : "@bob This is &amp; remains a typical answer of a usual length, with a link 🦀 at the end https://t.co/abcdefghij",
      "lang" : "en",
      "in_reply_to_screen_name" : "bob",
      "in_reply_to_user_id_str" : "N7"
    }
  }"#;

fn post(n: i64) -> String {
    let id = 1_600_000_000_000_000_000 + n * 4_194_304;
    POST.replace("ID", &id.to_string()).replace("N7", &n.to_string())
}

fn measure(name: &str, path: &Path, bytes: usize) {
    let archive = Archive::open(path).unwrap();
    let begun = Instant::now();
    let is_post = |item: &Result<(ReadPosition, ArchiveRecord), _>| matches!(item, Ok((_, ArchiveRecord::Post(_))));
    let posts = archive.records(ReadPosition::START).filter(is_post).count();
    let seconds = begun.elapsed().as_secs_f64();
    #[expect(clippy::cast_precision_loss, clippy::as_conversions, reason = "shown only")]
    let (rate, mb) = (posts as f64 / seconds, bytes as f64 / 1e6 / seconds);
    eprintln!("{name}: {posts} posts in {seconds:.2} s, {rate:.0} posts/s, {mb:.0} MB/s");
    assert_eq!(i64::try_from(posts).unwrap(), COPIES);
}

#[test]
#[ignore = "measures"]
fn posts_a_second() {
    let mut files = whole();
    files.retain(|(name, _)| *name == "data/account.js");
    let posts: Vec<String> = (0..COPIES).map(post).collect();
    let text = format!("window.YTD.tweets.part0 = [\n{}\n]", posts.join(",\n"));
    let bytes = text.len();
    files.push(("data/tweets.js", text.into_bytes()));
    let unpacked = folder(&files);
    let archive = Archive::open(unpacked.path()).unwrap();
    let lines = archive.records(ReadPosition::START).map(|item| item.unwrap().1.to_json_line() + "\n");
    let lines: String = lines.collect();
    let begun = Instant::now();
    let count = JsonLinesRecords::new("x", lines.as_bytes(), ReadPosition::START).flatten().count();
    eprintln!("lines: {count} in {:.2} s, {} bytes", begun.elapsed().as_secs_f64(), lines.len());
    measure("folder", unpacked.path(), bytes);
    let (_folder, path) = zipped(&files, "");
    measure("zip", &path, bytes);
}
