//! On a real server, where `LOCUM_TEST_POSTGRES` names one.

use base::Time;
use postgres::{Client, NoTls};
use tempfile::TempDir;

use super::{DAY_MS, PartitionExpiry, create_next_coming, deletion_limit, drop_next_expired};
use crate::test_stores::{locations, options};
use crate::views::HOUR_MS;
use crate::{DatabaseLocation, Store, deliveries, event_log, reads};

const LIMIT: i64 = 100_000;

struct Database {
    runtime: tokio::runtime::Runtime,
    store: Store,
    location: DatabaseLocation,
    _folder: TempDir,
}

impl Database {
    fn open(location: DatabaseLocation, folder: TempDir) -> Self {
        let runtime = tokio::runtime::Runtime::new().unwrap();
        let store = runtime.block_on(Store::open(options(location.clone(), &folder))).unwrap();
        Self { runtime, store, location, _folder: folder }
    }

    fn client(&self) -> Client {
        let DatabaseLocation::Server(url) = &self.location else { panic!("not a server") };
        Client::connect(url, NoTls).unwrap()
    }

    fn numbers(&self, sql: &'static str) -> Vec<i64> {
        self.runtime.block_on(self.store.read(move |tx| Ok(tx.query_rows(sql, &[])?))).unwrap()
    }

    fn execute(&self, sql: String) {
        self.runtime.block_on(self.store.write(move |tx| Ok(tx.execute(&sql, &[])?))).unwrap();
    }

    fn create_coming(&self, now: i64) -> u64 {
        self.store.context().clock.set(Time::from_ms(now));
        let create = || self.store.write(move |tx| Ok(create_next_coming(tx, Time::from_ms(now))?));
        let counts = std::iter::from_fn(|| Some(self.runtime.block_on(create()).unwrap()));
        counts.take_while(|count| *count > 0).sum()
    }

    /// As retention does, of everything before a time.
    fn prune(&self, before: i64) {
        let expiry = PartitionExpiry {
            events_before: Time::from_ms(before),
            deliveries_before: Time::from_ms(before),
            reads_before: before.div_euclid(DAY_MS),
            views_before: before.div_euclid(HOUR_MS),
        };
        let before = Time::from_ms(before);
        let work = move |tx: &mut crate::Tx<'_>| {
            while drop_next_expired(tx, expiry)? > 0 {}
            let before = deletion_limit(tx, before);
            event_log::prune(tx, before, LIMIT)?;
            for webhook in [1, 2] {
                deliveries::prune(tx, webhook, before, webhook == 2, LIMIT)?;
            }
            deliveries::prune_attempts(tx, before, LIMIT)?;
            Ok(reads::prune(tx, expiry.reads_before, 0, LIMIT)?)
        };
        self.runtime.block_on(self.store.write(work)).unwrap();
    }

    fn rows(&self) -> [Vec<i64>; 4] {
        [
            "SELECT seq FROM event ORDER BY seq",
            "SELECT seq FROM delivery ORDER BY seq",
            "SELECT seq FROM delivery_attempt ORDER BY seq",
            "SELECT post_id FROM post_read ORDER BY post_id",
        ]
        .map(|sql| self.numbers(sql))
    }

    fn insert_event(&self, seq: i64, at: i64) {
        self.execute(format!(
            "INSERT INTO event (seq, at, kind, actor_id, subject_id) VALUES ({seq}, {at}, 'a', 1, 1)"
        ));
        self.execute(format!("UPDATE event_sequencer SET last_seq = {seq}"));
    }

    /// A row of each table; the fourth event is the last one of a million.
    fn insert(&self, number: i64, at: i64, webhook: i64, state: i64) {
        let day = at / DAY_MS;
        self.insert_event(number * 250_000 - 1, at);
        for sql in [
            format!(
                "INSERT INTO delivery (seq, webhook_id, event_id, order_key, at, body, state, due_at) \
                 VALUES ({number}, {webhook}, 'e{number}', 1, {at}, '', {state}, {at})"
            ),
            format!(
                "INSERT INTO delivery_attempt (seq, webhook_id, delivery_seq, at, status, took_ms, sent) \
                 VALUES ({number}, {webhook}, {number}, {at}, 200, 1, '')"
            ),
            format!("INSERT INTO post_read (app_id, day, post_id) VALUES (1, {day}, {number})"),
        ] {
            self.execute(sql);
        }
    }

    fn insert_webhooks(&self) {
        for (id, valid) in [(1, 1), (2, 0)] {
            self.execute(format!(
                "INSERT INTO webhook (id, app_id, url, valid, created_at, checked_at, check_due_at) \
                 VALUES ({id}, 1, 'https://h{id}.example', {valid}, 0, 0, 0)"
            ));
        }
    }

    fn close(self) {
        self.store.close();
    }
}

