//! The ad campaigns of the `ads` world, in every state; created through the Ads API engine.

use ads::account_roles;
use ads::resources::accounts;
use ads_engine::{AdsRecord, AdsRole};
use base::time::{DAY_MS, HOUR_MS};
use base::{Error, Fault, UserId};
use network::audit::AuditActor;
use network::media;
use network::uploads::{self, NewUpload, ProcessedUpload, UploadKind};
use serde_json::{Value, json};
use store::Tx;

use super::ads_requests::send_ads_request;
use super::demo_people::PEOPLE;
use super::world_builder::{DemoWorldBuilder, missing_reference};
use super::{PictureFile, demo_objectives};

const PICTURE: &[u8] = include_bytes!("harbour.png");
const PICTURE_ALT_TEXT: &str = "A boat with a white and a red sail in front of a low sun";
const WIDTH: i64 = 1200;
const HEIGHT: i64 = 628;
/// No bid of one's own.
pub(super) const AUTOMATIC: (&str, &str) = ("bid_strategy", "AUTO");
const PORTUGAL: &str = "3c65374ea675483e";
const UNITED_STATES: &str = "96683cc9126741d1";
const RUNNING_DAYS: i64 = 100;

/// Returns the files of its media.
pub(super) fn create_campaigns(
    tx: &mut Tx<'_>,
    world: &DemoWorldBuilder,
    account: &AdsRecord,
) -> Result<Vec<PictureFile>, Error> {
    let (ada, bob) = (world.user_id("ada")?, world.user_id("bob")?);
    account_roles::grant_role(tx, &AuditActor::operator(), account, bob, (AdsRole::AdManager, true))?;
    demo_objectives::allow_preroll(tx, account)?;
    let (picture, path) = upload_picture(tx, ada)?;
    let mut tree = CampaignBuilder {
        tx,
        user: ada,
        account: account.formatted_id(),
        instrument: String::new(),
        poll: String::new(),
    };
    let instruments = tree.request_entity("GET", "funding_instruments", &[], &[])?;
    tree.instrument = response_id(instruments.get(0).unwrap_or(&Value::Null));
    let card = tree.create_creatives(&picture)?;
    tree.create_running_campaigns(&card)?;
    tree.create_inactive_campaigns()?;
    tree.create_ended_campaign()?;
    tree.create_festival_campaign()?;
    tree.create_audience()?;
    tree.create_event_tags()?;
    let video = tree.create_video_and_app_campaigns(&picture)?;
    Ok(vec![(path, PICTURE), video])
}

/// The id of the world's account.
pub(super) fn find_account(tx: &mut Tx<'_>) -> Result<String, Error> {
    let ada = store::users::find_by_username(tx, "ada")?.ok_or_else(|| missing_reference("user", "ada"))?;
    for access in store::ads::list_access_by_user(tx, ada.id)? {
        if let Some(account) = accounts::find(tx, access.account_id)? {
            return Ok(account.formatted_id());
        }
    }
    Err(missing_reference("account", "Demo account"))
}

fn upload_picture(tx: &mut Tx<'_>, by: UserId) -> Result<(String, String), Error> {
    let size = i64::try_from(PICTURE.len()).unwrap_or(0);
    let new =
        NewUpload { kind: Some(UploadKind::Photo), total_bytes: Some(size), limit: size, shared_with: Vec::new() };
    let upload = uploads::initialize(tx, by, &new)?;
    media::set_alt_text(tx, by, upload.id, PICTURE_ALT_TEXT)?;
    let found = ProcessedUpload {
        kind: UploadKind::Photo,
        content_type: "image/png",
        extension: "png",
        size,
        width: WIDTH,
        height: HEIGHT,
        ..ProcessedUpload::default()
    };
    let medium = uploads::publish_media(tx, &upload, &found, false)?;
    Ok((format!("3_{}", upload.id), medium.path))
}

pub(super) fn response_id(record: &Value) -> String {
    record.get("id").and_then(Value::as_str).unwrap_or_default().to_owned()
}

pub(super) struct CampaignBuilder<'t, 'c> {
    pub(super) tx: &'t mut Tx<'c>,
    pub(super) user: UserId,
    account: String,
    instrument: String,
    /// The URI of the poll card.
    poll: String,
}

impl CampaignBuilder<'_, '_> {
    pub(super) fn request_entity(
        &mut self,
        method: &str,
        path: &str,
        ids: &[&str],
        pairs: &[(&str, &str)],
    ) -> Result<Value, Error> {
        let params = pairs.iter().map(|(name, value)| ((*name).to_owned(), Value::from(*value)));
        self.send_request((method, path), ids, params.collect())
    }

    pub(super) fn send_request(
        &mut self,
        (method, path): (&str, &str),
        ids: &[&str],
        params: Value,
    ) -> Result<Value, Error> {
        let operation = ads_delivery::find_operation(method, path)
            .ok_or_else(|| Fault::new(format!("no operation matches {method} {path}")))?;
        let ids: Vec<&str> = std::iter::once(self.account.as_str()).chain(ids.iter().copied()).collect();
        send_ads_request(self.tx, self.user, operation, &ids, params)
    }

