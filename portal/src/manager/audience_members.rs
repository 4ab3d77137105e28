//! Lists of people uploaded to an audience: parsed, normalized and hashed (contract ads §8.3).
//! Errors name line numbers, never the content of a line, which is personal data.

use base::refusal::AdsProblem;
use base::secret::digest;
use base::{Error, Refusal};
use data_encoding::HEXLOWER;
use serde_json::{Map, Value, json};

use super::forms::SubmittedFields;

const MAX_PEOPLE: usize = 50_000;
const MAX_REPORTED_LINES: usize = 5;
const MAX_IDENTIFIER_BYTES: usize = 254;

pub(super) const IDENTIFIER_KINDS: [(&str, &str); 5] = [
    ("email", "Email addresses"),
    ("handle", "Usernames"),
    ("svc_id", "User IDs"),
    ("phone_number", "Phone numbers"),
    ("device_id", "Device IDs"),
];

/// Column names, in lower case and without punctuation, and the identifier kind of each.
const COLUMN_KINDS: &[(&str, &str)] = &[
    ("email", "email"),
    ("emailaddress", "email"),
    ("mail", "email"),
    ("handle", "handle"),
    ("username", "handle"),
    ("screenname", "handle"),
    ("userid", "svc_id"),
    ("svcid", "svc_id"),
    ("id", "svc_id"),
    ("phone", "phone_number"),
    ("phonenumber", "phone_number"),
    ("deviceid", "device_id"),
    ("idfa", "device_id"),
    ("adid", "device_id"),
];

/// The users of a list, as the API takes them.
pub(super) fn parse_submitted(sent: &SubmittedFields) -> Result<Vec<Value>, Error> {
    let (file, typed) = (sent.text("list"), sent.text("text"));
    let (field, list) = match (file, typed) {
        ("", "") => {
            let message = "Choose a file or paste a list";
            return Err(invalid_field("list", message));
        }
        ("", typed) => ("text", typed),
        (file, "") => ("list", file),
        _ => {
            return Err(invalid_field("text", "Send either a file or a pasted list, not both"));
        }
    };
    let usual = sent.text("identifier");
    let usual = IDENTIFIER_KINDS.iter().find(|(kind, _)| *kind == usual);
    let Some((usual, _)) = usual else {
        return Err(invalid_field("identifier", "Choose an identifier type"));
    };
    parse_list(list, usual).map_err(|message| invalid_field(field, &message))
}

fn invalid_field(field: &'static str, message: &str) -> Error {
    Refusal::from(vec![AdsProblem::invalid_parameter(field, "", message)]).into()
}

fn parse_list(list: &str, usual: &'static str) -> Result<Vec<Value>, String> {
    let list = list.strip_prefix('\u{feff}').unwrap_or(list);
    let mut lines = (1_usize..).zip(list.lines()).filter(|(_, line)| !line.trim().is_empty()).peekable();
    let columns = lines.peek().and_then(|(_, line)| parse_header(line));
    if columns.is_some() {
        lines.next();
    }
    let columns = columns.unwrap_or_else(|| vec![Some(usual)]);
    let (mut all, mut bad) = (Vec::new(), Vec::new());
    for (number, line) in lines {
        match parse_user(line, &columns) {
            Some(user) => all.push(user),
            None => bad.push(number),
        }
        if all.len() > MAX_PEOPLE {
            return Err(format!("A list can have at most {MAX_PEOPLE} people; split it into several"));
        }
    }
    match (bad.as_slice(), all.is_empty()) {
        ([], true) => Err("The list is empty".to_owned()),
        ([], false) => Ok(all),
        (bad, _) => Err(invalid_lines_message(bad, all.len())),
    }
}

fn invalid_lines_message(bad: &[usize], good: usize) -> String {
    let first: Vec<String> = bad.iter().take(MAX_REPORTED_LINES).map(usize::to_string).collect();
    let more = match bad.len().saturating_sub(MAX_REPORTED_LINES) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let lines = if bad.len() == 1 { "line" } else { "lines" };
    let (first, all) = (first.join(", "), bad.len().saturating_add(good));
    format!(
        "Nothing was uploaded: of {all} people, {lines} {first}{more} do not match the identifier \
         type"
    )
}

/// `None` unless the line names at least one known column.
fn parse_header(line: &str) -> Option<Vec<Option<&'static str>>> {
    let columns: Vec<Option<&'static str>> = split_cells(line)
        .iter()
        .map(|name| {
            let plain: String =
                name.chars().filter(char::is_ascii_alphanumeric).map(|letter| letter.to_ascii_lowercase()).collect();
            let found = COLUMN_KINDS.iter().find(|(known, _)| *known == plain);
            found.map(|(_, kind)| *kind)
        })
        .collect();
    columns.iter().any(Option::is_some).then_some(columns)
}

/// Cells of a CSV line, separated by commas, semicolons or tabs.
fn split_cells(line: &str) -> Vec<String> {
    let (mut all, mut cell, mut quoted) = (Vec::new(), String::new(), false);
    let mut letters = line.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '"' if quoted && letters.peek() == Some(&'"') => {
                letters.next();
                cell.push('"');
            }
            '"' => quoted = !quoted,
            ',' | ';' | '\t' if !quoted => all.push(std::mem::take(&mut cell)),
            other => cell.push(other),
        }
    }
    all.push(cell);
    all
}

