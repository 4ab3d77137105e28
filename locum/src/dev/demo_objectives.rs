//! Campaigns of the `ads` world whose objectives need a video or an app.

use ads::resources::features;
use ads_engine::{AccountContext, AdsRecord};
use base::{Error, UserId};
use network::media;
use network::uploads::{self, NewUpload, ProcessedUpload, UploadKind};
use serde_json::{Value, json};
use store::Tx;

use super::PictureFile;
use super::demo_campaigns::{AUTOMATIC, CampaignBuilder, response_id};

const VIDEO: &[u8] = include_bytes!("sailing.mp4");
const VIDEO_ALT_TEXT: &str = "A boat crosses a bay under a square sun";
const WIDTH: i64 = 320;
const HEIGHT: i64 = 180;
const DURATION_MS: i64 = 20_000;
/// No app in the store has this number.
const APP: (&str, &str) = ("ios_app_store_identifier", "100000001");

/// Lets the account have line items before videos.
pub(super) fn allow_preroll(tx: &mut Tx<'_>, account: &AdsRecord) -> Result<(), Error> {
    let mut all: Vec<String> = account.texts("features").into_iter().map(str::to_owned).collect();
    all.push("PREROLL_VIEWS_OBJECTIVE".to_owned());
    features::set(&mut AccountContext::new_for_operator(tx, UserId::new(0), account.clone()), all).map(|_| ())
}

/// The media key, and the file to write.
fn upload_video(tx: &mut Tx<'_>, by: UserId) -> Result<(String, PictureFile), Error> {
    let size = i64::try_from(VIDEO.len()).unwrap_or(0);
    let new = NewUpload {
        kind: Some(UploadKind::AmplifyVideo),
        total_bytes: Some(size),
        limit: size,
        shared_with: Vec::new(),
    };
    let upload = uploads::initialize(tx, by, &new)?;
    media::set_alt_text(tx, by, upload.id, VIDEO_ALT_TEXT)?;
    let found = ProcessedUpload {
        kind: UploadKind::AmplifyVideo,
        content_type: "video/mp4",
        extension: "mp4",
        size,
        width: WIDTH,
        height: HEIGHT,
        duration_ms: DURATION_MS,
        bit_rate: size.saturating_mul(8000) / DURATION_MS,
        ..ProcessedUpload::default()
    };
    let medium = uploads::publish_media(tx, &upload, &found, false)?;
    Ok((format!("13_{}", upload.id), (medium.path, VIDEO)))
}

impl CampaignBuilder<'_, '_> {
    /// Returns the file of the video.
    pub(super) fn create_video_and_app_campaigns(&mut self, picture: &str) -> Result<PictureFile, Error> {
        let (video, file) = upload_video(self.tx, self.user)?;
        self.request_entity("POST", "media_library", &[], &[("media_key", &video), ("name", "Across the bay")])?;
        self.create_video_campaign(&video)?;
        self.create_preroll_campaign()?;
        self.create_app_campaigns(picture)?;
        Ok(file)
    }

    fn create_video_campaign(&mut self, video: &str) -> Result<(), Error> {
        let site = json!({ "type": "WEBSITE", "url": "https://example.com/sailing" });
        let card = self.create_card(json!({
            "name": "Across the bay",
            "components": [
                { "type": "MEDIA", "media_key": video },
                { "type": "DETAILS", "title": "Across the bay", "destination": site },
            ],
        }))?;
        let campaign = self.create_campaign("Across the bay", "ACTIVE")?;
        let views = [("objective", "VIDEO_VIEWS"), AUTOMATIC];
        let item = self.create_line_item(&campaign, "Those who watch", &views)?;
        let post = self.create_promoted_only_post("Twenty seconds of sailing.", &card)?;
        self.promote_posts(&item, &[post])
    }

    fn create_preroll_campaign(&mut self) -> Result<(), Error> {
        let campaign = self.create_campaign("Before the film", "ACTIVE")?;
        let preroll = [("objective", "PREROLL_VIEWS"), ("product_type", "MEDIA"), ("categories", "IAB20")];
        let item = self.create_line_item(&campaign, "Those who wait", &preroll)?;
        let media = self.request_entity("GET", "account_media", &[], &[("creative_types", "PREROLL")])?;
        let media = response_id(media.get(0).unwrap_or(&Value::Null));
        let pairs = [("line_item_id", item.as_str()), ("account_media_id", &media)];
        self.create_entity("media_creatives", &pairs).map(|_| ())
    }

    fn create_app_campaigns(&mut self, picture: &str) -> Result<(), Error> {
        let app = json!({ "type": "APP", "country_code": "US", (APP.0): APP.1 });
        let card = |name: &str, label: &str| {
            json!({
                "name": name,
                "components": [
                    { "type": "MEDIA", "media_key": picture },
                    { "type": "BUTTON", "label": { "type": "ENUM", "value": label }, "destination": app },
                ],
            })
        };
        for (name, objective, label, text) in [
            ("Harbour app", "APP_INSTALLS", "INSTALL", "Tides, berths and weather, in your pocket."),
            ("Back on board", "APP_ENGAGEMENTS", "OPEN", "Your berth is free on Saturday."),
        ] {
            let card = self.create_card(card(name, label))?;
            let campaign = self.create_campaign(name, "ACTIVE")?;
            let item = self.create_line_item(&campaign, "People with a phone", &[("objective", objective), APP])?;
            let post = self.create_promoted_only_post(text, &card)?;
            self.promote_posts(&item, &[post])?;
        }
        let (_, app) = APP;
        let install = [
            ("app_store_identifier", app),
            ("os_type", "IOS"),
            ("conversion_type", "INSTALL"),
            ("provider_app_event_id", "1"),
            ("provider_app_event_name", "Install"),
        ];
        self.create_entity("app_event_tags", &install).map(|_| ())
    }

    /// The card's URI.
    fn create_card(&mut self, card: Value) -> Result<String, Error> {
        let card = self.send_request(("POST", "cards"), &[], card)?;
        Ok(card.get("card_uri").and_then(Value::as_str).unwrap_or_default().to_owned())
    }
}
