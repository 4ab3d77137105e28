use std::sync::atomic::{AtomicU32, Ordering};

use base::Time;

use super::{DAY_SECONDS, LimitCounter, RateLimitMode, RateLimitSubject, RateLimiter, RateQuota, SHARDS};
use crate::endpoint::{RateWindow, SharedWindow, per_day, per_quarter_hour};

const ME: RateLimitSubject = RateLimitSubject::User(1, 2);

fn at(seconds: i64) -> Time {
    Time::from_ms(seconds * 1000 + 250)
}

#[test]
fn a_window_starts_with_its_first_call() {
    let limiter = RateLimiter::new(RateLimitMode::Table, 1024);
    let windows = [per_quarter_hour(2)];
    let call = |seconds| limiter.count(ME, 0, &windows, at(seconds));
    assert_eq!(call(1_000).common.unwrap().remaining, 1);
    assert!(call(1_800).allowed);
    let refused = call(1_899);
    assert!(!refused.allowed);
    assert_eq!(refused.common.unwrap().remaining, 0);
    let reset = refused.common.unwrap().reset;
    assert_eq!(reset, 1_901);
    assert!(!limiter.count(ME, 0, &windows, Time::from_ms(1_900_249)).allowed);
    assert!(limiter.count(ME, 0, &windows, Time::from_seconds(reset)).allowed);
}

#[test]
fn nothing_is_counted_where_one_window_is_used_up() {
    let limiter = RateLimiter::new(RateLimitMode::Table, 1024);
    let windows = [RateWindow { calls: 1, seconds: 1 }, per_quarter_hour(3), per_day(100)];
    let mut allowed = 0;
    for tenth in 0..25 {
        let now = Time::from_ms(1_000_000 + tenth * 100);
        allowed += u32::from(limiter.count(ME, 0, &windows, now).allowed);
    }
    assert_eq!(allowed, 3);
    let now = Time::from_ms(1_005_000);
    let refused = limiter.count(ME, 0, &windows, now);
    assert!(!refused.allowed);
    assert_eq!(refused.common.unwrap().limit, 3);
    assert_eq!(refused.day.unwrap().remaining, 97);
    assert_eq!(refused.day.unwrap().reset, 1_000 + i64::from(DAY_SECONDS));
}

#[test]
fn pools_do_not_drain_each_other() {
    let limiter = RateLimiter::new(RateLimitMode::Table, 1024);
    let windows = [per_quarter_hour(1)];
    let pools = [ME, RateLimitSubject::User(1, 3), RateLimitSubject::User(2, 2), RateLimitSubject::App(1)];
    for pool in pools {
        assert!(limiter.count(pool, 0, &windows, at(1)).allowed);
        assert!(limiter.count(pool, 1, &windows, at(1)).allowed);
        assert!(!limiter.count(pool, 0, &windows, at(1)).allowed);
    }
}

#[test]
fn a_race_lets_exactly_the_limit_through() {
    let limiter = RateLimiter::new(RateLimitMode::Table, 1024);
    let (windows, allowed) = ([per_quarter_hour(137), per_day(10_000)], AtomicU32::new(0));
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
    let limiter = RateLimiter::new(RateLimitMode::Table, SHARDS * 64);
    for user in 0..200_000 {
        limiter.count(RateLimitSubject::User(1, user), 0, &[per_quarter_hour(1)], at(5));
    }
    assert!(limiter.tracked_keys() <= SHARDS * 64, "{}", limiter.tracked_keys());
    for user in 0..1_000 {
        limiter.count(RateLimitSubject::User(2, user), 0, &[per_quarter_hour(1)], at(2_000));
    }
    assert!(!limiter.count(RateLimitSubject::User(2, 1), 0, &[per_quarter_hour(1)], at(2_001)).allowed);
}

#[test]
fn the_mode_scales_or_only_shows() {
    let scaled = RateLimiter::new(RateLimitMode::Scale(3), 1024);
    let allowed = (0..10).filter(|_| scaled.count(ME, 0, &[per_quarter_hour(2)], at(1)).allowed).count();
    assert_eq!(allowed, 6);
    let off = RateLimiter::new(RateLimitMode::Off, 1024);
    for _ in 0..10 {
        let figures = off.count(ME, 0, &[per_quarter_hour(2)], at(1)).common.unwrap();
        assert_eq!((figures.limit, figures.remaining), (2, 2));
    }
    assert_eq!(off.tracked_keys(), 0);
}

#[test]
fn a_clock_set_back_does_not_freeze_a_window() {
    let limiter = RateLimiter::new(RateLimitMode::Table, 1024);
    assert!(limiter.count(ME, 0, &[per_quarter_hour(1)], at(100_000)).allowed);
    assert!(limiter.count(ME, 0, &[per_quarter_hour(1)], at(50_000)).allowed);
}

#[test]
fn operations_draw_from_one_window() {
    static THREE: SharedWindow = SharedWindow { name: "three", window: RateWindow { calls: 3, seconds: 10_800 } };
    let limiter = RateLimiter::new(RateLimitMode::Table, 1024);
    let call = |pool, operation, seconds| {
        let windows = &[per_quarter_hour(2)][..];
        let shared = Some(&THREE);
        limiter.count(pool, operation, RateQuota { windows, shared }, at(seconds))
    };
    assert!(call(ME, 0, 1).allowed && call(ME, 0, 2).allowed);
    // What the operation's own window refuses is not taken from the other.
    assert_eq!(call(ME, 0, 3).common.unwrap().limit, 2);
    assert_eq!(call(ME, 1, 4).common.unwrap().remaining, 1);
    let refused = call(ME, 1, 5);
    assert!(!refused.allowed);
    let shown = refused.common.unwrap();
    assert_eq!((shown.limit, shown.remaining, shown.reset), (3, 0, 10_802));
    assert!(!call(ME, 2, 2_000).allowed);
    assert!(call(RateLimitSubject::User(1, 3), 1, 6).allowed);
    let counted = limiter.app_usage(1, |_, _| &[], at(7));
    let mut shared: Vec<_> = counted.iter().map(|one| (one.counter, one.used)).collect();
    shared.sort_by_key(|(_, used)| *used);
    let three = LimitCounter::Shared(&THREE);
    assert_eq!(shared, [(three, 1), (three, 3)]);
    assert!(call(ME, 2, 10_802).allowed);
}
