#!/usr/bin/env python3
"""A cluster on one machine: three nodes, HAProxy, a PostgreSQL primary and its synchronous standby.

    examples/cluster/cluster.py up [--folder DIR] [--namespaces] [--patroni] [--binary FILE]
    examples/cluster/cluster.py stop [--folder DIR]     ends what an interrupted run left behind
    examples/cluster/cluster.py clean [--folder DIR]    the same, and deletes the folder

`up` runs until Ctrl-C; the data is kept for the next start.
"""

import argparse
import http.client
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from string import Template

from database import CONFIG, Database, DatabaseError
from network import Network, NetworkError, may_create_namespaces
from patroni import PatroniDatabase
from process import Process, start_of

ROOT = Path(__file__).resolve().parent.parent.parent
NODES, NODE_PORT, PORT = 3, 8080, 8000
SECONDS_TO_START = 60


class ClusterError(Exception):
    """A part of the cluster does not do what it should."""


def fill_template(name, target, values):
    target.write_text(Template((CONFIG / name).read_text()).substitute(values))


def default_binary():
    folder = Path(os.environ.get("CARGO_TARGET_DIR") or ROOT / "target")
    found = [folder / kind / "locum" for kind in ("release", "debug")]
    return next((path for path in found if path.exists()), found[0])


class Node(Process):
    """A `locum serve` with its own configuration file, data directory and address."""

    def __init__(self, cluster, number):
        super().__init__(cluster.folder, f"node{number}")
        self.cluster, self.number = cluster, number
        self.host = cluster.network.node_host(number)
        self.address = f"{self.host}:{NODE_PORT}"
        self.data_dir = cluster.folder / f"node{number}"
        self.config = cluster.folder / f"node{number}.toml"
        self.binary = cluster.binary

    def configure(self):
        self.data_dir.mkdir(exist_ok=True)
        values = self.cluster.names() | {"number": self.number, "node_host": self.host, "data_dir": self.data_dir}
        fill_template("node.toml", self.config, values)

    def command(self, *arguments, prefix=()):
        """A locum command with the configuration of this node, in its namespace."""
        settings = [word for pair in self.cluster.settings.items() for word in ("--set", "{}={}".format(*pair))]
        namespace = self.cluster.network.prefix(self.number)
        return [*namespace, *prefix, self.binary, *arguments, "--config", self.config, *settings]

    def start(self, prefix=(), environment=None):
        """`prefix` is a program that runs the node, such as faketime."""
        self.spawn(self.command("serve", prefix=prefix), environment)

    def readiness(self, seconds=2):
        """Status and text of /readyz; None if the node does not answer."""
        client = http.client.HTTPConnection(self.address, timeout=seconds)
        try:
            client.request("GET", "/readyz")
            answer = client.getresponse()
            return answer.status, answer.read().decode(errors="replace").strip()
        except OSError:
            return None
        finally:
            client.close()

    def await_ready(self, seconds=SECONDS_TO_START):
        end = time.monotonic() + seconds
        while (answer := self.readiness()) is None or answer[0] != 200:
            if not self.is_running() or time.monotonic() > end:
                raise ClusterError(f"{self.name} is not ready ({answer}): {self.last_lines()}")
            time.sleep(0.05)

    def run(self, *arguments):
        """The JSON output of a locum command, run by this node if it is running."""
        command = list(map(str, self.command(*arguments, "--json")))
        ran = subprocess.run(command, cwd=self.data_dir, stdin=subprocess.DEVNULL, capture_output=True, text=True)
        if not ran.stdout.strip():
            raise ClusterError(f"locum {' '.join(map(str, arguments[:2]))}: {ran.stderr.strip()}")
        return json.loads(ran.stdout)


