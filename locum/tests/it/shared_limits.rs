//! Rate limits over several nodes: as many calls as the table says, wherever they arrive.

use std::time::Duration;

use base::clock::monotonic_now;

use crate::harness::{
    DatabaseEngine, REDIS_PASSWORD, RedisServer, TestRequest, TestResponse, TestServer, TestUser, suite_engine,
    wait_until,
};

/// With the published limits; none on SQLite, where a file has one node.
fn start_nodes<const N: usize>() -> Option<[TestServer; N]> {
    start_nodes_with(&[])
}

fn start_nodes_with<const N: usize>(args: &[&str]) -> Option<[TestServer; N]> {
    if suite_engine() != DatabaseEngine::Postgres {
        return None;
    }
    let first = TestServer::start_network(&[&["--set", "limits.rate_limits=table"], args].concat());
    let mut nodes = Vec::new();
    for number in 1..N {
        nodes.push(first.start_another_node(u16::try_from(number).unwrap()));
    }
    nodes.insert(0, first);
    nodes.try_into().ok()
}

fn call(node: &TestServer, user: &TestUser<'_>, path: &str) -> TestResponse {
    node.send(TestRequest::get(path).bearer(&user.token))
}

fn remaining(response: &TestResponse) -> i64 {
    response.header_number("x-rate-limit-remaining")
}

#[test]
fn limit_of_the_table_is_served_exactly_over_three_nodes() {
    let Some(nodes) = start_nodes::<3>() else { return };
    let user = nodes[0].new_user("counter");
    let path = format!("/2/users/{}/muting", user.id);
    let mut last = [15; 3];
    for number in 0..21 {
        let (node, last) = (&nodes[number % 3], &mut last[number % 3]);
        let response = call(node, &user, &path);
        assert_eq!(response.status, if number < 15 { 200 } else { 429 }, "call {number}");
        assert!(remaining(&response) <= *last, "call {number}");
        *last = remaining(&response);
    }
    assert_eq!(last, [0; 3]);

    // Another's calls are their own, and count at once.
    let racer = nodes[0].new_user("racer");
    let path = format!("/2/users/{}/muting", racer.id);
    let calls = |node: &TestServer| (0..8).filter(|_| call(node, &racer, &path).status == 200).count();
    let served: usize = std::thread::scope(|scope| {
        let all: Vec<_> = nodes.iter().map(|node| scope.spawn(|| calls(node))).collect();
        all.into_iter().map(|one| one.join().unwrap()).sum()
    });
    assert_eq!(served, 15);
}

#[test]
fn calls_that_one_node_leased_and_left_are_served_by_another() {
    let Some([first, second]) = start_nodes::<2>() else { return };
    assert_leases_are_shared(&first, &second);
}

fn assert_leases_are_shared(first: &TestServer, second: &TestServer) {
    let user = first.new_user("counter");
    assert_eq!(call(first, &user, "/2/users/me").status, 200);
    let mut served = 1;
    wait_until("all calls are served", || {
        served += i32::from(call(second, &user, "/2/users/me").status == 200);
        served == 75
    });
    for node in [first, second] {
        let refused = call(node, &user, "/2/users/me");
        assert_eq!((refused.status, remaining(&refused)), (429, 0));
    }
}

#[test]
fn node_that_stops_gives_back_what_it_leased() {
    let Some([first, mut second]) = start_nodes::<2>() else { return };
    let user = first.new_user("counter");
    assert_eq!(call(&second, &user, "/2/users/me").status, 200);
    assert_eq!(second.stop().0, Some(0));
    assert_eq!((0..80).filter(|_| call(&first, &user, "/2/users/me").status == 200).count(), 74);
}

#[test]
fn leased_calls_are_given_back_once_the_database_is_there_again() {
    let Some([node]) = start_nodes::<1>() else { return };
    let user = node.new_user("counter");
    let database = node.database();
    assert_eq!(call(&node, &user, "/2/users/me").status, 200);
    database.set_closed(true);
    std::thread::sleep(Duration::from_secs(3));
    database.set_closed(false);
    wait_until("the lease is given back", || database.query_number("SELECT MAX(used) FROM rate_window") == 1);
}

#[test]
fn leased_calls_are_not_credited_to_a_later_window() {
    let Some([node]) = start_nodes::<1>() else { return };
    let user = node.new_user("counter");
    let database = node.database();
    assert_eq!(call(&node, &user, "/2/users/me").status, 200);
    // As another node does once the window has ended.
    let next_window = "UPDATE rate_window SET used = 50, ends_at = ends_at + 900000";
    assert!(database.connect().execute(next_window, &[]).unwrap() > 0);
    std::thread::sleep(Duration::from_secs(3));
    assert_eq!(database.query_number("SELECT COUNT(*) FROM rate_window WHERE used <> 50"), 0);
}

