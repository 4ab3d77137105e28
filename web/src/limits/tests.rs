use std::sync::atomic::{AtomicU32, Ordering};

use base::Time;

use super::{Counter, DAY, Limiter, Mode, Pool, Quota, SHARDS};
use crate::endpoint::{Shared, Window, day, quarter};

const ME: Pool = Pool::User(1, 2);

fn at(seconds: i64) -> Time {
    Time::from_ms(seconds * 1000 + 250)
}

#[test]
fn a_window_starts_with_its_first_call() {
    let limiter = Limiter::new(Mode::Table, 1024);
    let windows = [quarter(2)];
    let call = |seconds| limiter.count(ME, 0, &windows, at(seconds));
    assert_eq!(call(1_000).shown.unwrap().remaining, 1);
    assert!(call(1_800).allowed);
    let refused = call(1_899);
    assert!(!refused.allowed);
    assert_eq!(refused.shown.unwrap().remaining, 0);
    let reset = refused.shown.unwrap().reset;
    assert_eq!(reset, 1_901);
    assert!(
        !limiter
            .count(ME, 0, &windows, Time::from_ms(1_900_249))
            .allowed
    );
    assert!(
        limiter
            .count(ME, 0, &windows, Time::from_seconds(reset))
            .allowed
    );
}

#[test]
fn nothing_is_counted_where_one_window_is_used_up() {
    let limiter = Limiter::new(Mode::Table, 1024);
    let windows = [
        Window {
            calls: 1,
            seconds: 1,
        },
        quarter(3),
        day(100),
    ];
    let mut allowed = 0;
    for tenth in 0..25 {
        let now = Time::from_ms(1_000_000 + tenth * 100);
        allowed += u32::from(limiter.count(ME, 0, &windows, now).allowed);
    }
    assert_eq!(allowed, 3);
    let now = Time::from_ms(1_005_000);
    let refused = limiter.count(ME, 0, &windows, now);
    assert!(!refused.allowed);
    assert_eq!(refused.shown.unwrap().limit, 3);
    assert_eq!(refused.day.unwrap().remaining, 97);
    assert_eq!(refused.day.unwrap().reset, 1_000 + i64::from(DAY));
}

#[test]
fn pools_do_not_drain_each_other() {
    let limiter = Limiter::new(Mode::Table, 1024);
    let windows = [quarter(1)];
    let pools = [ME, Pool::User(1, 3), Pool::User(2, 2), Pool::App(1)];
    for pool in pools {
        assert!(limiter.count(pool, 0, &windows, at(1)).allowed);
        assert!(limiter.count(pool, 1, &windows, at(1)).allowed);
        assert!(!limiter.count(pool, 0, &windows, at(1)).allowed);
    }
}

#[test]
fn a_race_lets_exactly_the_limit_through() {
    let limiter = Limiter::new(Mode::Table, 1024);
    let (windows, allowed) = ([quarter(137), day(10_000)], AtomicU32::new(0));
    let ten_calls = || {
        let calls = (0..10).map(|_| limiter.count(ME, 0, &windows, at(5)).allowed);
        let let_through = calls.map(u32::from).sum();
        allowed.fetch_add(let_through, Ordering::Relaxed);
    };
    std::thread::scope(|scope| {
        (0..100).for_each(|_| drop(scope.spawn(ten_calls)));
    });
    assert_eq!(allowed.load(Ordering::Relaxed), 137);
}

#[test]
fn memory_is_bounded() {
    let limiter = Limiter::new(Mode::Table, SHARDS * 64);
    for user in 0..200_000 {
        limiter.count(Pool::User(1, user), 0, &[quarter(1)], at(5));
    }
    assert!(limiter.held() <= SHARDS * 64, "{}", limiter.held());
    for user in 0..1_000 {
        limiter.count(Pool::User(2, user), 0, &[quarter(1)], at(2_000));
    }
    assert!(
        !limiter
            .count(Pool::User(2, 1), 0, &[quarter(1)], at(2_001))
            .allowed
    );
}

#[test]
fn the_mode_scales_or_only_shows() {
    let scaled = Limiter::new(Mode::Scale(3), 1024);
    let allowed = (0..10)
        .filter(|_| scaled.count(ME, 0, &[quarter(2)], at(1)).allowed)
        .count();
    assert_eq!(allowed, 6);
    let off = Limiter::new(Mode::Off, 1024);
    for _ in 0..10 {
        let figures = off.count(ME, 0, &[quarter(2)], at(1)).shown.unwrap();
        assert_eq!((figures.limit, figures.remaining), (2, 2));
    }
    assert_eq!(off.held(), 0);
}

#[test]
fn a_clock_set_back_does_not_freeze_a_window() {
    let limiter = Limiter::new(Mode::Table, 1024);
    assert!(limiter.count(ME, 0, &[quarter(1)], at(100_000)).allowed);
    assert!(limiter.count(ME, 0, &[quarter(1)], at(50_000)).allowed);
}

#[test]
fn operations_draw_from_one_window() {
    static THREE: Shared = Shared {
        name: "three",
        window: Window {
            calls: 3,
            seconds: 10_800,
        },
    };
    let limiter = Limiter::new(Mode::Table, 1024);
    let call = |pool, operation, seconds| {
        let windows = &[quarter(2)][..];
        let shared = Some(&THREE);
        limiter.count(pool, operation, Quota { windows, shared }, at(seconds))
    };
    assert!(call(ME, 0, 1).allowed && call(ME, 0, 2).allowed);
    // What the operation's own window refuses is not taken from the other.
    assert_eq!(call(ME, 0, 3).shown.unwrap().limit, 2);
    assert_eq!(call(ME, 1, 4).shown.unwrap().remaining, 1);
    let refused = call(ME, 1, 5);
    assert!(!refused.allowed);
    let shown = refused.shown.unwrap();
    assert_eq!((shown.limit, shown.remaining, shown.reset), (3, 0, 10_802));
    assert!(!call(ME, 2, 2_000).allowed);
    assert!(call(Pool::User(1, 3), 1, 6).allowed);
    let counted = limiter.of_app(1, |_, _| &[], at(7));
    let mut shared: Vec<_> = counted.iter().map(|one| (one.counter, one.used)).collect();
    shared.sort_by_key(|(_, used)| *used);
    let three = Counter::Shared(&THREE);
    assert_eq!(shared, [(three, 1), (three, 3)]);
    assert!(call(ME, 2, 10_802).allowed);
}