fn server_database() -> Option<Database> {
    let folder = TempDir::new().unwrap();
    let location = locations(&folder).pop().filter(|one| matches!(one, DatabaseLocation::Server(_)))?;
    Some(Database::open(location, folder))
}

fn partitions(client: &mut Client, table: &str) -> Vec<(String, i64)> {
    let sql = format!(
        "SELECT relname::text, (SELECT COUNT(*) FROM {table} WHERE {table}.tableoid = inhrelid) FROM pg_inherits \
         JOIN pg_class ON pg_class.oid = inhrelid WHERE inhparent = '{table}'::regclass ORDER BY 1"
    );
    client.query(&sql, &[]).unwrap().iter().map(|row| (row.get(0), row.get(1))).collect()
}

/// The first partition ends on a day to come of the server's clock.
fn end_of_initial(client: &mut Client) -> i64 {
    let sql = "SELECT substring(pg_get_expr(relpartbound, oid) FROM 'TO \\(''(\\d+)')::bigint FROM pg_class \
               WHERE relname = 'delivery_initial'";
    client.query_one(sql, &[]).unwrap().get(0)
}

#[test]
fn rows_are_stored_by_day_and_without_a_partition_in_the_default_one() {
    let Some(database) = server_database() else { return };
    let mut client = database.client();
    let end = end_of_initial(&mut client);
    let hours = 2 * 3;
    assert_eq!(database.create_coming(end - 3 * DAY_MS), hours, "the first partitions have these days");
    assert_eq!(database.create_coming(end), 9 + hours);
    assert_eq!(database.create_coming(end), 0);
    // Before all, on the last day of the first partition, on two days, and without a partition.
    for (number, at) in
        [(1, 5), (2, end - 1), (3, end), (4, end + DAY_MS - 1), (5, end + DAY_MS), (6, end + 9 * DAY_MS)]
    {
        database.insert(number, at, 1, 0);
    }
    let day = end / DAY_MS;
    for (table, start, width) in [("delivery", end, DAY_MS), ("delivery_attempt", end, DAY_MS), ("post_read", day, 1)] {
        let named = |suffix: String, rows| (format!("{table}_{suffix}"), rows);
        let mut expected = vec![named("default".to_owned(), 1), named("initial".to_owned(), 2)];
        for (offset, rows) in [2, 1, 0].into_iter().enumerate() {
            let start = start + width * i64::try_from(offset).unwrap();
            expected.push(named(start.to_string(), rows));
        }
        expected.sort();
        assert_eq!(partitions(&mut client, table), expected);
    }
    database.insert_event(2_400_000, end);
    assert_eq!(partitions(&mut client, "event"), [("event_default".to_owned(), 1), ("event_initial".to_owned(), 6)]);
    // The default partition has the newest numbers: the next one begins beyond them. It has rows of one of the days.
    assert_eq!(database.create_coming(end + 8 * DAY_MS), 2 + 2 * 3 + hours);
    assert_eq!(partitions(&mut client, "event")[0], ("event_2500000".to_owned(), 0));
    database.insert(7, end + 8 * DAY_MS, 1, 0);
    database.insert_event(2_500_000, end);
    assert_eq!(partitions(&mut client, "event")[0], ("event_2500000".to_owned(), 1));
    assert!(partitions(&mut client, "post_read").contains(&(format!("post_read_{}", day + 10), 0)));
    assert!(partitions(&mut client, "delivery").contains(&(format!("delivery_{}", end + 8 * DAY_MS), 1)));
    database.close();
}

#[test]
fn views_are_stored_by_hour_and_dropped_with_it() {
    let Some(database) = server_database() else { return };
    let mut client = database.client();
    let hour = end_of_initial(&mut client) / HOUR_MS;
    database.create_coming(hour * HOUR_MS);
    for (viewer, offset) in [-1, 0, 1, 1, 9].into_iter().enumerate() {
        let values = format!("({}, 1, {viewer}, 1, 0)", hour + offset);
        database
            .execute(format!("INSERT INTO post_view (hour, post_id, viewer_id, delivered, promoted) VALUES {values}"));
    }
    let named = |offset: i64, rows| (format!("post_view_{}", hour + offset), rows);
    let default = ("post_view_default".to_owned(), 2);
    assert_eq!(partitions(&mut client, "post_view"), [named(0, 1), named(1, 2), named(2, 0), default.clone()]);
    database.prune((hour + 2) * HOUR_MS);
    assert_eq!(partitions(&mut client, "post_view"), [named(2, 0), default]);
    database.close();
}