#[test]
fn calls_are_limited_on_each_node_while_they_cannot_be_counted_together() {
    let Some([node]) = start_nodes::<1>() else { return };
    let user = node.new_user("counter");
    let path = format!("/2/users/{}/muting", user.id);
    let lock = node.database().lock_table("rate_window");
    let start = monotonic_now();
    let served = (0..20).filter(|_| call(&node, &user, &path).status == 200).count();
    assert_eq!(served, 15);
    assert!(start.elapsed() < Duration::from_secs(20), "{:?}", start.elapsed());
    drop(lock);
    let other = node.new_user("other");
    wait_until("calls are counted together again", || {
        call(&node, &other, "/2/users/me");
        node.database().query_number("SELECT COUNT(*) FROM rate_window") > 0
    });
}

/// Calls to the nodes in turn, of which this many are allowed.
fn count_allowed(nodes: &[&TestServer], calls: usize) -> usize {
    let user = nodes[0].new_user("counter");
    let path = format!("/2/users/{}/muting", user.id);
    let statuses = (0..calls).map(|number| call(nodes[number % nodes.len()], &user, &path).status);
    let statuses: Vec<u16> = statuses.collect();
    assert!(statuses.iter().all(|status| [200, 429].contains(status)), "{statuses:?}");
    statuses.iter().filter(|status| **status == 200).count()
}

#[test]
fn limits_are_counted_in_redis_and_by_each_node_while_it_is_away() {
    if suite_engine() != DatabaseEngine::Postgres {
        return;
    }
    let Some(mut redis) = RedisServer::start() else { return };
    let url = format!("limits.url={}", redis.url());
    let Some(nodes) = start_nodes_with::<3>(&["--set", &url]) else { return };
    let all: Vec<&TestServer> = nodes.iter().collect();
    assert_eq!(count_allowed(&all, 45), 15);
    assert!(redis.count_keys() > 0);
    assert_eq!(nodes[0].database().query_number("SELECT COUNT(*) FROM rate_window"), 0);
    assert_leases_are_shared(all[0], all[1]);
    assert_eq!(call(all[0], &nodes[0].new_user("leaver"), "/2/users/me").status, 200);
    let for_each_key = |work: &str| {
        let script = format!("local n = 0 for _, key in ipairs(redis.call('KEYS', '*')) do {work} end return n");
        redis.run(&format!("EVAL \"{script}\" 0"))
    };
    for_each_key("redis.call('SET', key, 50, 'PX', 1800000)");
    std::thread::sleep(Duration::from_secs(3));
    let changed = for_each_key("if redis.call('GET', key) ~= '50' then n = n + 1 end");
    assert_eq!(changed, 0, "calls of an earlier window were credited to a later one");

    redis.stop();
    assert_eq!(count_allowed(&[&nodes[0]], 20), 15);
    assert_eq!(count_allowed(&all, 60), 45, "each node counts its own");
    for node in &nodes {
        let log = node.stderr();
        assert_eq!(log.matches("each node counts its own meanwhile").count(), 1, "{log}");
        assert!(!log.contains(REDIS_PASSWORD), "{log}");
    }

    redis.restart();
    let user = nodes[0].new_user("counter");
    for node in &nodes {
        wait_until("the node counts with the others again", || {
            call(node, &user, "/2/users/me");
            node.stderr().contains("calls are counted over all nodes again")
        });
    }
    assert!(redis.count_keys() > 0);
    assert_eq!(count_allowed(&all, 45), 15);
}

#[test]
fn limits_are_counted_over_tls_by_a_server_with_a_trusted_certificate_only() {
    let Some(redis) = RedisServer::start() else { return };
    let url = format!("limits.url={}", redis.tls_url());
    let authority: &str = redis.authority_file().display().to_string().leak();
    for is_trusted in [false, true] {
        let mut server = TestServer::prepare_network(&["--set", "limits.rate_limits=table", "--set", &url]);
        if is_trusted {
            server.set_variable("SSL_CERT_FILE", authority);
        }
        server.restart();
        assert_eq!(count_allowed(&[&server], 20), 15);
        assert_eq!(server.stderr().contains("each node counts its own meanwhile"), !is_trusted, "{}", server.stderr());
        assert_eq!(redis.count_keys() > 0, is_trusted);
    }
}
