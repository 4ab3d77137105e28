//! What is made of each kind of file, read from a folder.

use crate::sample::{self, Files, POST, folder, outline, posts, records, skips, whole};
use archive::{Archive, ArchiveRecord, ArchivedMediaKind, ReadPosition, SkipReason, UserRelation};
use std::io::Read;

fn tweets(array: &str) -> Files {
    vec![("data/tweets.js", format!("window.YTD.tweets.part0 = {array}").into_bytes())]
}

#[test]
fn a_post_comes_with_all_that_hangs_on_it() {
    let folder = folder(&whole());
    let records = records(folder.path());
    let posts = posts(&records);
    let ids: Vec<i64> = posts.iter().map(|post| post.id).collect();
    assert_eq!(ids, [POST, POST + 4, 20, POST + 14]);
    let post = posts[0];
    assert_eq!(post.text, "Fish & <chips> &lt; https://example.org/menu 🦀");
    assert_eq!((post.author, post.created_at_ms), (Some(12), 1_676_723_591_000));
    assert_eq!((post.like_count, post.repost_count, post.possibly_sensitive), (5, 2, true));
    assert_eq!((post.lang.as_deref(), post.source.as_deref()), (Some("en"), Some("Twitter Web App")));
    assert!(post.edit_history.is_empty());
    let media = &post.media[0];
    assert_eq!((media.kind, media.width, media.height), (ArchivedMediaKind::Video, 640, 480));
    assert_eq!(media.duration_ms, Some(1500));
    let files = ["high.mp4", "low.mp4", "Abc-1.jpg"].map(|name| format!("{POST}-{name}"));
    assert_eq!(media.files, files);
    let archive = Archive::open(folder.path()).unwrap();
    let mut found = archive.post_media(post.id, media).unwrap().unwrap();
    let mut bytes = String::new();
    found.bytes.read_to_string(&mut bytes).unwrap();
    assert_eq!((bytes.as_str(), found.size), ("film", 4));
    assert!(archive.post_media(POST + 4, media).unwrap().is_some(), "by its names");
}

#[test]
fn reposts_replies_quotes_and_edits_are_told_apart() {
    let folder = folder(&whole());
    let records = records(folder.path());
    let posts = posts(&records);
    let repost = posts[1].repost_of.as_ref().unwrap();
    assert_eq!((&*repost.handle, &*repost.text), ("grace_h", "the first & only …"));
    assert_eq!((repost.author, repost.id), (Some(77), None));
    let old = posts[2];
    assert_eq!(old.created_at_ms, 1_142_974_214_000);
    assert_eq!((old.in_reply_to_post, old.in_reply_to_user), (Some(19), Some(5)));
    assert_eq!(old.in_reply_to_handle.as_deref(), Some("bob"));
    assert_eq!((old.mentions[0].id, &*old.mentions[0].name), (None, "Bob"));
    let edited = posts[3];
    assert_eq!((edited.quoted_post, &*edited.text), (Some(1_234_567_890_123_456_789), "see"));
    assert!(!edited.urls[0].in_text);
    assert_eq!(edited.edit_history, [POST + 13, POST + 14]);
}

#[test]
fn everything_else_comes_in_reading_order() {
    let folder = folder(&whole());
    let records = records(folder.path());
    let tie = |from, to| UserRelation { from, to, id: None };
    assert!(matches!(&records[0], ArchiveRecord::Account(account) if account.name == "Ada 🦀"));
    assert!(matches!(&records[1], ArchiveRecord::Profile(profile) if profile.bio == "a & b"));
    for want in [
        ArchiveRecord::Follow(tie(Some(7), None)),
        ArchiveRecord::Follow(tie(None, Some(8))),
        ArchiveRecord::Block(tie(None, Some(9))),
        ArchiveRecord::Mute(tie(None, Some(10))),
    ] {
        assert!(records.contains(&want), "{want:?}");
    }
    let likes = records.iter().filter_map(|record| match record {
        ArchiveRecord::Like(like) => Some((like.post, like.text.as_str())),
        _ => None,
    });
    assert_eq!(likes.collect::<Vec<_>>(), [(31, "a > b"), (32, "")]);
    let lists = records.iter().filter_map(|record| match record {
        ArchiveRecord::List(list) => Some((list.id, list.owner_handle.as_deref(), list.name.as_str())),
        _ => None,
    });
    let want = [(None, Some("ada"), "friends"), (Some(44), None, "44"), (None, Some("b"), "c")];
    assert_eq!(lists.collect::<Vec<_>>(), want);
    let deleted = |record: &ArchiveRecord| matches!(record, ArchiveRecord::DeletedPost(post) if post.id == 55 && post.deleted_at_ms.is_some());
    assert!(records.iter().any(deleted));
}

