"""The server's life, worlds, and the testing tools."""

import datetime
import os
import signal
import subprocess
import sys
import tempfile
import textwrap
import time

import pytest
import requests

from locum import LocumError, Server


def read_me(world):
    headers = {"Authorization": f"Bearer {world.env['LOCUM_USER_TOKEN']}"}
    return requests.get(f"{world.url}/2/users/me", headers=headers)


def write_post(world, text):
    headers = {"Authorization": f"Bearer {world.env['LOCUM_USER_TOKEN']}"}
    return requests.post(f"{world.url}/2/tweets", json={"text": text}, headers=headers)


def wait_until(is_true, seconds=20):
    end = time.monotonic() + seconds
    while not is_true():
        assert time.monotonic() < end
        time.sleep(0.02)


def exists(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def test_worlds_are_isolated(locum, locum_server):
    with locum_server.world() as other:
        write_post(locum, "only here")
        locum.journal.expect("POST /2/tweets status=201 count=1")
        other.journal.expect("POST /2/tweets count=0")
        assert read_me(other).ok
    assert read_me(other).status_code == 401


@pytest.mark.locum_world("empty")
def test_clock_moves_as_told(locum):
    frozen = locum.clock.freeze()
    assert locum.clock.show()["mode"] == "frozen"
    before = locum.clock.now()
    assert locum.clock.advance(datetime.timedelta(days=1))["from"] == frozen["to"]
    assert locum.clock.now() - before == datetime.timedelta(days=1)
    target = before + datetime.timedelta(days=3)
    locum.clock.set(target)
    assert locum.clock.now() == target
    locum.clock.scale(60)
    assert locum.clock.show()["factor"] == 60
    locum.clock.live()
    assert locum.clock.show()["factor"] == 1


def test_faults_are_listed_and_removed(locum):
    rule = locum.faults.add("status", status=503, nth=2, route="GET /2/users/me", id="second")
    assert rule == "second"
    assert [read_me(locum).status_code for _ in range(3)] == [200, 503, 200]
    (listed,) = locum.faults.list()
    assert (listed["id"], listed["matched"], listed["applied"]) == ("second", 2, 1)
    locum.faults.remove(rule)
    locum.faults.add("bad-json")
    locum.faults.clear()
    assert locum.faults.list() == []


def test_refusal_has_the_text_of_the_server(locum):
    with pytest.raises(LocumError, match="no-such-effect") as refused:
        locum.faults.add("no-such-effect")
    assert refused.value.status == 400


def test_journal_shows_and_checks_requests(locum):
    write_post(locum, "recorded")
    (entry,) = locum.journal.requests("POST /2/tweets", status=201)
    assert locum.journal.request(entry["id"])["request"]["body"] == {"text": "recorded"}
    with pytest.raises(AssertionError, match="count=2: 1 requests match"):
        locum.journal.expect("POST /2/tweets count=2", timeout=0)
    locum.journal.clear()
    assert locum.journal.requests() == []


def test_snapshot_is_restored(locum):
    name = f"{locum.name}-before"
    locum.snapshots.save(name)
    write_post(locum, "to be undone")
    assert locum.snapshots.diff(name)["tables"]
    locum.snapshots.load(name)
    assert name in [snapshot["name"] for snapshot in locum.snapshots.list()]
    headers = {"Authorization": f"Bearer {locum.env['LOCUM_USER_TOKEN']}"}
    url = f"{locum.url}/2/users/{locum.env['LOCUM_USER_ID']}/tweets"
    assert "to be undone" not in requests.get(url, headers=headers).text
    locum.snapshots.remove(name)


def test_limits_are_exhausted_and_reset(locum):
    locum.limits.exhaust("GET /2/users/me")
    assert read_me(locum).status_code == 429
    locum.limits.reset()
    assert read_me(locum).status_code == 200
    locum.limits.set_mode("off")
    assert locum.limits.show()["mode"] == "off"


def test_commands_act_on_the_world(locum, locum_server):
    locum.run_command("user", "create", "quentin", "--password", "a long secret")
    assert locum.run_command("user", "show", "@quentin")["username"] == "quentin"
    with pytest.raises(LocumError, match="quentin"):
        locum_server.main.run_command("user", "show", "@quentin")


@pytest.mark.locum_world(source="empty")
def test_marker_chooses_the_source_of_the_world(locum):
    assert "LOCUM_USER_TOKEN" not in {**locum.env, **locum.process_env()}


def test_child_process_reaches_the_world(locum):
    program = """
        import os, requests
        headers = {"Authorization": "Bearer " + os.environ["LOCUM_USER_TOKEN"]}
        print(requests.get("https://api.x.com/2/users/me", headers=headers).json()["data"]["id"])
    """
    env = {**os.environ, **locum.process_env()}
    command = [sys.executable, "-c", textwrap.dedent(program)]
    done = subprocess.run(command, check=False, env=env, capture_output=True, text=True)
    assert done.stdout.strip() == locum.env["LOCUM_USER_ID"], done.stderr


def test_data_directory_is_used_again(tmp_path):
    settings = {"data_dir": tmp_path / "data", "clock": "2027-01-31T09:00:00Z", "seed": 7}
    with Server(**settings) as server:
        keys = server.env
        write_post(server, "kept")
        kept = server.world()
    with Server(**settings) as server:
        assert server.main.clock.now().isoformat() == "2027-01-31T09:00:00+00:00"
        assert server.env["LOCUM_API_KEY"] == keys["LOCUM_API_KEY"]
        assert server.world().name != kept.name
    server.close()


def test_world_file_fills_the_main_world(tmp_path, monkeypatch):
    (tmp_path / "world.toml").write_text('[[user]]\nusername = "eve"\n')
    monkeypatch.chdir(tmp_path)
    with Server(world="world.toml") as server:
        assert server.main.run_command("user", "show", "@eve")["username"] == "eve"


def test_server_that_cannot_start_shows_its_log():
    with pytest.raises(LocumError, match="no-such-world"):
        Server(world="no-such-world")


def test_binary_that_is_missing_is_named(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with pytest.raises(LocumError, match="no-such-program"):
        Server(binary="/no-such-program")
    assert list(tmp_path.iterdir()) == []


def test_base_url_of_another_server_is_not_used(monkeypatch):
    monkeypatch.setenv("LOCUM_CORE__BASE_URL", "http://127.0.0.1:9")
    with Server(world="empty") as server:
        assert requests.get(f"{server.url}/livez").ok


def test_server_with_data_is_stopped_while_a_forked_process_lives(tmp_path):
    server = Server(world="empty", data_dir=tmp_path / "data")
    pid = os.fork()
    if pid == 0:
        time.sleep(60)
        os._exit(0)
    try:
        server.close()
        assert server._process.returncode == 0
    finally:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)


def test_world_of_a_server_that_died_is_gone():
    server = Server(world="empty")
    world = server.world()
    server._process.kill()
    wait_until(lambda: not exists(server._process.pid) or server._process.poll() is not None)
    world.close()
    server.close()


def test_expectation_ends_when_the_clock_stands_still(locum, monkeypatch):
    monkeypatch.setattr(time, "monotonic", lambda: 0.0)
    with pytest.raises(AssertionError):
        locum.journal.expect("POST /2/tweets count=1", timeout=0.1)


def test_server_that_is_slow_is_given_up():
    with pytest.raises(LocumError, match="not ready after 0.001 s"):
        Server(timeout=0.001)


def test_server_ends_when_the_test_process_is_killed():
    program = """
        import time
        from locum import Server
        server = Server(world="empty")
        print(server._process.pid, server.data_dir, flush=True)
        time.sleep(600)
    """
    with subprocess.Popen([sys.executable, "-c", textwrap.dedent(program)], stdout=subprocess.PIPE, text=True) as test:
        pid, folder = test.stdout.readline().split()
        assert exists(int(pid))
        test.send_signal(signal.SIGKILL)
    wait_until(lambda: not os.path.exists(folder))
    wait_until(lambda: not exists(int(pid)))
