"""The faults: each function does one to a cluster under load, and undoes it."""

import os
import signal
import subprocess
import time
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from cluster_setup import Endpoint
from cluster_trial import LIMIT
from server import Failed

from database import as_database_user, binary
from network import DATABASE, FRONT
from process import Process

FAKETIME = Path("/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1")
# Seconds of load before a fault, and after its end.
BEFORE, AFTER = 3, 4
# How long to look for a moment at which a node is inside a transaction.
FREEZE_ATTEMPTS = 300
SKEW = 300
SCENARIOS = {}


@dataclass
class Scenario:
    name: str
    title: str
    run: object
    # Seconds that the fault lasts, in the long and in the short form; no short form without a second number.
    seconds: tuple
    needs_namespaces: bool = False
    packages: tuple = ()
    # Whether Patroni must not manage the database, or must.
    is_manual: bool = False
    needs_patroni: bool = False
    # Whether nodes start with an earlier version.
    needs_previous: bool = False


def scenario(name, title, *seconds, **more):
    def add(run):
        SCENARIOS[name] = Scenario(name, title, run, seconds, **more)
        return run

    return add


def others(cluster, node):
    return [one for one in cluster.nodes if one is not node]


@contextmanager
def silence(trial, node):
    """A time in which nobody can expect an answer from a node."""
    begin = time.monotonic()
    trial.silences[node.name].append((begin, float("inf")))
    try:
        yield
    finally:
        trial.silences[node.name][-1] = (begin, time.monotonic() + 1)


@scenario("kill", "kill -9 of each node, one after the other", 5, 3)
def kill(trial, seconds):
    for node in trial.cluster.nodes:
        trial.setup.restarted.add(node.name)
        trial.mark_moment()
        node.process.kill()
        node.process.wait()
        first, second = others(trial.cluster, node)
        trial.note_revocation(first, second)
        time.sleep(seconds)
        node.start()
        node.await_ready()
        time.sleep(AFTER)


@scenario("foreign", "a transaction of another program is open on the server", 26, 8)
def foreign(trial, seconds):
    primary = trial.cluster.database.primary
    statements = f"BEGIN; SELECT pg_current_xact_id(); SELECT pg_sleep({seconds}); COMMIT"
    programs = [
        subprocess.Popen(as_database_user([
            binary("psql"), "-h", str(primary.socket_dir), "-U", "postgres", "-d", name, "-qAtX", "-c", statements,
        ]), cwd=primary.data.parent, stdout=subprocess.DEVNULL)
        for name in ("postgres", "locum")
    ]
    sql = "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'psql' AND backend_xid IS NOT NULL"
    end = time.monotonic() + 5
    while int(primary.sql(sql)) < len(programs) and time.monotonic() < end:
        time.sleep(0.02)
    first, second, third = trial.cluster.nodes
    for issuer, checker in ((first, second), (second, third)):
        trial.note_revocation(issuer, checker)
    for program in programs:
        program.wait()


def freeze_inside_transaction(trial, node):
    """Stops a node at a moment at which the database waits for it."""
    address = trial.cluster.network.node_database_host(node.number)
    sql = (
        "SELECT count(*) FROM pg_stat_activity WHERE state = 'idle in transaction'"
        f" AND now() - state_change > interval '25 ms' AND client_addr = '{address}'"
    )
    for _ in range(FREEZE_ATTEMPTS):
        node.signal(signal.SIGSTOP)
        begin = time.monotonic()
        time.sleep(0.03)
        count = int(trial.setup.sql(sql))
        if count:
            trial.moments.append(begin)
            return begin, count
        node.signal(signal.SIGCONT)
        time.sleep(0.05)
    raise Failed(f"{node.name} was never inside a transaction")


@scenario("freeze", "SIGSTOP of a node inside a transaction", 70, 12)
def freeze(trial, seconds):
    node = trial.cluster.nodes[1]
    with silence(trial, node):
        begin, count = freeze_inside_transaction(trial, node)
        trial.record("open_transactions", count)
        first, second = others(trial.cluster, node)
        trial.note_revocation(first, second)
        time.sleep(max(0.0, begin + seconds - time.monotonic()))
        node.signal(signal.SIGCONT)
        trial.mark_moment()
        trial.record("ready_s", trial.setup.await_whole())


