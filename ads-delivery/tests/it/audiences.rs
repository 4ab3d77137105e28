//! Members of custom audiences that several transactions change at once.

use std::collections::BTreeSet;

use ads::resources::custom_audiences::CUSTOM_AUDIENCE;
use ads_delivery::audience_matching::{self, MatchingConfig};
use ads_delivery::size_disclosure::SizeDisclosure;
use base::UserId;
use base::secret::digest;
use data_encoding::HEXLOWER;
use network::audit::AuditActor;
use network::profiles::ProfileChanges;
use serde_json::{Value, json};
use store::Tx;
use store::ads::audiences;

use crate::shop::Shop;
use crate::world::{World, begin, each_engine};

const DAY: i64 = 24 * 3_600_000;

fn hashed(text: &str) -> String {
    HEXLOWER.encode(&digest(text))
}

/// An audience with one member, whom a user matches by id.
struct OneMemberAudience {
    shop: Shop,
    id: String,
    fan: UserId,
}

impl OneMemberAudience {
    async fn create(world: &World) -> Self {
        let (shop, fan) = (Shop::open(world, "ana").await, world.user("fan".to_owned()).await);
        let id = shop.make(world, "A/custom_audiences", &[("name", "Riders")]).await;
        let audience = Self { shop, id, fan };
        let until = ads_engine::field_kind::format_time(world.clock.now().plus_ms(DAY));
        let users = json!([{ "svc_id": [hashed(&fan.to_string())], "handle": [hashed("fan")] }]);
        audience.change(world, "Update", json!({ "users": users, "expires_at": until })).await;
        audience.match_all(world).await;
        assert_eq!(audience.matched(world).await, [fan]);
        audience
    }

    fn number(&self) -> i64 {
        CUSTOM_AUDIENCE.id_format.parse(&self.id).unwrap()
    }

    async fn change(&self, world: &World, operation: &str, params: Value) {
        let body = json!([{ "operation_type": operation, "params": params }]);
        self.shop.post_json(world, &format!("A/custom_audiences/{}/users", self.id), body).await;
    }

    /// Renews the membership by the key that the user has in any case.
    async fn renew(&self, world: &World) {
        let users = json!([{ "svc_id": [hashed(&self.fan.to_string())] }]);
        self.change(world, "Update", json!({ "users": users })).await;
    }

    async fn match_all(&self, world: &World) {
        while world.store.read(|tx| Ok(audience_matching::has_unkeyed_users(tx)?)).await.unwrap() {
            world.write(audience_matching::key_user_batch).await;
        }
        let id = self.number();
        while world.write(move |tx| audience_matching::match_member_batch(tx, id)).await {}
    }

    async fn matched(&self, world: &World) -> Vec<UserId> {
        let id = self.number();
        world.store.read(move |tx| Ok(audiences::matched_users(tx, id, tx.now())?)).await.unwrap()
    }
}

#[each_engine]
async fn member_that_is_deleted_while_the_keys_of_its_user_change_matches_nobody(world: World) {
    let audience = OneMemberAudience::create(&world).await;
    let edit = ProfileChanges { username: Some("fan2".to_owned()), ..ProfileChanges::default() };
    let fan = audience.fan;
    world.write(move |tx| network::profiles::update(tx, &AuditActor::user(fan, ""), fan, &edit)).await;
    let refresh = begin(&world, audience_matching::key_user_batch).await;
    audience.change(&world, "Delete", json!({ "users": [{ "svc_id": [hashed(&fan.to_string())] }] })).await;
    refresh.await.unwrap();
    audience.match_all(&world).await;
    assert_eq!(audience.matched(&world).await, []);
}

#[each_engine]
async fn membership_renewed_while_expired_members_are_deleted_stays(world: World) {
    let audience = OneMemberAudience::create(&world).await;
    let prune = |tx: &mut Tx<'_>| Ok(audiences::prune_members(tx, tx.now(), 100)?);
    world.pass(2 * DAY);
    let pruning = begin(&world, prune).await;
    audience.renew(&world).await;
    assert_eq!(pruning.await.unwrap(), 1);
    audience.match_all(&world).await;
    assert_eq!(audience.matched(&world).await, [audience.fan]);
    // In the other order.
    world.pass(14 * 31 * DAY);
    let (id, key) = (audience.number(), ads::resources::event_audiences::user_key(audience.fan));
    let renewal = begin(&world, move |tx| {
        ads::audience_schedule::lock_audience(tx, id)?;
        let member = audiences::find_key_members(tx, id, &[key])?[0].1;
        let renewed = vec![(member, tx.now(), tx.now().plus_ms(DAY))];
        let changes = audiences::AudienceMemberChanges { renewed, ..Default::default() };
        Ok(audiences::apply_changes(tx, id, &changes)?)
    })
    .await;
    while world.write(prune).await > 0 {}
    renewal.await.unwrap();
    audience.match_all(&world).await;
    assert_eq!(audience.matched(&world).await, [audience.fan]);
}

#[each_engine]
async fn audience_that_changes_while_it_is_measured_waits_behind_others(world: World) {
    let busy = OneMemberAudience::create(&world).await;
    let (first, plan, disclosure) = (busy.number(), MatchingConfig { delay_ms: 0 }, SizeDisclosure::default());
    world.pass(1000);
    let id = busy.shop.make(&world, "A/custom_audiences", &[("name", "Walkers")]).await;
    let second = CUSTOM_AUDIENCE.id_format.parse(&id).unwrap();
    world.pass(1000);
    let due = async || world.store.read(move |tx| Ok(audience_matching::due_audience(tx, plan)?)).await.unwrap();
    world.write(move |tx| ads::audience_schedule::mark_audience_changed(tx, second)).await;
    assert_eq!(due().await, Some(first));
    let measured =
        world.store.read(move |tx| audience_matching::measure_audience(tx, first, &disclosure)).await.unwrap();
    let save = move |tx: &mut Tx<'_>| {
        let key = ads::resources::event_audiences::user_key(busy.fan);
        let member = audiences::find_key_members(tx, first, &[key])?[0].1;
        audiences::mark_members_pending(tx, first, &BTreeSet::from([member]))?;
        audience_matching::save_measurement(tx, first, measured, (plan, &disclosure))
    };
    world.pass(1000);
    world.write(save).await;
    assert_eq!(due().await, Some(second));
}