/// Digests of all identifiers of a person; `None` if a cell is invalid.
fn parse_user(line: &str, columns: &[Option<&'static str>]) -> Option<Value> {
    let mut keys = Map::new();
    for (cell, kind) in split_cells(line).iter().zip(columns) {
        let (Some(kind), false) = (kind, cell.trim().is_empty()) else {
            continue;
        };
        let key = hash_identifier(kind, cell.trim())?;
        let known = keys.entry((*kind).to_owned()).or_insert_with(|| json!([]));
        if let Some(known) = known.as_array_mut() {
            known.push(key.into());
        }
    }
    (!keys.is_empty()).then_some(Value::Object(keys))
}

/// SHA-256 in hexadecimal; a value that already is a digest is kept.
fn hash_identifier(kind: &str, cell: &str) -> Option<String> {
    let is_digest = cell.len() == 64 && cell.bytes().all(|byte| byte.is_ascii_hexdigit());
    if is_digest {
        return Some(cell.to_ascii_lowercase());
    }
    normalize_identifier(kind, cell).map(|plain| HEXLOWER.encode(&digest(&plain)))
}

fn normalize_identifier(kind: &str, cell: &str) -> Option<String> {
    let plain = cell.len() <= MAX_IDENTIFIER_BYTES && !cell.chars().any(char::is_control);
    let plain = Some(cell).filter(|_| plain)?;
    match kind {
        "email" => {
            let (name, host) = plain.rsplit_once('@')?;
            let sound = !name.is_empty() && !host.is_empty() && !plain.contains(' ');
            sound.then(|| plain.to_lowercase())
        }
        "handle" => {
            let name = plain.strip_prefix('@').unwrap_or(plain);
            let sound = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
            let sound = (1..=15).contains(&name.len()) && name.bytes().all(sound);
            sound.then(|| name.to_ascii_lowercase())
        }
        "svc_id" => {
            let id: i64 = plain.parse().ok()?;
            (id > 0 && plain.bytes().all(|byte| byte.is_ascii_digit())).then(|| id.to_string())
        }
        "phone_number" => normalize_phone(plain),
        _ => (!plain.contains(' ')).then(|| plain.to_lowercase()),
    }
}

/// E.164: a plus sign and 7 to 15 digits, of which the first is not 0.
fn normalize_phone(plain: &str) -> Option<String> {
    let bare: String = plain.chars().filter(|letter| !matches!(letter, ' ' | '-' | '(' | ')' | '.' | '/')).collect();
    let digits = bare.strip_prefix('+').or_else(|| bare.strip_prefix("00"))?;
    let sound = (7..=15).contains(&digits.len())
        && !digits.starts_with('0')
        && digits.bytes().all(|byte| byte.is_ascii_digit());
    sound.then(|| format!("+{digits}"))
}

#[cfg(test)]
mod tests {
    use super::{hash_identifier, parse_list};

    const ANA: &str = "da017b829391311062b1abdbcdd5f4f7b6c24e8074af53f1b0df0f3e91119138";
    const SHOP: &str = "49710133a5b07e0924aef32efc101f79158b220486f582d7c7fedc3d7a5ed27d";
    const PHONE: &str = "95ba13c05e80515cbe8995709a3e2e12e7489170f1533adbda24d7be2c74d98b";
    const ID: &str = "85d6385b945c0d602103db39b0b654b2af93b5127938e26a959c123f0789b948";

    #[test]
    fn what_is_the_same_has_the_same_digest_however_it_is_written() {
        for (kind, cell, digest) in [
            ("email", "Ana.Reis@Bikes.example", ANA),
            ("email", &ANA.to_uppercase(), ANA),
            ("handle", "@HarbourBikes", SHOP),
            ("svc_id", "2001", ID),
            ("svc_id", "002001", ID),
            ("phone_number", "+351 200-000.000", PHONE),
            ("phone_number", "00351 (200) 000000", PHONE),
        ] {
            assert_eq!(hash_identifier(kind, cell).as_deref(), Some(digest), "{kind} {cell}");
        }
        for (kind, cell) in [
            ("email", "ana.reis"),
            ("email", "@x"),
            ("email", "a b@x.example"),
            ("handle", "sixteen_letters_x"),
            ("handle", "é"),
            ("svc_id", "-1"),
            ("svc_id", "99999999999999999999"),
            ("phone_number", "200000000"),
            ("phone_number", "+0123456789"),
        ] {
            assert_eq!(hash_identifier(kind, cell), None, "{kind} {cell}");
        }
    }

    #[test]
    fn lists_are_read_with_and_without_names_of_columns() {
        let plain = parse_list("\u{feff}ana.reis@bikes.example\r\n\r\n ANA.REIS@bikes.example \n", "email");
        let plain = plain.unwrap();
        assert_eq!(plain.len(), 2);
        assert_eq!(plain[0], plain[1]);
        let csv = "\"E-mail\";Name;User ID\n\"ana.reis@bikes.example\";\"Reis; Ana\";2001\n;Shop;2001\n";
        let csv = parse_list(csv, "handle").unwrap();
        assert_eq!(csv[0]["email"][0], ANA);
        assert_eq!(csv[0]["svc_id"][0], ID);
        assert_eq!(csv[1]["email"], serde_json::Value::Null);
        let wrong = parse_list("ana.reis@bikes.example\nnobody\nx@y.example\nsecret", "email");
        let wrong = wrong.unwrap_err();
        assert!(wrong.contains("lines 2, 4 ") && !wrong.contains("secret"), "{wrong}");
        assert!(parse_list(" \n", "email").is_err());
        assert!(parse_list("name,town\nAna,Porto", "email").is_err());
        let many = "a@b.example\n".repeat(super::MAX_PEOPLE + 1);
        assert!(parse_list(&many, "email").unwrap_err().contains("50000"));
    }
}
