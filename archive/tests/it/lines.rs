//! JSON Lines of every kind.

use crate::sample::{POST, outline};
use archive::{
    ArchiveRecord, ArchivedAttachment, ArchivedDeletion, ArchivedLike, ArchivedList, ArchivedListMember, ArchivedMedia,
    ArchivedPost, ArchivedUser, ExportRow, JsonLines, JsonLinesRecords, ReadPosition, UserRelation,
};
use serde_json::Value;
use std::fs;
use std::io::Read;

fn read(text: &str) -> Vec<ArchiveRecord> {
    JsonLinesRecords::new("x.jsonl", text.as_bytes(), ReadPosition::START).map(|item| item.unwrap().1).collect()
}

const V1: &str = r#"{"id":1533272415677353984,"id_str":"1533272415677353984","full_text":"look &amp; see https://t.co/9mjW2zoDsR https://t.co/CcUJAXZMm4","user":{"id":453,"id_str":"453","screen_name":"carl","name":"Carl","description":"at https://t.co/bbbbbbbbbb","followers_count":3,"created_at":"Tue Jan 03 05:38:35 +0000 2012","entities":{"description":{"urls":[{"url":"https://t.co/bbbbbbbbbb","expanded_url":"https://example.org","display_url":"example.org"}]}},"verified":false},"entities":{"hashtags":[],"urls":[{"url":"https://t.co/9mjW2zoDsR","expanded_url":"https://twitter.com/carl/status/1533250105276411904","display_url":"x"}],"media":[{"id_str":"9","url":"https://t.co/CcUJAXZMm4","media_url_https":"https://pbs.twimg.com/media/F.jpg","type":"photo","ext_alt_text":"a cat"}]},"quoted_status_id_str":"1533250105276411904","quoted_status":{"id_str":"1533250105276411904","text":"RT @x: by hand","user":{"id_str":"454","screen_name":"dora"}}}"#;

#[test]
fn a_v1_post_brings_what_it_embeds() {
    let records = read(V1);
    let [ArchiveRecord::Post(quoted), ArchiveRecord::Post(post)] = records.as_slice() else {
        panic!("{records:?}");
    };
    assert_eq!((quoted.id, quoted.author, &quoted.repost_of), (1_533_250_105_276_411_904, Some(454), &None));
    assert_eq!((&*post.text, post.quoted_post), ("look & see", Some(quoted.id)));
    assert_eq!(post.media[0].alt.as_deref(), Some("a cat"));
    let user = post.user.as_deref().unwrap();
    assert_eq!((&*user.handle, &*user.bio, user.follower_count), ("carl", "at https://example.org", 3));
    assert_eq!(user.created_at_ms, 1_325_569_115_000);
}

