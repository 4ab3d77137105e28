//! What the pickers of the `ads` world offer, and the people whom its campaigns reach.

use ads::option_catalog::{self, NewCatalogOption};
use base::time::{DAY_MS, HOUR_MS};
use base::{Error, UserId};
use identity::sessions::{self, ClientInfo};
use network::audit::AuditActor;
use network::follows::follow_approved as follow;
use network::posts::{self, NewPost, PostAuthor};
use network::private_profiles::{self, PrivateProfileChanges};
use network::users::{self, NewUser};
use serde_json::{Map, Value};
use store::Tx;

use super::world_builder::{DemoWorldBuilder, missing_reference, moment_id};
use instance::command::publishers::{PublisherCommand, apply_publisher_command};

/// Type, name, and further members.
type DemoOption = (&'static str, &'static str, &'static [(&'static str, &'static str)]);

const OPTIONS: &[DemoOption] = &[
    ("DEVICE", "iPhone", &[("manufacturer", "Apple"), ("os_type", "IOS")]),
    ("DEVICE", "iPad", &[("manufacturer", "Apple"), ("os_type", "IOS")]),
    ("DEVICE", "Pixel 9", &[("manufacturer", "Google"), ("os_type", "ANDROID")]),
    ("DEVICE", "SM-S921B", &[("manufacturer", "Samsung"), ("os_type", "ANDROID")]),
    ("PLATFORM_VERSION", "iOS 17", &[("number", "17"), ("os_type", "IOS")]),
    ("PLATFORM_VERSION", "iOS 18.5", &[("number", "18.5"), ("os_type", "IOS")]),
    ("PLATFORM_VERSION", "Android 14", &[("number", "14"), ("os_type", "ANDROID")]),
    ("PLATFORM_VERSION", "Android 15", &[("number", "15"), ("os_type", "ANDROID")]),
    ("NETWORK_OPERATOR", "Coast Mobile", &[("country_code", "US")]),
    ("NETWORK_OPERATOR", "Island Mobile", &[("country_code", "GB")]),
    ("APP_STORE_CATEGORY", "Travel", &[("os_type", "IOS")]),
    ("APP_STORE_CATEGORY", "Weather", &[("os_type", "ANDROID")]),
    ("CONVERSATION", "Sailing", &[("conversation_type", "SPORTS"), ("keywords", "sailing,boat")]),
    ("CONVERSATION", "Old Lighthouse", &[("conversation_type", "PLACES"), ("keywords", "lighthouse")]),
    ("TV_SHOW", "Harbour Watch", &[("genre", "Drama"), ("locales", "en-GB,en-US"), ("keywords", "harbour watch")]),
    ("TV_SHOW", "Round the Island", &[("genre", "Sports"), ("locales", "en-GB,de-DE"), ("keywords", "regatta")]),
];
/// Username, location, year of birth, gender, and number of the user agent.
const READERS: &[(&str, &str, i64, &str, usize)] = &[
    ("reader_alice", "New York", 1991, "female", 0),
    ("reader_ben", "New York", 1984, "male", 1),
    ("reader_clara", "Los Angeles", 2003, "female", 0),
    ("reader_diego", "Los Angeles", 1996, "male", 2),
    ("reader_emma", "Chicago", 1973, "female", 3),
    ("reader_felix", "San Francisco", 1988, "male", 0),
    ("reader_gwen", "London", 1999, "female", 1),
    ("reader_hugo", "London", 1968, "male", 3),
    ("reader_ines", "Lisbon", 1993, "female", 0),
    ("reader_joao", "Lisbon", 1981, "male", 2),
    ("reader_karla", "Porto, Portugal", 2001, "female", 1),
    ("reader_luis", "Portugal", 1959, "male", 3),
    ("reader_mika", "Tokyo", 1995, "female", 0),
    ("reader_nils", "Berlin", 1986, "male", 1),
    ("reader_olga", "Paris", 1990, "female", 2),
    ("reader_pedro", "Madrid", 1978, "male", 3),
];
const USER_AGENTS: [&str; 4] = [
    "Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) Version/18.5 Mobile",
    "Mozilla/5.0 (Linux; Android 15; Pixel 9) Chrome/142.0 Mobile",
    "Mozilla/5.0 (iPad; CPU OS 17_0 like Mac OS X) Version/17.0 Mobile",
    "Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Firefox/145.0",
];
/// So that keywords have volumes.
const REMARKS: [&str; 6] = [
    "A boat, a book and no wind at all",
    "The harbour smells of rain this morning",
    "Who goes sailing on Saturday?",
    "The ferry to the island was full again",
    "Best coffee by the harbour, next to the blue boat",
    "Saw the regatta from the lighthouse",
];

pub(super) fn create_targeting(tx: &mut Tx<'_>, world: &DemoWorldBuilder) -> Result<(), Error> {
    for (kind, name, members) in OPTIONS {
        add_option(tx, kind, name, members)?;
    }
    let (start, end) = (tx.now().plus_ms(-DAY_MS).to_string(), tx.now().plus_ms(30 * DAY_MS).to_string());
    let festival = [
        ("event_type", "MUSIC_AND_ENTERTAINMENT"),
        ("start_time", start.as_str()),
        ("end_time", end.as_str()),
        ("hashtags", "HarbourFest"),
    ];
    add_option(tx, "EVENT", "Harbour Festival", &festival)?;
    for (user, category) in [("acme", "se"), ("zoe", "sg")] {
        let publisher = PublisherCommand::Add {
            user: user.to_owned(),
            categories: vec![category.to_owned()],
            countries: vec!["US".to_owned(), "GB".to_owned(), "PT".to_owned()],
            promoted: Vec::new(),
            restricted: false,
        };
        apply_publisher_command(tx, &publisher)?;
    }
    let acme = world.user_id("acme")?;
    for (number, reader) in READERS.iter().enumerate() {
        let user = create_reader(tx, reader)?;
        if number % 2 == 0 {
            follow(tx, user, acme)?;
        }
    }
    Ok(())
}

/// Lists are separated by commas.
fn add_option(tx: &mut Tx<'_>, kind: &str, name: &str, members: &[(&str, &str)]) -> Result<(), Error> {
    let details: Map<String, Value> = members
        .iter()
        .map(|(name, text)| {
            let is_list = ["keywords", "hashtags", "locales"].contains(name);
            let value = if is_list { text.split(',').collect() } else { Value::from(*text) };
            ((*name).to_owned(), value)
        })
        .collect();
    let option = NewCatalogOption { kind: kind.to_owned(), name: name.to_owned(), value: None, details };
    option_catalog::upsert(tx, &option).map(|_| ())
}

fn create_reader(tx: &mut Tx<'_>, reader: &(&str, &str, i64, &str, usize)) -> Result<UserId, Error> {
    let (username, location, born, gender, _) = *reader;
    let joined = tx.now().plus_ms(-200 * DAY_MS);
    let new = NewUser {
        username: username.to_owned(),
        name: username.replace("reader_", "Reader "),
        id: Some(moment_id(tx.rng(), joined)?),
        created_at: Some(joined),
        description: "One of those whom the campaigns of the demo account reach".to_owned(),
        location: location.to_owned(),
        email: format!("{username}@example.com"),
        ..NewUser::default()
    };
    let user = users::create(tx, &new)?.id;
    let profile = PrivateProfileChanges {
        born_on: Some(format!("{born}-05-17")),
        gender: Some(gender.to_owned()),
        ..PrivateProfileChanges::default()
    };
    private_profiles::update(tx, &AuditActor::operator(), user, &profile)?;
    Ok(user)
}

/// Relative to the real clock: sign-ins, which tell devices, and posts of a week.
pub(super) fn create_recent_readers(tx: &mut Tx<'_>) -> Result<(), Error> {
    let mut users = Vec::new();
    for (username, .., agent) in READERS {
        let user = store::users::find_by_username(tx, username)?.ok_or_else(|| missing_reference("user", username))?;
        let user_agent = USER_AGENTS.get(*agent).copied().unwrap_or_default().to_owned();
        let client = ClientInfo { address: "127.0.0.1".to_owned(), user_agent };
        sessions::create(tx, user.id, &client, 30 * DAY_MS)?;
        users.push(user.id);
    }
    let hours = (1..).step_by(2);
    for (hour, (remark, user)) in hours.zip(REMARKS.iter().cycle().zip(users.iter().cycle())).take(80) {
        let at = tx.now().plus_ms(-hour * HOUR_MS);
        let author = PostAuthor { user_id: *user, app_id: None, self_serve: false };
        let text = format!("{remark}. Entry {} of my log.", hour / 2 + 1);
        let post = NewPost { text, id: Some(moment_id(tx.rng(), at)?), ..NewPost::default() };
        posts::create(tx, &author, &post)?;
    }
    Ok(())
}
