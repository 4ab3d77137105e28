//! What the world `ads` has beside the demo world: an advertiser's campaigns in every state, down to
//! what is shown. All of it is asked for as a client would.

use ads::access::AdsRole;
use ads::record::AdsRecord;
use ads::request::CONSOLE_APP_ID;
use ads::{AdsCaller, AdsRequest, account_roles, operations};
use base::{Error, Fault, Time, UserId, Vocabulary};
use network::audit::AuditActor;
use network::media;
use network::uploads::{self, NewUpload, ProcessedUpload, UploadKind};
use serde_json::{Value, json};
use store::Tx;

use super::people::PEOPLE;
use super::seed::{HOUR, MOMENT, Planting};

/// The picture of a card.
pub(super) const PICTURE: &[u8] = include_bytes!("harbour.png");
const ALT: &str = "A boat with a white and a red sail in front of a low sun";
const WIDTH: i64 = 1200;
const HEIGHT: i64 = 628;
const PORTUGAL: &str = "3c65374ea675483e";
const DAY: i64 = 24 * HOUR;

/// Makes it; where the picture's file belongs below the media folder.
pub(super) fn plant(
    tx: &mut Tx<'_>,
    world: &Planting,
    account: &AdsRecord,
) -> Result<String, Error> {
    let (ada, bob) = (world.user("ada")?, world.user("bob")?);
    account_roles::grant_role(
        tx,
        &AuditActor::operator(),
        account,
        bob,
        (AdsRole::AdManager, true),
    )?;
    let (picture, path) = picture(tx, ada)?;
    let mut tree = Tree {
        tx,
        user: ada,
        account: account.formatted_id(),
        instrument: String::new(),
    };
    let instruments = tree.ask("GET", "funding_instruments", &[], &[])?;
    tree.instrument = id_of(instruments.get(0).unwrap_or(&Value::Null));
    let card = tree.creatives(&picture)?;
    tree.running(&card)?;
    tree.waiting()?;
    tree.over()?;
    tree.audience()?;
    Ok(path)
}

fn picture(tx: &mut Tx<'_>, by: UserId) -> Result<(String, String), Error> {
    let size = i64::try_from(PICTURE.len()).unwrap_or(0);
    let new = NewUpload {
        kind: Some(UploadKind::Photo),
        total_bytes: Some(size),
        limit: size,
        shared_with: Vec::new(),
    };
    let upload = uploads::initialize(tx, by, &new)?;
    media::set_alt_text(tx, by, upload.id, ALT)?;
    let found = ProcessedUpload {
        kind: UploadKind::Photo,
        content_type: "image/png",
        extension: "png",
        size,
        width: WIDTH,
        height: HEIGHT,
        duration_ms: 0,
        bit_rate: 0,
        sizes: String::new(),
    };
    let medium = uploads::publish_media(tx, &upload, &found)?;
    Ok((format!("3_{}", upload.id), medium.path))
}

/// The `id` of what was answered.
fn id_of(record: &Value) -> String {
    record
        .get("id")
        .and_then(Value::as_str)
        .unwrap_or_default()
        .to_owned()
}

/// The tree while it grows.
struct Tree<'t, 'c> {
    tx: &'t mut Tx<'c>,
    user: UserId,
    account: String,
    instrument: String,
}

impl Tree<'_, '_> {
    fn ask(
        &mut self,
        method: &str,
        path: &str,
        ids: &[&str],
        pairs: &[(&str, &str)],
    ) -> Result<Value, Error> {
        let pairs: Vec<(&str, String)> = pairs
            .iter()
            .map(|(name, value)| (*name, (*value).to_owned()))
            .collect();
        self.send((method, path), ids, &pairs, None)
    }

    fn send(
        &mut self,
        (method, path): (&str, &str),
        ids: &[&str],
        pairs: &[(&str, String)],
        json: Option<Value>,
    ) -> Result<Value, Error> {
        let operation = operations::find_operation(method, path)
            .ok_or_else(|| Fault::new(format!("there is no {method} of {path}")))?;
        let caller = AdsCaller {
            user: self.user,
            app: Some(CONSOLE_APP_ID),
            speech: Vocabulary::Post,
            sandbox: false,
        };
        let ids: Vec<&str> = std::iter::once(self.account.as_str())
            .chain(ids.iter().copied())
            .collect();
        let request = AdsRequest::new_without_app(operation, caller, &ids, pairs, json);
        let answered = ads::dispatch_request(self.tx, &request)?;
        let answer: Value = serde_json::from_str(&answered.body)
            .map_err(Fault::context("an answer of the engine"))?;
        Ok(answer.get("data").cloned().unwrap_or_default())
    }