    pub(super) fn create_entity(&mut self, path: &str, pairs: &[(&str, &str)]) -> Result<String, Error> {
        Ok(response_id(&self.request_entity("POST", path, &[], pairs)?))
    }

    pub(super) fn create_campaign(&mut self, name: &str, status: &str) -> Result<String, Error> {
        let instrument = self.instrument.clone();
        let pairs = [
            ("name", name),
            ("funding_instrument_id", &instrument),
            ("daily_budget_amount_local_micro", "50000000"),
            ("entity_status", status),
        ];
        self.create_entity("campaigns", &pairs)
    }

    pub(super) fn create_line_item(
        &mut self,
        campaign: &str,
        name: &str,
        more: &[(&str, &str)],
    ) -> Result<String, Error> {
        let usual = [
            ("campaign_id", campaign),
            ("name", name),
            ("product_type", "PROMOTED_POSTS"),
            ("placements", "ALL_ON_TWITTER"),
            ("bid_amount_local_micro", "250000"),
        ];
        // Before the first day that is simulated.
        let started = self.tx.now().plus_ms(-RUNNING_DAYS * DAY_MS).to_string();
        let usual = usual.into_iter().chain([("start_time", started.as_str())]);
        let own = usual.filter(|(name, _)| more.iter().all(|(other, _)| other != name));
        let pairs: Vec<(&str, &str)> = own.chain(more.iter().copied()).collect();
        self.create_entity("line_items", &pairs)
    }

    pub(super) fn create_promoted_only_post(&mut self, text: &str, card: &str) -> Result<String, Error> {
        let user = self.user.to_string();
        let mut pairs = vec![("as_user_id", user.as_str()), ("text", text)];
        if !card.is_empty() {
            pairs.push(("card_uri", card));
        }
        let post = self.request_entity("POST", "<post>", &[], &pairs)?;
        let id = post.get("id_str").and_then(Value::as_str);
        Ok(id.unwrap_or_default().to_owned())
    }

    pub(super) fn promote_posts(&mut self, item: &str, posts: &[String]) -> Result<(), Error> {
        let posts = posts.join(",");
        let pairs = [("line_item_id", item), ("post_ids", &posts)];
        self.request_entity("POST", "promoted_<posts>", &[], &pairs).map(|_| ())
    }

    fn add_targeting(&mut self, item: &str, criteria: &[(&str, &str)]) -> Result<(), Error> {
        for (kind, value) in criteria {
            let pairs = [("line_item_id", item), ("targeting_type", kind), ("targeting_value", value)];
            self.create_entity("targeting_criteria", &pairs)?;
        }
        Ok(())
    }

    fn create_creatives(&mut self, picture: &str) -> Result<String, Error> {
        let pairs = [("media_key", picture), ("name", "Harbour in the evening")];
        self.request_entity("POST", "media_library", &[], &pairs)?;
        let site = json!({ "type": "WEBSITE", "url": "https://example.com/boats" });
        let card = json!({
            "name": "Boats for a day",
            "components": [
                { "type": "MEDIA", "media_key": picture },
                { "type": "DETAILS", "title": "Boats for a day", "destination": site },
            ],
        });
        let card = self.send_request(("POST", "cards"), &[], card)?;
        let poll = [
            ("name", "Where to?"),
            ("first_choice", "The lighthouse"),
            ("second_choice", "The island"),
            ("duration_in_minutes", "10080"),
        ];
        let poll = self.request_entity("POST", "cards/poll", &[], &poll)?;
        let uri = |card: &Value| card.get("card_uri").and_then(Value::as_str).unwrap_or_default().to_owned();
        self.poll = uri(&poll);
        Ok(uri(&card))
    }

    fn create_running_campaigns(&mut self, card: &str) -> Result<(), Error> {
        let campaign = self.create_campaign("Autumn on the water", "ACTIVE")?;
        let objective = [("objective", "ENGAGEMENTS")];
        let item = self.create_line_item(&campaign, "People who talk about boats", &objective)?;
        let posts = [
            self.create_promoted_only_post("The sea is warm until the end of October. Come and see.", "")?,
            self.create_promoted_only_post("Three hours, one boat, no engine. Who comes along?", "")?,
        ];
        self.promote_posts(&item, &posts)?;
        let criteria = [("BROAD_KEYWORD", "boat"), ("BROAD_KEYWORD", "harbour"), ("LANGUAGE", "en")];
        self.add_targeting(&item, &criteria)?;
        let tag = [
            ("line_item_id", item.as_str()),
            ("tracking_tag_type", "IMPRESSION_TAG"),
            ("tracking_tag_url", "https://example.com/seen"),
        ];
        self.create_entity("tracking_tags", &tag)?;
        let campaign = self.create_campaign("The shop", "ACTIVE")?;
        let clicks = [("objective", "WEBSITE_CLICKS"), ("bid_amount_local_micro", "400000")];
        let item = self.create_line_item(&campaign, "Visitors of the shop", &clicks)?;
        let post = self.create_promoted_only_post("A boat of your own, for a day.", card)?;
        self.promote_posts(&item, &[post])?;
        self.add_targeting(&item, &[("LOCATION", PORTUGAL)])?;
        let campaign = self.create_campaign("More followers", "ACTIVE")?;
        let followers = [("objective", "FOLLOWERS"), ("product_type", "PROMOTED_ACCOUNT")];
        let item = self.create_line_item(&campaign, "Those who like the sea", &followers)?;
        let user = self.user.to_string();
        let pairs = [("line_item_id", item.as_str()), ("user_id", &user)];
        self.create_entity("promoted_accounts", &pairs)?;
        // Those who follow the account already never see it.
        self.add_targeting(&item, &[("LOCATION", UNITED_STATES)])
    }