@scenario("cut-database", "a node is cut off from the database", 60, needs_namespaces=True)
def cut_database(trial, seconds):
    node, network = trial.cluster.nodes[2], trial.cluster.network
    begin = trial.mark_moment()
    network.cut(DATABASE, node.number)
    first, second = others(trial.cluster, node)
    trial.note_revocation(first, second)
    time.sleep(max(0.0, begin + seconds - time.monotonic()))
    answer = node.readiness()
    trial.check("ready_while_cut", int(answer is not None and answer[0] == 200))
    network.heal(DATABASE, node.number)
    trial.mark_moment()
    # Its streams have nothing to show meanwhile.
    trial.setup.restarted.add(node.name)
    trial.record("ready_s", trial.setup.await_whole())


@scenario("cut-front", "a node is cut off from clients, the balancer and receivers", 60, needs_namespaces=True)
def cut_front(trial, seconds):
    node, network = trial.cluster.nodes[0], trial.cluster.network
    with silence(trial, node):
        begin = trial.mark_moment()
        network.cut(FRONT, node.number)
        first, second = others(trial.cluster, node)
        trial.note_revocation(first, second)
        time.sleep(max(0.0, begin + seconds - time.monotonic()))
        network.heal(FRONT, node.number)
        trial.mark_moment()
        trial.record("ready_s", trial.setup.await_whole())


@scenario("database", "crash of the database, which is back after some seconds", 6, 3, is_manual=True)
def database(trial, seconds):
    primary = trial.cluster.database.primary
    begin = trial.mark_moment()
    primary.stop("immediate")
    time.sleep(seconds)
    primary.start()
    trial.mark_outage(begin)
    trial.mark_moment()
    trial.record("outage_s", trial.outages[-1][1] - begin)
    trial.record("ready_s", trial.setup.await_whole())
    trial.note_revocation(*trial.cluster.nodes[:2])


def lose_primary(trial):
    """The primary is gone, and the standby takes over at once."""
    begin = trial.mark_moment()
    trial.cluster.database.primary.stop("immediate")
    trial.cluster.database.promote_standby()
    trial.mark_outage(begin)
    trial.mark_moment()
    trial.record("outage_s", trial.outages[-1][1] - begin)


@scenario("promote", "the primary is lost, the standby is promoted", 8, is_manual=True)
def promote(trial, seconds):
    lose_primary(trial)
    trial.record("ready_s", trial.setup.await_whole())
    trial.note_revocation(*trial.cluster.nodes[:2])
    time.sleep(seconds)
    trial.cluster.database.rebuild_standby()


def missing_at_home(trial, node):
    """How many of ten new posts the timeline of a follower lacks, after one of a node with a wrong clock."""
    reader, author, other = trial.load.people[:3]
    home = f"/2/users/{reader.id}/timelines/reverse_chronological?max_results=100"
    first, second = (trial.setup.node(one) for one in others(trial.cluster, node))
    first.ask(home, reader.token)
    with suppress(Failed, OSError):
        trial.setup.node(node).change("POST", "/2/tweets", author.token, {"text": f"ahead {time.time()}"})
    first.ask(home, reader.token)
    sent = {
        second.change("POST", "/2/tweets", other.token, {"text": f"at home {number} {time.time()}"})["id"]
        for number in range(10)
    }
    return len(sent - {post["id"] for post in first.ask(home, reader.token)["data"]})