class Cluster:
    """`settings` are configuration keys of all nodes, beyond node.toml."""

    def __init__(self, folder, binary, has_namespaces=False, settings=None, has_patroni=False):
        self.folder, self.binary, self.settings = Path(folder).resolve(), Path(binary).resolve(), settings or {}
        self.network = Network(has_namespaces, NODES)
        self.folder.mkdir(parents=True, exist_ok=True)
        # The database runs as another user.
        self.folder.chmod(0o755)
        self.database = (PatroniDatabase if has_patroni else Database)(self.folder, self.network)
        self.nodes = [Node(self, number) for number in range(NODES)]
        self.balancer = Process(self.folder, "haproxy")
        self.address = f"{self.network.front_host}:{PORT}"

    def names(self):
        return {"folder": self.folder, "front_host": self.network.front_host, "port": PORT}

    def start(self):
        if not self.binary.exists():
            raise ClusterError(f"{self.binary} does not exist: run `cargo build --release -p locum`")
        self.end_leftovers()
        self.network.create()
        self.database.start()
        (self.folder / "media").mkdir(exist_ok=True)
        self.create_master_key()
        for node in self.nodes:
            node.configure()
        self.start_nodes(self.nodes)
        self.start_balancer()

    @staticmethod
    def start_nodes(nodes):
        for node in nodes:
            node.start()
        for node in nodes:
            node.await_ready()

    def create_master_key(self):
        path = self.folder / "master.key"
        if not path.exists():
            command = [self.binary, "init", "--base-url", f"http://{self.address}", "--master-key", path]
            subprocess.run(list(map(str, command)), check=True, capture_output=True)

    def start_balancer(self):
        servers = "\n".join(f"    server {node.name} {node.address} check" for node in self.nodes)
        config = self.folder / "haproxy.cfg"
        fill_template("haproxy.cfg", config, self.names() | {"servers": servers})
        self.balancer.spawn(["haproxy", "-db", "-f", config])
        client, end = http.client.HTTPConnection(self.address, timeout=5), time.monotonic() + SECONDS_TO_START
        while True:
            with suppress(OSError):
                client.request("GET", "/livez")
                if client.getresponse().read() == b"ok\n":
                    return
            client.close()
            if not self.balancer.is_running() or time.monotonic() > end:
                raise ClusterError(f"HAProxy does not answer: {self.balancer.last_lines()}")
            time.sleep(0.05)

    def end_leftovers(self):
        """Ends the processes of an earlier run in this folder."""
        for note in self.folder.glob("*.pid"):
            pid, started = note.read_text().split()
            if start_of(pid) == started:
                os.kill(int(pid), signal.SIGKILL)
            note.unlink()
        for server in (self.database.primary, self.database.standby):
            if server.is_running():
                with suppress(DatabaseError):
                    server.stop("immediate")
                (server.data / "postmaster.pid").unlink(missing_ok=True)

    def stop(self):
        """Stops everything; keeps the data."""
        self.balancer.stop()
        for node in self.nodes:
            if node.is_running():
                node.signal(signal.SIGTERM)
                node.signal(signal.SIGCONT)
        for node in self.nodes:
            node.stop()
        self.database.stop()
        self.network.remove()


def run_until_interrupted(cluster):
    try:
        cluster.start()
        print(f"balancer   http://{cluster.address}")
        for node in cluster.nodes:
            print(f"{node.name}      http://{node.address}, log {node.log}")
        database = cluster.database
        print(f"primary    {database.primary.host}:5432, standby {database.standby.host}:5432")
        print(f"commands   {cluster.binary} --config {cluster.nodes[0].config} user create ada")
        print("Ctrl-C stops everything and keeps the data.", flush=True)
        signal.pause()
    except KeyboardInterrupt:
        print("stopping")
    finally:
        cluster.stop()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("action", choices=["up", "stop", "clean"])
    parser.add_argument("--folder", type=Path, default=Path("/var/tmp/locum-cluster"), help="default: %(default)s")
    parser.add_argument("--namespaces", action="store_true", help="each node in a network namespace; needs root")
    parser.add_argument("--binary", type=Path, default=default_binary(), help="default: %(default)s")
    parser.add_argument("--patroni", action="store_true", help="the database under Patroni, with etcd")
    options = parser.parse_args()
    if options.namespaces and not may_create_namespaces():
        raise ClusterError("this user or kernel does not allow network namespaces: run as root, or without them")
    # A folder stays what it was created as.
    has_patroni = options.patroni or (options.folder / "etcd").exists()
    cluster = Cluster(options.folder, options.binary, options.namespaces, has_patroni=has_patroni)
    if options.action == "up":
        signal.signal(signal.SIGTERM, signal.default_int_handler)
        run_until_interrupted(cluster)
        return
    cluster.end_leftovers()
    cluster.network.remove()
    if options.action == "clean":
        shutil.rmtree(cluster.folder)


if __name__ == "__main__":
    try:
        main()
    except (ClusterError, DatabaseError, NetworkError) as error:
        sys.exit(f"cluster: {error}")