#[test]
fn what_is_left_out_is_counted_with_its_reason() {
    let folder = folder(&whole());
    let records = records(folder.path());
    let skips = skips(&records);
    let of = |kind: &str| *skips.iter().find(|skip| skip.kind == kind).unwrap();
    assert_eq!((of("directMessages").count, &of("directMessages").why), (7, &SkipReason::Private));
    assert_eq!((of("hologram").count, &of("hologram").why), (3, &SkipReason::Unknown));
    assert_eq!(of("ipAudit").why, SkipReason::Private);
    let like = of("like");
    assert_eq!((&*like.file, like.element), ("data/like.js", Some(1)));
    assert_eq!(like.why, SkipReason::Bad("a like without a post id".to_owned()));
    assert_eq!(skips.len(), 4);
}

#[test]
fn the_manifest_tells_owner_and_counts() {
    let folder = folder(&whole());
    let archive = Archive::open(folder.path()).unwrap();
    let account = archive.account().unwrap();
    assert_eq!((account.id, &*account.handle, account.created_at_ms), (12, "ada", 1_242_028_800_000));
    let counts = [("account", 1), ("directMessages", 7), ("like", 2), ("tweets", 4)];
    assert_eq!(archive.manifest_counts(), counts.map(|(kind, count)| (kind.to_owned(), count)));
}

#[test]
fn a_part_of_an_archive_tells_what_it_lacks() {
    let mut files = whole();
    files.retain(|(name, _)| matches!(*name, "data/manifest.js" | "data/tweets-part1.js"));
    let folder = folder(&files);
    let records = records(folder.path());
    assert_eq!(posts(&records).iter().map(|post| post.author).collect::<Vec<_>>(), [Some(12)]);
    let absent = skips(&records).into_iter().map(|skip| (&*skip.kind, skip.count, skip.why == SkipReason::Absent));
    let want = [("account", 1, true), ("tweets", 3, true), ("like", 2, true), ("directMessages", 7, true)];
    assert_eq!(absent.collect::<Vec<_>>(), want);
    assert_eq!(Archive::open(folder.path()).unwrap().account().unwrap().handle, "ada");
}

#[test]
fn old_layouts_are_read() {
    let bare = r#"window.YTD.tweet.part0 = [ { "id_str" : "20", "full_text" : "first", "created_at" : "Tue Mar 21 20:50:14 +0000 2006" } ]"#;
    let account = r#"window.YTD.account.part0 = [ { "account" : { "accountId" : "12", "username" : "ada" } } ]"#;
    let monthly = "Grailbird.data.tweets_2014_01 = \n [ { \"id\" : 21, \"text\" : \"second\", \"created_at\" : \"2014-01-31 12:00:00 +0000\", \"user\" : { \"id\" : 12, \"screen_name\" : \"ada\" } } ]";
    let at_root: Files = vec![("tweet.js", bare.into()), ("account.js", account.into())];
    let months: Files = vec![("data/js/tweets/2014_01.js", monthly.into()), ("data/js/tweet_index.js", "x".into())];
    for (files, id, ms) in [(at_root, 20, 1_142_974_214_000), (months, 21, 1_391_169_600_000)] {
        let folder = folder(&files);
        let records = records(folder.path());
        let posts = posts(&records);
        assert_eq!((posts[0].id, posts[0].author, posts[0].created_at_ms), (id, Some(12), ms));
    }
}

#[test]
fn a_long_note_takes_the_place_of_the_shortened_text() {
    let words = "word ".repeat(80);
    let short: String = words.chars().take(270).collect();
    let post = format!(
        r#"[ {{ "tweet" : {{ "id_str" : "{POST}", "full_text" : "@bob A &amp; {short}… https://t.co/ssssssssss",
        "entities" : {{ "urls" : [ {{ "url" : "https://t.co/ssssssssss", "expanded_url" : "https://twitter.com/i/web/status/{POST}" }} ] }} }} }},
        {{ "tweet" : {{ "id_str" : "{}", "full_text" : "A &amp; {short}…" }} }} ]"#,
        POST + (5000 << 22)
    );
    let note = format!(
        r#"x = [ {{ "noteTweet" : {{ "noteTweetId" : "900", "createdAt" : "2023-02-18T12:33:11.400Z",
        "core" : {{ "text" : "A & {words}https://t.co/nnnnnnnnnn", "urls" : [ {{ "shortUrl" : "https://t.co/nnnnnnnnnn", "expandedUrl" : "https://example.org/" }} ] }} }} }} ]"#
    );
    let mut files = tweets(&post);
    files.push(("data/note-tweet.js", note.into_bytes()));
    let folder = folder(&files);
    let records = records(folder.path());
    assert!(matches!(&records[0], ArchiveRecord::NoteTweet(note) if note.id == 900));
    let posts = posts(&records);
    assert_eq!(posts[0].text, format!("A & {words}https://example.org/"));
    assert_eq!((posts[0].note, posts[0].urls.len(), posts[0].quoted_post), (Some(900), 1, None));
    assert_eq!(posts[1].note, None, "five seconds later");
}

