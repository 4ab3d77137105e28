//! Looks up a user with two libraries.

use std::env::var;
use std::error::Error;

use twapi_v2::api::{BearerAuthentication, get_2_users_me};
use twitter_v2::TwitterApi;
use twitter_v2::authorization::BearerToken;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let (username, id) = (var("LOCUM_USERNAME")?, var("LOCUM_USER_ID")?);
    let api = TwitterApi::new(BearerToken::new(var("LOCUM_BEARER_TOKEN")?));
    let found = api.get_user_by_username(&username).send().await?.into_data();
    assert_eq!(found.map(|user| user.id.to_string()), Some(id.clone()));
    let auth = BearerAuthentication::new(var("LOCUM_USER_TOKEN")?);
    let (me, _) = get_2_users_me::Api::new().execute(&auth).await?;
    assert_eq!(me.data.map(|user| user.id), Some(id));
    println!("done");
    Ok(())
}