#[test]
fn lines_arrays_and_pages_give_the_same() {
    let page = format!(r#"{{"statuses":[{V1}],"search_metadata":{{}}}}"#);
    let lines = read(V1);
    for other in [format!("\u{feff}\n [{V1}]"), page, format!("{V1}\r\n\n")] {
        assert_eq!(read(&other), lines);
    }
    let user = r#"{"id":5,"screen_name":"eve","name":"Eve","status":{"id":20,"text":"hi","created_at":"Tue Mar 21 20:50:14 +0000 2006"}}"#;
    let records = read(user);
    assert!(matches!(&records[1], ArchiveRecord::Post(post) if post.author == Some(5)));
    assert_eq!(read(&format!(r#"{{"users":[{user}]}}"#)), records);
}

#[test]
fn a_list_brings_its_owner() {
    let list = r#"{"id_str":"44","name":"a &amp; b","slug":"a-b","mode":"private","uri":"/eve/lists/a-b","user":{"id_str":"5","screen_name":"eve"}}"#;
    let records = read(list);
    assert!(matches!(&records[0], ArchiveRecord::User(user) if user.id == 5));
    let ArchiveRecord::List(found) = &records[1] else { panic!() };
    assert_eq!((found.id, found.owner, found.private), (Some(44), Some(5), true));
    assert_eq!(read(&format!(r#"{{"lists":[{list}]}}"#)), records);
}

#[test]
fn a_repost_names_its_source() {
    let repost = format!(r#"{{"id":{POST},"text":"RT @carl: look…","retweeted_status":{V1}}}"#);
    let records = read(&repost);
    let Some(ArchiveRecord::Post(post)) = records.last() else { panic!() };
    let source = post.repost_of.as_ref().unwrap();
    assert_eq!((source.id, source.author, &*source.handle), (Some(1_533_272_415_677_353_984), Some(453), "carl"));
    assert_eq!(records.len(), 3);
}

#[test]
fn poll_has_its_options_and_end_in_each_form() {
    let forms = [
        r#"{"options":[{"position":1,"label":"Tea","votes":2},{"position":2,"label":"Milk","votes":0}],"end_datetime":"2022-06-05T20:00:00.000Z"}"#,
        r#"{"options":[{"position":1,"text":"Tea","votes":"2"},{"position":2,"text":"Milk"}],"end_datetime":"Sun Jun 05 20:00:00 +0000 2022","duration_minutes":60}"#,
    ];
    for form in forms {
        let records = read(&format!(r#"{{"id":{POST},"text":"Which?","entities":{{"polls":[{form}]}}}}"#));
        let Some(ArchiveRecord::Post(post)) = records.last() else { panic!() };
        let poll = post.poll.as_ref().unwrap();
        let options: Vec<_> = poll.options.iter().map(|option| (&*option.label, option.votes)).collect();
        assert_eq!((options, poll.ends_at_ms), (vec![("Tea", 2), ("Milk", 0)], 1_654_459_200_000));
    }
    let endless = format!(r#"{{"id":{POST},"text":"Which?","entities":{{"polls":[{{"options":[]}}]}}}}"#);
    assert!(matches!(&read(&endless)[0], ArchiveRecord::Post(post) if post.poll.is_none()));
}

#[test]
fn link_to_a_post_that_the_author_wrote_stays_in_the_text() {
    let link = "https://x.com/carl/status/20";
    let own = format!(
        r#"{{"id":{POST},"text":"see {link}","entities":{{"urls":[{{"url":"{link}","expanded_url":"{link}"}}]}}}}"#
    );
    let ArchiveRecord::Post(post) = &read(&own)[0] else { panic!() };
    assert_eq!((post.text.as_str(), post.quoted_post), (format!("see {link}").as_str(), None));
}

#[test]
fn every_record_survives_its_line() {
    let tie = UserRelation { from: Some(1), to: Some(2), id: Some(3) };
    let media = ArchivedMedia { id: 9, files: vec!["1-a.jpg".to_owned()], ..ArchivedMedia::default() };
    let post = ArchivedPost {
        id: POST,
        text: "a\n🦀".to_owned(),
        edit_history: vec![1, 2],
        media: vec![media.clone()],
        ..ArchivedPost::default()
    };
    let records = [
        ArchiveRecord::User(Box::new(ArchivedUser { id: 1, handle: "ada".to_owned(), ..ArchivedUser::default() })),
        ArchiveRecord::Post(Box::new(post.clone())),
        ArchiveRecord::Follow(tie),
        ArchiveRecord::Block(tie),
        ArchiveRecord::Mute(tie),
        ArchiveRecord::Like(ArchivedLike { user: Some(1), post: 2, at_ms: Some(3), ..ArchivedLike::default() }),
        ArchiveRecord::List(ArchivedList { id: Some(4), owner: Some(1), ..ArchivedList::default() }),
        ArchiveRecord::ListMember(ArchivedListMember { list: 4, user: 2, id: None }),
        ArchiveRecord::DeletedPost(ArchivedDeletion { id: 5, deleted_at_ms: Some(6), post: Some(Box::new(post)) }),
        ArchiveRecord::Media(ArchivedAttachment { owner: None, post: Some(POST), media }),
    ];
    let text: Vec<String> = records.iter().map(ArchiveRecord::to_json_line).collect();
    assert_eq!(read(&text.join("\n")), records);
}

#[test]
fn a_line_of_a_kind_that_means_nothing_here_is_handed_on() {
    let row = ArchiveRecord::Row(ExportRow {
        kind: "ufo".to_owned(),
        cells: vec![("seen".to_owned(), Value::Bool(true)), ("since".to_owned(), Value::from("1947"))],
    });
    let line = row.to_json_line();
    assert_eq!(line, r#"{"kind":"ufo","seen":true,"since":"1947"}"#);
    assert_eq!(read(&line), [row]);
}

#[test]
fn bad_lines_are_skipped_and_hostile_ones_refused() {
    let deep = format!("{}{}", "[".repeat(80), "]".repeat(80));
    let huge = format!("\"{}\"", "a".repeat(5 << 20));
    let text = format!(
        "{{\"kind\":\"user\",\"id\":\"1\"}}\nnonsense\n{{\"kind\":\"user\"}}\n{{\"kind\":\"\"}}\n{{}}\n {deep}\n{huge}\n{{\"kind\":\"media\",\"id\":\"1\",\"files\":[\"../x\"]}}\n{{\"kind\":\"post\",\"id\":\"7\"}}\n{{\"kind\":\"po"
    );
    let found = outline(JsonLinesRecords::new("x.jsonl", text.as_bytes(), ReadPosition::START));
    assert!(found[0].starts_with(r#"{"kind":"user","id":"1""#));
    assert!(found[1].starts_with("skipped expected"), "{}", found[1]);
    assert_eq!(found[2], "skipped an id is missing");
    assert_eq!(found[3], "skipped not a post, a user or a line of an export");
    assert_eq!(found[4], "skipped not a post, a user or a line of an export");
    assert_eq!(found[5], "x.jsonl, line 6 is refused: nested deeper than 64 levels");
    assert_eq!(found[6], "x.jsonl, line 7 is refused: longer than 4 MiB");
    assert_eq!(found[7], "x.jsonl, line 8 is refused: a media name leads out of its folder");
    assert_eq!(found[8], "post 7");
    assert!(found[9].starts_with("skipped EOF"), "{}", found[9]);
    let open =
        outline(JsonLinesRecords::new("x.json", &b"[{\"kind\":\"post\",\"id\":\"7\"},{"[..], ReadPosition::START));
    assert_eq!(open, ["post 7", "x.json, element 1: the file ends inside its array"]);
}

#[test]
fn reading_goes_on_from_every_position() {
    let text = format!("{V1}\n\n{V1}\n{{\"kind\":\"follow\",\"from\":\"1\",\"to\":\"2\"}}\n");
    let array = format!("[{V1},{V1}]");
    for text in [text, array] {
        let from = |at| JsonLinesRecords::new("x", text.as_bytes(), at).map(Result::unwrap).collect::<Vec<_>>();
        let all = from(ReadPosition::START);
        for (index, (position, _)) in all.iter().enumerate() {
            let position = position.to_string().parse().unwrap();
            assert_eq!(from(position), all[index + 1..], "from {position}");
        }
    }
}

#[test]
fn a_packed_file_is_read_and_one_cut_off_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("export.jsonl.gz");
    let line = |n: i64| format!("{{\"kind\":\"follow\",\"from\":\"{n}\",\"to\":\"{}\"}}\n", n * n);
    let text: String = (1..2000).map(line).collect();
    let mut packed = Vec::new();
    let mut encoder = flate2::read::GzEncoder::new(text.as_bytes(), flate2::Compression::fast());
    encoder.read_to_end(&mut packed).unwrap();
    fs::write(&path, &packed).unwrap();
    let lines = JsonLines::open(&path).unwrap();
    assert_eq!(lines.records(ReadPosition::START).unwrap().flatten().count(), 1999);
    fs::write(&path, &packed[..packed.len() / 2]).unwrap();
    let found = outline(lines.records(ReadPosition::START).unwrap());
    let (error, good) = found.split_last().unwrap();
    assert!(good.len() > 500 && good.len() < 1999, "{}", good.len());
    assert!(error.starts_with("export.jsonl.gz, line "), "{error}");
}