    /// Makes something; its id.
    fn make(&mut self, path: &str, pairs: &[(&str, &str)]) -> Result<String, Error> {
        Ok(id_of(&self.ask("POST", path, &[], pairs)?))
    }

    fn campaign(&mut self, name: &str, status: &str) -> Result<String, Error> {
        let instrument = self.instrument.clone();
        let pairs = [
            ("name", name),
            ("funding_instrument_id", &instrument),
            ("daily_budget_amount_local_micro", "50000000"),
            ("entity_status", status),
        ];
        self.make("campaigns", &pairs)
    }

    fn item(&mut self, campaign: &str, name: &str, more: &[(&str, &str)]) -> Result<String, Error> {
        let usual = [
            ("campaign_id", campaign),
            ("name", name),
            ("product_type", "PROMOTED_POSTS"),
            ("placements", "ALL_ON_TWITTER"),
            ("bid_amount_local_micro", "250000"),
        ];
        let own = usual
            .into_iter()
            .filter(|(name, _)| more.iter().all(|(other, _)| other != name));
        let pairs: Vec<(&str, &str)> = own.chain(more.iter().copied()).collect();
        self.make("line_items", &pairs)
    }

    /// A post that is seen only where it is promoted.
    fn post(&mut self, text: &str, card: &str) -> Result<String, Error> {
        let user = self.user.to_string();
        let mut pairs = vec![("as_user_id", user.as_str()), ("text", text)];
        if !card.is_empty() {
            pairs.push(("card_uri", card));
        }
        let post = self.ask("POST", "<post>", &[], &pairs)?;
        let id = post.get("id_str").and_then(Value::as_str);
        Ok(id.unwrap_or_default().to_owned())
    }

    fn promote(&mut self, item: &str, posts: &[String]) -> Result<(), Error> {
        let posts = posts.join(",");
        let pairs = [("line_item_id", item), ("post_ids", &posts)];
        self.ask("POST", "promoted_<posts>", &[], &pairs)
            .map(|_| ())
    }

    fn target(&mut self, item: &str, criteria: &[(&str, &str)]) -> Result<(), Error> {
        for (kind, value) in criteria {
            let pairs = [
                ("line_item_id", item),
                ("targeting_type", kind),
                ("targeting_value", value),
            ];
            self.make("targeting_criteria", &pairs)?;
        }
        Ok(())
    }

    /// The library, a card that leads to a site, a poll; the card's address.
    fn creatives(&mut self, picture: &str) -> Result<String, Error> {
        let pairs = [("media_key", picture), ("name", "Harbour in the evening")];
        self.ask("POST", "media_library", &[], &pairs)?;
        let site = json!({ "type": "WEBSITE", "url": "https://example.com/boats" });
        let card = json!({
            "name": "Boats for a day",
            "components": [
                { "type": "MEDIA", "media_key": picture },
                { "type": "DETAILS", "title": "Boats for a day", "destination": site },
            ],
        });
        let card = self.send(("POST", "cards"), &[], &[], Some(card))?;
        let poll = [
            ("name", "Where to?"),
            ("first_choice", "The lighthouse"),
            ("second_choice", "The island"),
            ("duration_in_minutes", "10080"),
        ];
        self.make("cards/poll", &poll)?;
        let uri = card.get("card_uri").and_then(Value::as_str);
        Ok(uri.unwrap_or_default().to_owned())
    }

