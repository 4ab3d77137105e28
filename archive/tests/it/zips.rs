//! What a zip file adds: packing, damage and malice.

use crate::sample::{Files, folder, outline, posts, records, whole, zipped};
use archive::{Archive, ReadPosition};
use std::fs;
use std::io::Read;

#[test]
fn a_zip_gives_what_its_folder_gives() {
    let folder = folder(&whole());
    for top in ["", "twitter-2023-02-18/"] {
        let (_folder, path) = zipped(&whole(), top);
        let strip = |items: Vec<String>| items.join("\n").replace(top, "");
        let from_zip = outline(Archive::open(&path).unwrap().records(ReadPosition::START));
        let from_folder = outline(Archive::open(folder.path()).unwrap().records(ReadPosition::START));
        assert_eq!(strip(from_zip), strip(from_folder));
    }
}

#[test]
fn media_of_a_zip_is_unpacked() {
    let (_folder, path) = zipped(&whole(), "top/");
    let archive = Archive::open(&path).unwrap();
    let records = records(&path);
    let post = posts(&records)[0];
    let mut found = archive.post_media(post.id, &post.media[0]).unwrap().unwrap();
    let mut text = String::new();
    found.bytes.read_to_string(&mut text).unwrap();
    assert_eq!((text.as_str(), found.size), ("film", 4));
}

#[test]
fn reading_a_zip_goes_on_from_every_position() {
    let (_folder, path) = zipped(&whole(), "");
    let archive = Archive::open(&path).unwrap();
    let all: Vec<_> = archive.records(ReadPosition::START).map(Result::unwrap).collect();
    for (index, (position, _)) in all.iter().enumerate() {
        let rest: Vec<_> = archive.records(*position).map(Result::unwrap).collect();
        assert_eq!(rest, all[index + 1..], "from {position}");
    }
}

#[test]
fn a_zip_that_was_cut_off_is_refused_at_every_length() {
    let (_folder, path) = zipped(&whole(), "");
    let bytes = fs::read(&path).unwrap();
    for length in (0..bytes.len() - 1).step_by(97) {
        fs::write(&path, &bytes[..length]).unwrap();
        let error = Archive::open(&path).unwrap_err().to_string();
        assert!(error.contains("is not a complete zip file"), "{length}: {error}");
    }
}

fn flip(path: &std::path::Path, at: usize) {
    let mut bytes = fs::read(path).unwrap();
    *bytes.get_mut(at).unwrap() ^= 0xFF;
    fs::write(path, bytes).unwrap();
}

fn many_posts(count: i64) -> Files {
    let post = |n: i64| {
        format!(
            r#"{{"tweet":{{"id_str":"{}","full_text":"number {n} {:x}"}}}}"#,
            30_000_000_000 + n * 7919,
            n * n * 104_729
        )
    };
    let array: Vec<String> = (0..count).map(post).collect();
    vec![("data/tweets.js", format!("x = [{}]", array.join(",")).into_bytes())]
}

#[test]
fn a_damaged_file_gives_its_good_part_and_then_an_error() {
    let (_folder, path) = zipped(&many_posts(20_000), "");
    let length = usize::try_from(fs::metadata(&path).unwrap().len()).unwrap();
    flip(&path, length / 2);
    let found = outline(Archive::open(&path).unwrap().records(ReadPosition::START));
    let (error, good) = found.split_last().unwrap();
    assert!(good.len() > 1000, "{}", good.len());
    let good = good.iter().filter(|word| word.starts_with("post")).count();
    assert!(error.starts_with("data/tweets.js, element "), "{error}");
    assert!(good > 1000);
}

#[test]
fn a_wrong_checksum_shows_at_the_end_of_the_file() {
    let (_folder, path) = zipped(&vec![("data/like.js", br#"[{"like":{"tweetId":"31"}}]"#.to_vec())], "");
    let bytes = fs::read(&path).unwrap();
    let directory = bytes.windows(4).position(|four| four == b"PK\x01\x02").unwrap();
    flip(&path, directory + 16);
    let found = outline(Archive::open(&path).unwrap().records(ReadPosition::START));
    assert_eq!(found[1], "data/like.js, element 1: the checksum is wrong");
}

#[test]
fn a_bomb_and_a_lie_about_the_size_are_refused() {
    let blanks = format!("[{}]", " ".repeat(8 << 20));
    let files = vec![("data/tweets.js", blanks.into_bytes())];
    let (_folder, path) = zipped(&files, "");
    let found = outline(Archive::open(&path).unwrap().records(ReadPosition::START));
    assert_eq!(found, ["data/tweets.js is refused: it unpacks to more than 200 times its size"]);
    let bytes = fs::read(&path).unwrap();
    let directory = bytes.windows(4).position(|four| four == b"PK\x01\x02").unwrap();
    let mut lying = bytes.clone();
    lying[directory + 24..directory + 28].copy_from_slice(&100_u32.to_le_bytes());
    fs::write(&path, lying).unwrap();
    let found = outline(Archive::open(&path).unwrap().records(ReadPosition::START));
    assert_eq!(found, ["data/tweets.js, element 0: longer than declared"]);
}

#[test]
fn names_that_lead_out_of_the_zip_are_refused() {
    let mut files = whole();
    files.push(("data/tweets_media/../../../etc/passwd", b"x".to_vec()));
    let (_folder, path) = zipped(&files, "");
    let error = Archive::open(&path).unwrap_err().to_string();
    assert!(error.starts_with("the archive names an unsafe file"), "{error}");
}
