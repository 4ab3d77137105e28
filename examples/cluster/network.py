"""Addresses of a cluster on one machine: loopback addresses, or network namespaces that can be cut off."""

import fcntl
import os
import subprocess
from contextlib import suppress
from pathlib import Path

CLUSTERS = 10
FRONT, DATABASE = "front", "db"


class NetworkError(Exception):
    """Addresses or namespaces cannot be made."""


def ip(*arguments):
    ran = subprocess.run(["ip", *map(str, arguments)], capture_output=True, text=True)
    if ran.returncode:
        raise NetworkError(f"ip {' '.join(map(str, arguments))}: {ran.stderr.strip()}")


def may_create_namespaces():
    """Whether this user and kernel allow network namespaces with bridges."""
    probe = f"locum-{os.getpid()}"
    try:
        ip("netns", "add", probe)
        try:
            ip("link", "add", probe, "type", "bridge")
            ip("link", "del", probe)
        finally:
            ip("netns", "del", probe)
    except (NetworkError, OSError):
        return False
    return True


class Network:
    """A front network for clients and the balancer, and one for the database.

    Several clusters can run on one machine: each takes a free number, and releases it when its process ends.
    """

    def __init__(self, has_namespaces, nodes):
        self.has_namespaces, self.nodes = has_namespaces, nodes
        self.number, self.lock = self.take_number()
        # 198.18.0.0/15 is for tests between networks and in use nowhere else.
        self.base = f"198.18.{2 * self.number}" if has_namespaces else f"127.77.{2 * self.number}"
        self.database_base = f"198.18.{2 * self.number + 1}" if has_namespaces else self.base

    @staticmethod
    def take_number():
        for number in range(CLUSTERS):
            lock = open(f"/tmp/locum-cluster-{os.getuid()}-{number}.lock", "w")
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return number, lock
            except BlockingIOError:
                lock.close()
        raise NetworkError(f"{CLUSTERS} clusters are running")

    @property
    def front_host(self):
        return f"{self.base}.1"

    def node_host(self, number):
        return f"{self.base}.{11 + number}"

    def node_database_host(self, number):
        """The address from which a node reaches the database."""
        return f"{self.database_base}.{11 + number}" if self.has_namespaces else "127.0.0.1"

    def database_host(self, number):
        """Of the two servers, and of etcd."""
        return f"{self.database_base}.{2 + number}"

    @property
    def range(self):
        return f"{self.database_base}.0/24" if self.has_namespaces else "127.0.0.0/8"

    def namespace(self, number):
        return f"locum{self.number}-node{number}"

    def bridge(self, part):
        return f"locum{self.number}-{part}"

    def link(self, part, number):
        """The machine's end of a node's cable."""
        return f"locum{self.number}-{part}{number}"

    def prefix(self, number):
        """What a command of a node begins with."""
        return ["ip", "netns", "exec", self.namespace(number)] if self.has_namespaces else []

    def create(self):
        if not self.has_namespaces:
            return
        self.remove()
        for part, addresses in ((FRONT, [self.front_host]), (DATABASE, [self.database_host(n) for n in range(3)])):
            ip("link", "add", self.bridge(part), "type", "bridge")
            for address in addresses:
                ip("address", "add", f"{address}/24", "dev", self.bridge(part))
            ip("link", "set", self.bridge(part), "up")
        for number in range(self.nodes):
            self.create_node(number)

    def create_node(self, number):
        namespace = self.namespace(number)
        ip("netns", "add", namespace)
        ip("-n", namespace, "link", "set", "lo", "up")
        for part, address in ((FRONT, self.node_host(number)), (DATABASE, self.node_database_host(number))):
            link = self.link(part, number)
            ip("link", "add", link, "type", "veth", "peer", "name", part, "netns", namespace)
            ip("link", "set", link, "master", self.bridge(part), "up")
            ip("-n", namespace, "address", "add", f"{address}/24", "dev", part)
            ip("-n", namespace, "link", "set", part, "up")

    def cut(self, part, number):
        """Unplugs a node from one of the networks; nobody is told."""
        ip("link", "set", self.link(part, number), "down")

    def heal(self, part, number):
        ip("link", "set", self.link(part, number), "up")

    def remove(self):
        """Removes namespaces and bridges, also those of a run that was killed."""
        if not self.has_namespaces:
            return
        for path in Path("/run/netns").glob(f"locum{self.number}-node*"):
            with suppress(NetworkError):
                ip("netns", "del", path.name)
        for part in (FRONT, DATABASE):
            for path in Path("/sys/class/net").glob(f"locum{self.number}-{part}*"):
                with suppress(NetworkError):
                    ip("link", "del", path.name)