@scenario("clock", "the clock of a node jumps 300 s ahead, then 300 s back", 8, packages=("faketime",))
def clock(trial, seconds):
    node, offset = trial.cluster.nodes[2], trial.cluster.folder / "clock-offset"
    offset.write_text("+0")
    trial.setup.restarted.add(node.name)
    environment = os.environ | {
        "LD_PRELOAD": str(FAKETIME),
        "FAKETIME_TIMESTAMP_FILE": str(offset),
        "FAKETIME_NO_CACHE": "1",
        "FAKETIME_DONT_FAKE_MONOTONIC": "1",
        "DONT_FAKE_MONOTONIC": "1",
    }
    trial.mark_moment()
    node.stop()
    node.start(environment=environment)
    node.await_ready()
    for skew in (SKEW, -SKEW):
        offset.write_text(f"{skew:+}")
        begin = time.monotonic()
        while (answer := node.readiness()) and answer[0] == 200 and time.monotonic() < begin + seconds:
            time.sleep(0.05)
        trial.check(f"noticed_{skew:+}_s", time.monotonic() - begin, LIMIT)
        trial.check(f"missing_at_home_{skew:+}", missing_at_home(trial, node))
        time.sleep(3)
        offset.write_text("+0")
        node.await_ready()
    trial.mark_moment()
    node.stop()
    node.start()
    node.await_ready()


def start_copy(trial, node, data_dir):
    """A second process with the configuration of a node, on another port."""
    copy = Process(trial.cluster.folder, f"{node.name}-copy")
    address = f"{node.host}:8081"
    more = ["--set", f"listen.addr={address}", "--data-dir", data_dir]
    copy.spawn([*node.command("serve"), *more])
    return copy, address


def post_to(trial, address, seconds):
    """Posts to a node that the balancer does not know; returns how many it accepted."""
    accepted, end = 0, time.monotonic() + seconds
    author = trial.load.people[-1]
    while time.monotonic() < end:
        try:
            Endpoint(address).change("POST", "/2/tweets", author.token, {"text": f"by the copy {time.time()}"})
            accepted += 1
        except Failed as failed:
            if " 500: " in str(failed):
                trial.fail(f"the copy: {failed}")
        except OSError:
            pass # it does not listen
        time.sleep(0.05)
    return accepted


def end_sessions(trial, before):
    """Ends the database connections that are older than a moment, as a failover does."""
    sql = "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE usename = 'locum' AND backend_start <"
    trial.setup.sql(f"{sql} '{before}'")


@scenario("duplicate", "a node is started twice: on its data directory, and with its number", 10)
def duplicate(trial, seconds):
    node = trial.cluster.nodes[1]
    copy, _ = start_copy(trial, node, node.data_dir)
    end = time.monotonic() + 10
    while copy.is_running() and time.monotonic() < end:
        time.sleep(0.05)
    trial.check("same_directory_runs", int(copy.is_running()))
    copy.stop()
    trial.check("first_is_lost", int((node.readiness() or [0])[0] != 200))
    folder = trial.cluster.folder / "copy"
    folder.mkdir(exist_ok=True)
    before = trial.setup.sql("SELECT now()")
    copy, address = start_copy(trial, node, folder)
    # The copy waits for the number while its owner loses the connections that prove its ownership.
    for _ in range(4):
        time.sleep(0.5)
        trial.mark_moment()
        end_sessions(trial, before)
    trial.record("posts_by_copy", post_to(trial, address, seconds))
    trial.record("copy_ran", int(copy.is_running()))
    trial.mark_moment()
    copy.stop()
    trial.record("ready_s", trial.setup.await_whole())


def begin_request(trial):
    """A request of which a node has the head and waits for the body."""
    client = Endpoint(trial.cluster.address).client()
    client.putrequest("POST", "/2/tweets")
    for name, value in (
        ("authorization", f"Bearer {trial.load.people[-1].token}"),
        ("content-type", "application/json"),
        ("content-length", "2"),
    ):
        client.putheader(name, value)
    client.endheaders()
    return client


def end_request(client):
    try:
        client.send(b"{}")
        return client.getresponse().status
    except OSError:
        return 0
    finally:
        client.close()


def number_of(trial, node):
    """The number that a node has now, which is part of the ids that it issues: it may have lost its own."""
    author = trial.load.people[-1]
    post = trial.setup.node(node).change("POST", "/2/tweets", author.token, {"text": f"numbered {time.time()}"})
    return int(post["id"]) >> 12 & 0x3FF