#[test]
fn signs_that_are_no_text_are_taken_out() {
    let array =
        format!(r#"[ {{ "tweet" : {{ "id_str" : "{POST}", "full_text" : "a\ud83d b\u0000 \ud83e\udd80" }} }} ]"#);
    let mut files = tweets(&array.replace('b', "b\0"));
    files[0].1.extend_from_slice(b"\n;");
    let folder = folder(&files);
    assert_eq!(posts(&records(folder.path()))[0].text, "a b 🦀");
}

#[test]
fn bad_elements_are_skipped_and_hostile_ones_refused() {
    let good = format!(r#"{{ "tweet" : {{ "id_str" : "{POST}", "full_text" : "x" }} }}"#);
    let deep = format!("{}{}", "[".repeat(80), "]".repeat(80));
    let huge = format!("\"{}\"", "a".repeat(5 << 20));
    let away = format!(
        r#"{{ "tweet" : {{ "id_str" : "{POST}", "full_text" : "x", "entities" : {{ "media" : [ {{ "media_url" : "https://x/..\\..\\etc" }} ] }} }} }}"#
    );
    let array = format!(
        r#"[ 5, {{ "tweet" : {{ "full_text" : "x" }} }}, {{ "tweet" : nil }}, {deep}, {huge}, {away}, {good} ]"#
    );
    let folder = folder(&tweets(&array));
    let archive = Archive::open(folder.path()).unwrap();
    let found = outline(archive.records(ReadPosition::START));
    assert!(found[0].starts_with("skipped invalid type"), "{}", found[0]);
    assert_eq!(found[1], "skipped a post without an id");
    assert!(found[2].starts_with("skipped expected"), "{}", found[2]);
    assert_eq!(found[3], "data/tweets.js, element 3 is refused: nested deeper than 64 levels");
    assert_eq!(found[4], "data/tweets.js, element 4 is refused: longer than 4 MiB");
    assert_eq!(found[5], "data/tweets.js, element 5 is refused: a media name leads out of its folder");
    assert_eq!(found[6..], [format!("post {POST}")]);
}

#[test]
fn an_array_that_breaks_off_ends_its_file_only() {
    let mut files = tweets(&format!(r#"[ {{ "tweet" : {{ "id_str" : "{POST}", "full_text" : "x" }} }}, {{ "tweet""#));
    files.push(("data/like.js", br#"[{"like":{"tweetId":"31"}}]"#.to_vec()));
    let folder = folder(&files);
    let archive = Archive::open(folder.path()).unwrap();
    let found = outline(archive.records(ReadPosition::START));
    let broken = "data/tweets.js, element 1: the file ends inside its array";
    assert_eq!(found, [&format!("post {POST}"), broken, r#"{"kind":"like","post":"31"}"#]);
}

#[test]
fn reading_goes_on_from_every_position() {
    let folder = folder(&whole());
    let archive = Archive::open(folder.path()).unwrap();
    let all: Vec<_> = archive.records(ReadPosition::START).map(Result::unwrap).collect();
    assert!(all.len() > 15);
    for (index, (position, _)) in all.iter().enumerate() {
        let position: ReadPosition = position.to_string().parse().unwrap();
        let rest: Vec<_> = archive.records(position).map(Result::unwrap).collect();
        assert_eq!(rest, all[index + 1..], "from {position}");
    }
}

#[test]
fn a_folder_without_data_and_a_manifest_that_leads_away_are_refused() {
    let empty = tempfile::tempdir().unwrap();
    assert!(Archive::open(empty.path()).unwrap_err().to_string().ends_with("is not a data archive"));
    let away = sample::MANIFEST.replace("data/like.js", "../../like.js");
    let folder = folder(&vec![("data/manifest.js", away.into_bytes())]);
    let error = Archive::open(folder.path()).unwrap_err().to_string();
    assert_eq!(error, r#"the archive names an unsafe file: "../../like.js""#);
}

#[cfg(unix)]
#[test]
fn symbolic_links_are_not_followed() {
    let folder = folder(&tweets("[]"));
    std::os::unix::fs::symlink("/etc/passwd", folder.path().join("data/like.js")).unwrap();
    assert!(records(folder.path()).is_empty());
}