#[test]
fn retention_leaves_the_same_rows_as_on_sqlite() {
    let folders = [TempDir::new().unwrap(), TempDir::new().unwrap()];
    let databases = locations(&folders[0]).into_iter().zip(folders).map(|(one, folder)| Database::open(one, folder));
    let mut rows = Vec::new();
    for database in databases {
        let is_server = matches!(database.location, DatabaseLocation::Server(_));
        let start = if is_server { end_of_initial(&mut database.client()) } else { 20_700 * DAY_MS };
        database.insert_webhooks();
        for day in 0..6 {
            database.create_coming(start + day * DAY_MS);
            for (hour, webhook, state) in [(1, 1, 1), (2, 2, 0), (3, 1, i64::from(day != 2)), (23, 1, 2)] {
                let number = day * 4 + i64::from(hour > 1) + i64::from(hour > 2) + i64::from(hour > 3) + 1;
                database.insert(number, start + day * DAY_MS + hour * 3_600_000, webhook, state);
            }
        }
        database.execute("INSERT INTO follower (name, seq) VALUES ('slow', 3700000)".to_owned());
        // At midnight, and a day later, when what was kept of a partition is deleted too.
        for day in [3, 4] {
            database.prune(start + day * DAY_MS);
            rows.push(database.rows());
        }
        if is_server {
            let names = partitions(&mut database.client(), "delivery");
            let has = |day: i64| names.iter().any(|(name, _)| *name == format!("delivery_{}", start + day * DAY_MS));
            assert_eq!([0, 1, 2, 3, 4].map(has), [false, false, true, false, true], "{names:?}");
            assert!(!names.contains(&("delivery_initial".to_owned(), 0)), "{names:?}");
        }
        database.close();
    }
    if let [first_on_file, on_file, first_on_server, on_server] = rows.as_slice() {
        // A waiting delivery keeps the expired ones of its day for a day.
        assert_eq!(first_on_file[1], [11, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24]);
        assert_eq!(first_on_server[1], [9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24]);
        assert_eq!(on_file[1], [11, 17, 18, 19, 20, 21, 22, 23, 24]);
        assert_eq!([&first_on_server[2..], &on_server[1..]], [&first_on_file[2..], &on_file[1..]]);
        assert_eq!(first_on_server[0], first_on_file[0]);
        assert_eq!(on_file[0].first(), Some(&3_749_999));
        assert_eq!(on_server[0].first(), Some(&3_249_999), "the first partition with newer entries stays for a day");
    }
}

#[test]
fn scans_read_only_the_partitions_that_they_need() {
    let Some(database) = server_database() else { return };
    let mut client = database.client();
    let end = end_of_initial(&mut client);
    database.create_coming(end);
    database.execute("UPDATE event_sequencer SET last_seq = 1500000".to_owned());
    database.create_coming(end);
    let at = end + DAY_MS;
    for (sql, table, expected) in [
        ("SELECT * FROM event WHERE seq > 2500000 ORDER BY seq LIMIT 9".to_owned(), "event", 3),
        (
            format!(
                "SELECT * FROM delivery WHERE webhook_id = 1 AND at >= {at} AND (at, seq) > ({at}, 5) AND at < {at} + 9"
            ),
            "delivery",
            1,
        ),
        (
            format!("SELECT post_id FROM post_read WHERE post_id = 1 AND app_id = 1 AND day = {}", at / DAY_MS),
            "post_read",
            1,
        ),
    ] {
        let plan = client.query(&format!("EXPLAIN (COSTS OFF) {sql}"), &[]).unwrap();
        let scanned = |line: &String| line.contains("Scan") && line.contains(&format!(" on {table}_"));
        let lines: Vec<String> = plan.iter().map(|row| row.get(0)).collect();
        assert_eq!(lines.iter().filter(|line| scanned(line)).count(), expected, "{lines:#?}");
    }
    database.close();
}

#[test]
fn readers_that_take_long_delay_the_dropping_of_partitions_and_nobody_else() {
    let Some(database) = server_database() else { return };
    let (mut reader, mut client) = (database.client(), database.client());
    let end = end_of_initial(&mut client);
    database.insert(1, end - 1, 1, 1);
    database.create_coming(end);
    database.insert(2, end, 1, 1);
    let mut reading = reader.transaction().unwrap();
    reading.query("SELECT COUNT(*) FROM delivery", &[]).unwrap();
    let before = Time::from_ms(end);
    let expiry = PartitionExpiry {
        events_before: Time::from_ms(0),
        deliveries_before: before,
        reads_before: 0,
        views_before: 0,
    };
    let drop_expired = || database.runtime.block_on(database.store.write(move |tx| Ok(drop_next_expired(tx, expiry)?)));
    assert!(drop_expired().is_err());
    database.insert(3, end, 1, 1);
    reading.commit().unwrap();
    assert_eq!([1, 2, 3].map(|_| drop_expired().unwrap()), [1, 1, 0]);
    assert_eq!(database.rows()[1], [2, 3]);
    database.close();
}