@scenario("drain", "a node is taken out of service while it has requests", 4, 2)
def drain(trial, seconds):
    node = trial.cluster.nodes[1]
    # The balancer spreads them over the nodes.
    clients = [begin_request(trial) for _ in range(12)]
    node.run("node", "drain", number_of(trial, node))
    # Until the balancer has seen it twice.
    time.sleep(seconds + 1)
    if (readiness := node.readiness()) != (404, "draining"):
        trial.fail(f"{node.name} is not drained: {readiness}")
    # An empty post is refused by a node; what a balancer cuts off has another status.
    trial.check("cut_requests", sum(end_request(client) != 400 for client in clients))
    trial.setup.restarted.add(node.name)
    if code := node.stop():
        trial.fail(f"{node.name} exited with {code}")
    node.start()
    node.await_ready()
    time.sleep(seconds)


@scenario("rolling", "restart of each node, one after the other", 2, 1)
def rolling(trial, seconds):
    for node in trial.cluster.nodes:
        trial.setup.restarted.add(node.name)
        code = node.stop()
        if code:
            trial.fail(f"{node.name} exited with {code}")
        node.start()
        node.await_ready()
        # Until the balancer has seen it twice.
        time.sleep(seconds + 1)
    first, second, _ = trial.cluster.nodes
    trial.note_revocation(first, second)


@scenario("upgrade", "upgrade of each node, one after the other, and back", 3, needs_previous=True)
def upgrade(trial, seconds):
    (first, second, third), old, new = trial.cluster.nodes, trial.setup.previous, trial.setup.binary
    count = "SELECT count(*) FROM migration"
    trial.record("migrations_before", int(trial.setup.sql(count)))
    # The first one migrates the schema, on which the old version must run, restart and take over again.
    for node, binary in ((first, new), (second, old), (second, new), (third, new), (first, old), (first, new)):
        trial.setup.restarted.add(node.name)
        if code := node.stop():
            trial.fail(f"{node.name} exited with {code}")
        node.binary = binary
        node.start()
        node.await_ready()
        time.sleep(seconds)
    trial.record("migrations_after", int(trial.setup.sql(count)))
    trial.note_revocation(first, second)


@scenario("failover", "the primary is lost, and Patroni promotes the standby", 8, needs_patroni=True)
def failover(trial, seconds):
    pair = trial.cluster.database
    begin = trial.mark_moment()
    lost = pair.primary
    lost.stop("immediate")
    pair.await_primary()
    trial.mark_outage(begin)
    trial.mark_moment()
    trial.record("outage_s", trial.outages[-1][1] - begin)
    trial.record("ready_s", trial.setup.await_whole())
    trial.note_revocation(*trial.cluster.nodes[:2])
    time.sleep(seconds)
    pair.rebuild_standby()


# The last one: what the old primary accepted is lost, and nodes remember it.
@scenario("old-primary", "a lost primary is back, and accepts writes like the new one", 8, is_manual=True)
def old_primary(trial, seconds):
    pair = trial.cluster.database
    if pair.primary is not pair.first:
        lose_primary(trial)
        pair.rebuild_standby()
    lose_primary(trial)
    # Alone, it would accept writes but acknowledge none.
    old = pair.standby
    old.start()
    old.set("synchronous_standby_names", "")
    for node in trial.cluster.nodes[1:]:
        trial.setup.restarted.add(node.name)
        trial.mark_moment()
        node.stop()
        node.start()
    # A node that takes the old primary for the right one is ready too: check_stored finds what it wrote.
    time.sleep(seconds)
    old.stop("immediate")
    trial.record("ready_s", trial.setup.await_whole())
    pair.rebuild_standby()


def run(scenario, trial, is_short):
    """A scenario between healthy load before and after."""
    trial.setup.restarted.clear()
    trial.setup.mint_tokens(4)
    trial.load.resume()
    time.sleep(BEFORE)
    try:
        scenario.run(trial, scenario.seconds[-1 if is_short else 0])
        time.sleep(AFTER)
    finally:
        trial.load.pause()
    trial.conclude()
