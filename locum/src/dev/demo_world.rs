//! Creates the demo world, identical on every machine, through the same functions as API requests.

use ads::resources::accounts::{self, NewAdsAccount};
use ads::resources::funding_instruments::FUNDING_INSTRUMENT;
use ads_engine::{AccountContext, AdsRecord, ParsedParams, engine};
use base::{AppId, Error, Secret, UserId};
use identity::apps::{self, AccessLevel, App, AppCredentials, AppProfile, OAuthClientKind as AppKind, Permission};
use identity::tokens;
use store::Tx;

use super::demo_extras;
use super::demo_people::PEOPLE;
use super::env_file::EnvFile;
use super::world_builder::DemoWorldBuilder;
use super::{PictureFile, demo_campaigns, demo_targeting};

pub(super) const PASSWORD: &str = "dev";
/// The redirect URI of the demo apps; nothing needs to listen there.
pub(super) const CALLBACK: &str = "http://127.0.0.1:8765/callback";

/// A user with tokens of an app.
pub(super) struct DemoUserKeys {
    pub(super) id: UserId,
    pub(super) username: String,
    pub(super) access_token: Secret,
    pub(super) access_token_secret: Secret,
    pub(super) user_token: Secret,
}

/// Returns the lines of `dev.env`, and the pictures with their paths relative to the media directory.
pub(super) fn create_demo_world(
    tx: &mut Tx<'_>,
    password_hash: &str,
    campaigns: bool,
) -> Result<(EnvFile, Vec<PictureFile>), Error> {
    let mut world = DemoWorldBuilder::new(tx, password_hash)?;
    world.create_follows(tx)?;
    let (demo, app) = register_app(tx, world.user_id("ada")?, &DEMO)?;
    let (_, public) = register_app(tx, world.user_id("bob")?, &PUBLIC)?;
    world.app = Some(demo.clone());
    world.create_posts(tx)?;
    for person in PEOPLE.iter().filter(|person| person.traits.suspended) {
        identity::account_states::suspend(tx, world.user_id(person.username)?)?;
    }
    // Three months of campaigns cost more than a look at the API.
    let funds = if campaigns { 100_000_000_000 } else { 10_000_000_000 };
    let new = NewAdsAccount {
        name: "Demo account".to_owned(),
        industry_type: "TECHNOLOGY".to_owned(),
        ..NewAdsAccount::default()
    };
    let (account, instrument) = create_ads_account(tx, world.user_id("ada")?, &new, funds)?;
    let ada = issue_user_keys(tx, demo.id, world.user_id("ada")?, "ada", Permission::Messages)?;
    let bob = issue_user_keys(tx, demo.id, world.user_id("bob")?, "bob", Permission::Messages)?;
    // Additions go here, after the credentials, so that existing keys stay the same.
    let mut pictures = vec![(demo_extras::create_extras(tx, &world)?, demo_extras::PICTURE)];
    if campaigns {
        pictures.extend(demo_campaigns::create_campaigns(tx, &world, &account)?);
        demo_targeting::create_targeting(tx, &world)?;
    }
    let mut lines = EnvFile::default();
    lines.add_api_keys(&app, "");
    lines.add_user(&ada, "");
    lines.add_user(&bob, "_2");
    lines.add_oauth_client(&app, "");
    lines.add_line("PUBLIC_CLIENT_ID", &public.client_id);
    lines.add_line("CALLBACK_URL", CALLBACK);
    lines.add_api_keys(&public, "_2");
    lines.add_line("ADS_ACCOUNT_ID", &account.formatted_id());
    lines.add_line("ADS_FUNDING_INSTRUMENT_ID", &instrument.formatted_id());
    Ok((lines, pictures))
}

/// Returns the account and its funding instrument. `funds` are micros of its currency.
pub(super) fn create_ads_account(
    tx: &mut Tx<'_>,
    user: UserId,
    new: &NewAdsAccount,
    funds: i64,
) -> Result<(AdsRecord, AdsRecord), Error> {
    let account = accounts::insert(tx, user, new)?;
    let mut given = ParsedParams::default();
    given.insert("type", "INSERTION_ORDER".into());
    given.insert("currency", "USD".into());
    given.insert("start_time", tx.now().ms().into());
    given.insert("funded_amount_local_micro", funds.into());
    let mut context = AccountContext::new_for_operator(tx, user, account.clone());
    let instrument = engine::create(&mut context, &FUNDING_INSTRUMENT, &given)?;
    Ok((account, instrument))
}

struct DemoApp {
    name: &'static str,
    kind: AppKind,
    access_level: AccessLevel,
    description: &'static str,
}

const DEMO: DemoApp = DemoApp {
    name: "demo",
    kind: AppKind::Web,
    access_level: AccessLevel::Enterprise,
    description: "A confidential client that may do everything",
};
const PUBLIC: DemoApp = DemoApp {
    name: "demo-public",
    kind: AppKind::Native,
    access_level: AccessLevel::SelfServe,
    description: "A public client without a secret, on the self-serve level",
};

fn register_app(tx: &mut Tx<'_>, owner: UserId, sketch: &DemoApp) -> Result<(App, AppCredentials), Error> {
    let profile = AppProfile {
        name: sketch.name.to_owned(),
        kind: sketch.kind,
        permission: Permission::Messages,
        callback_urls: vec![CALLBACK.to_owned()],
        description: sketch.description.to_owned(),
        website_url: "https://example.com".to_owned(),
        request_email: true,
        sign_in: true,
    };
    apps::create(tx, owner, sketch.access_level, &profile)
}

pub(super) fn issue_user_keys(
    tx: &mut Tx<'_>,
    app: AppId,
    id: UserId,
    username: &str,
    permission: Permission,
) -> Result<DemoUserKeys, Error> {
    let (access_token, access_token_secret) = tokens::mint_oauth1(tx, app, id, permission)?;
    let user_token = tokens::mint_oauth2(tx, app, id, tokens::all_scopes(), None)?;
    Ok(DemoUserKeys { id, username: username.to_owned(), access_token, access_token_secret, user_token })
}
