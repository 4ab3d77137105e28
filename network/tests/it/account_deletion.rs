use network::account_deletion::{self, ErasureTime};

use crate::world::on_each_engine;

#[test]
fn erasure_that_failed_does_not_hold_up_others() {
    on_each_engine(async |world| {
        let (first, second) = (world.user("first").await, world.user("second").await);
        world.write(move |tx| account_deletion::order(tx, None, first, ErasureTime::Now)).await;
        world.pass(1);
        world.write(move |tx| account_deletion::order(tx, None, second, ErasureTime::Now)).await;
        let due = async || world.write(|tx| Ok(account_deletion::find_due(tx)?)).await;
        assert_eq!(due().await, Some(first));
        world.write(move |tx| Ok(account_deletion::postpone(tx, first)?)).await;
        assert_eq!(due().await, Some(second));
        world.pass(3_600_000);
        world.write(move |tx| Ok(account_deletion::postpone(tx, second)?)).await;
        assert_eq!(due().await, Some(first), "it goes on after an hour");
    });
}