    fn create_inactive_campaigns(&mut self) -> Result<(), Error> {
        let user = self.user.to_string();
        let campaign = self.create_campaign("Winter offers", "PAUSED")?;
        let objective = [("objective", "ENGAGEMENTS")];
        let item = self.create_line_item(&campaign, "Early birds", &objective)?;
        let post = self.create_promoted_only_post("A boat under the tree?", "")?;
        self.promote_posts(&item, &[post])?;
        let later = self.tx.now().plus_ms(360 * DAY_MS).to_string();
        let scheduled =
            [("as_user_id", user.as_str()), ("text", "The harbour is open again."), ("scheduled_at", &later)];
        let scheduled = self.create_entity("scheduled_<posts>", &scheduled)?;
        let pairs = [("line_item_id", item.as_str()), ("scheduled_post_id", &scheduled)];
        self.create_entity("scheduled_promoted_<posts>", &pairs)?;
        let campaign = self.create_campaign("Next summer", "ACTIVE")?;
        let starts = [("objective", "ENGAGEMENTS"), ("start_time", later.as_str())];
        let item = self.create_line_item(&campaign, "Everybody", &starts)?;
        let post = self.create_promoted_only_post("We begin again in spring.", "")?;
        self.promote_posts(&item, &[post])?;
        self.create_campaign("Nothing in it yet", "ACTIVE")?;
        self.create_campaign("Ideas", "DRAFT")?;
        let draft = [("as_user_id", user.as_str()), ("text", "Something about knots?")];
        self.create_entity("draft_<posts>", &draft).map(|_| ())
    }

    fn create_ended_campaign(&mut self) -> Result<(), Error> {
        let campaign = self.create_campaign("Summer", "ACTIVE")?;
        let ends = self.tx.now().plus_ms(HOUR_MS).to_string();
        let flight = [("objective", "ENGAGEMENTS"), ("end_time", ends.as_str())];
        let item = self.create_line_item(&campaign, "Swimmers", &flight)?;
        let post = self.create_promoted_only_post("The last warm days.", "")?;
        self.promote_posts(&item, &[post])
    }

    fn create_festival_campaign(&mut self) -> Result<(), Error> {
        let campaign = self.create_campaign("Harbour festival", "ACTIVE")?;
        let item =
            self.create_line_item(&campaign, "Everyone around the harbour", &[("objective", "REACH"), AUTOMATIC])?;
        let post = self.create_promoted_only_post("Fireworks, boats and a band: this weekend at the harbour.", "")?;
        self.promote_posts(&item, &[post])?;
        let campaign = self.create_campaign("Where to next", "ACTIVE")?;
        let item = self.create_line_item(&campaign, "Those who like to choose", &[("objective", "ENGAGEMENTS")])?;
        let poll = self.poll.clone();
        let post = self.create_promoted_only_post("Where shall the boats go?", &poll)?;
        self.promote_posts(&item, &[post])
    }

    fn create_event_tags(&mut self) -> Result<(), Error> {
        for (name, kind) in [("Site visit", "SITE_VISIT"), ("Boat booked", "PURCHASE"), ("Newsletter", "SIGN_UP")] {
            let visitors = if kind == "SITE_VISIT" { "true" } else { "false" };
            let windows = [("click_window", "30"), ("view_through_window", "1"), ("retargeting_enabled", visitors)];
            self.create_entity("web_event_tags", &[&[("name", name), ("type", kind)][..], &windows].concat())?;
        }
        Ok(())
    }

    fn create_audience(&mut self) -> Result<(), Error> {
        let audience = self.create_entity("custom_audiences", &[("name", "Newsletter")])?;
        let users: Vec<Value> = PEOPLE
            .iter()
            .map(|person| {
                let digest = base::secret::digest(&person.username.to_lowercase());
                json!({ "handle": [data_encoding::HEXLOWER.encode(&digest)] })
            })
            .collect();
        let body = json!([{ "operation_type": "Update", "params": { "users": users } }]);
        let of = ("POST", "custom_audiences/{}/users");
        self.send_request(of, &[&audience], body).map(|_| ())
    }
}