    /// Campaigns that are shown: posts, a card, the account itself.
    fn running(&mut self, card: &str) -> Result<(), Error> {
        let campaign = self.campaign("Autumn on the water", "ACTIVE")?;
        let objective = [("objective", "ENGAGEMENTS")];
        let item = self.item(&campaign, "People who talk about boats", &objective)?;
        let posts = [
            self.post(
                "The sea is warm until the end of October. Come and see.",
                "",
            )?,
            self.post("Three hours, one boat, no engine. Who comes along?", "")?,
        ];
        self.promote(&item, &posts)?;
        let criteria = [
            ("BROAD_KEYWORD", "boat"),
            ("BROAD_KEYWORD", "harbour"),
            ("LANGUAGE", "en"),
        ];
        self.target(&item, &criteria)?;
        let tag = [
            ("line_item_id", item.as_str()),
            ("tracking_tag_type", "IMPRESSION_TAG"),
            ("tracking_tag_url", "https://example.com/seen"),
        ];
        self.make("tracking_tags", &tag)?;
        let campaign = self.campaign("The shop", "ACTIVE")?;
        let clicks = [
            ("objective", "WEBSITE_CLICKS"),
            ("bid_amount_local_micro", "400000"),
        ];
        let item = self.item(&campaign, "Visitors of the shop", &clicks)?;
        let post = self.post("A boat of your own, for a day.", card)?;
        self.promote(&item, &[post])?;
        self.target(&item, &[("LOCATION", PORTUGAL)])?;
        let campaign = self.campaign("More followers", "ACTIVE")?;
        let followers = [
            ("objective", "FOLLOWERS"),
            ("product_type", "PROMOTED_ACCOUNT"),
        ];
        let item = self.item(&campaign, "Those who like the sea", &followers)?;
        let user = self.user.to_string();
        let pairs = [("line_item_id", item.as_str()), ("user_id", &user)];
        self.make("promoted_accounts", &pairs)?;
        self.target(&item, &[("FOLLOWERS_OF_USER", &user)])
    }

    /// What is paused, planned, a draft, or lacks something.
    fn waiting(&mut self) -> Result<(), Error> {
        let user = self.user.to_string();
        let campaign = self.campaign("Winter offers", "PAUSED")?;
        let objective = [("objective", "ENGAGEMENTS")];
        let item = self.item(&campaign, "Early birds", &objective)?;
        let post = self.post("A boat under the tree?", "")?;
        self.promote(&item, &[post])?;
        let later = MOMENT.plus_ms(360 * DAY).to_string();
        let scheduled = [
            ("as_user_id", user.as_str()),
            ("text", "The harbour is open again."),
            ("scheduled_at", &later),
        ];
        let scheduled = self.make("scheduled_<posts>", &scheduled)?;
        let pairs = [
            ("line_item_id", item.as_str()),
            ("scheduled_post_id", &scheduled),
        ];
        self.make("scheduled_promoted_<posts>", &pairs)?;
        let campaign = self.campaign("Next summer", "ACTIVE")?;
        let starts = [("objective", "ENGAGEMENTS"), ("start_time", later.as_str())];
        let item = self.item(&campaign, "Everybody", &starts)?;
        let post = self.post("We begin again in spring.", "")?;
        self.promote(&item, &[post])?;
        self.campaign("Nothing in it yet", "ACTIVE")?;
        self.campaign("Ideas", "DRAFT")?;
        let draft = [
            ("as_user_id", user.as_str()),
            ("text", "Something about knots?"),
        ];
        self.make("draft_<posts>", &draft).map(|_| ())
    }

    /// A campaign that ended on the day on which the world begins.
    fn over(&mut self) -> Result<(), Error> {
        let campaign = self.campaign("Summer", "ACTIVE")?;
        let ends: Time = MOMENT.plus_ms(HOUR);
        let ends = ends.to_string();
        let flight = [("objective", "ENGAGEMENTS"), ("end_time", ends.as_str())];
        let item = self.item(&campaign, "Swimmers", &flight)?;
        let post = self.post("The last warm days.", "")?;
        self.promote(&item, &[post])
    }

    /// An audience of the people of the world.
    fn audience(&mut self) -> Result<(), Error> {
        let audience = self.make("custom_audiences", &[("name", "Newsletter")])?;
        let users: Vec<Value> = PEOPLE
            .iter()
            .map(|person| {
                let digest = base::secret::digest(&person.username.to_lowercase());
                let digits: Vec<String> = digest.iter().map(|byte| format!("{byte:02x}")).collect();
                json!({ "handle": [digits.concat()] })
            })
            .collect();
        let body = json!([{ "operation_type": "Update", "params": { "users": users } }]);
        let of = ("POST", "custom_audiences/{}/users");
        self.send(of, &[&audience], &[], Some(body)).map(|_| ())
    }
}
