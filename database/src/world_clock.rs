//! The clock of a development world, kept in its database.

use base::clock::wall_time;
use base::clock_mode::ClockMode;
use base::{Clock, Error, Time};
use tokio::sync::watch;

use crate::{Store, meta};

/// The fact of the database that describes the clock; missing while it is live.
const CLOCK_KEY: &str = "clock";

impl Store {
    /// Reads how the world's clock was set; `newest` is the time of the newest id.
    pub(crate) async fn restore_clock(&self, newest: Time) -> Result<(), Error> {
        let clock = &self.context().clock;
        if matches!(clock, Clock::System) {
            return Ok(());
        }
        let stored = self.read(|tx| Ok(meta::get(tx, CLOCK_KEY)?)).await?;
        let Some(mode) = stored.as_deref().and_then(ClockMode::parse) else {
            return Ok(());
        };
        clock.set_mode(match mode {
            // While no server runs, the time passes as fast as the machine's.
            ClockMode::Scaled { from, wall, factor } => {
                let now = wall_time();
                let passed = now.ms().saturating_sub(wall.ms()).max(0);
                ClockMode::Scaled { from: from.plus_ms(passed).max(newest), wall: now, factor }
            }
            mode => mode,
        });
        Ok(())
    }

    /// Stores how the world's clock runs from here on; background work that waits looks at once for what is due.
    pub async fn set_clock(&self, mode: ClockMode) -> Result<(), Error> {
        self.save_clock(mode).await?;
        self.context().clock.set_mode(mode);
        self.announce_clock();
        Ok(())
    }

    /// Stores what the next start of the server reads, without setting the clock.
    pub async fn save_clock(&self, mode: ClockMode) -> Result<(), Error> {
        self.write(move |tx| Ok(meta::set(tx, CLOCK_KEY, &mode.to_string())?)).await
    }

    /// Stores how far a clock has come that runs at a factor, which a later start or a copy of the database reads.
    pub async fn save_clock_progress(&self) -> Result<(), Error> {
        let (mode, wall) = (self.context().clock.mode(), wall_time());
        match mode {
            ClockMode::Scaled { .. } => self.save_clock(mode.moved_to(mode.time_at(wall), wall)).await,
            _ => Ok(()),
        }
    }

    /// Wakes background work that waits.
    pub fn announce_clock(&self) {
        self.context().clock_changes.send_modify(|changes| *changes += 1);
    }

    /// Changes when the world's clock is set.
    pub fn subscribe_clock(&self) -> watch::Receiver<u64> {
        self.context().clock_changes.subscribe()
    }
}

#[cfg(test)]
mod tests {
    use base::clock_mode::ClockMode;
    use base::{Clock, PostId, Time};
    use tempfile::TempDir;

    use crate::Store;
    use crate::test_stores::{locations, options};

    #[test]
    fn clock_is_as_it_was_set_when_the_world_is_opened_again() {
        let (folder, runtime) = (TempDir::new().unwrap(), tokio::runtime::Runtime::new().unwrap());
        for location in locations(&folder) {
            let open = |clock| {
                let options = crate::StoreOptions { clock, ..options(location.clone(), &folder) };
                runtime.block_on(Store::open(options)).unwrap()
            };
            let at = Time::from_seconds(1_900_000_000);
            let store = open(Clock::with_mode(ClockMode::Live));
            runtime.block_on(store.set_clock(ClockMode::Frozen { at })).unwrap();
            let (first, last) = runtime
                .block_on(store.write(|tx| {
                    let first: PostId = tx.next_id();
                    Ok((first, (0..9_999).map(|_| tx.next_id()).fold(first, PostId::max)))
                }))
                .unwrap();
            assert_eq!((first.created_at(), last.created_at()), (at, at.plus_ms(2)));
            store.close();
            let again = open(Clock::with_mode(ClockMode::Live));
            assert_eq!(again.context().clock.mode(), ClockMode::Frozen { at });
            again.close();
            let production = open(Clock::System);
            assert_eq!(production.context().clock.mode(), ClockMode::Live);
            production.close();
        }
    }
}
