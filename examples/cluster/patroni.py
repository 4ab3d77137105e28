"""The same two database servers, under Patroni, which promotes the standby by itself."""

import os
import shutil
import time
import urllib.request
from pathlib import Path
from string import Template

from database import CONFIG, Database, DatabaseError, DatabaseServer, as_database_user, binary
from process import Process

SECONDS_TO_START = 90


class PatroniServer(DatabaseServer):
    """A PostgreSQL server that Patroni starts, stops, promotes and rebuilds."""

    def __init__(self, folder, name, host, network):
        super().__init__(folder, name, host, network)
        self.work = folder / f"{name}-patroni"
        self.data = self.work / "data"
        self.patroni = Process(folder, f"{name}-patroni")

    def configure_patroni(self, names):
        for path in (self.work, self.socket_dir):
            path.mkdir(mode=0o700, exist_ok=True)
        values = names | {
            "name": self.name,
            "database_host": self.host,
            "network": self.network,
            "socket_dir": self.socket_dir,
            "data": self.data,
            "bin_dir": Path(binary("postgres")).parent,
            "pgpass": self.work / "pgpass",
            "custom_conf": self.work / "postgresql.conf",
        }
        for source, target in (("postgresql.conf", "postgresql.conf"), ("patroni.yml", "patroni.yml")):
            path = self.work / target
            path.write_text(Template((CONFIG / source).read_text()).substitute(values))
            path.chmod(0o600)
        if os.getuid() == 0:
            for path in (self.work, *self.work.iterdir(), self.socket_dir):
                if path != self.data:
                    shutil.chown(path, "postgres", "postgres")

    def start(self):
        self.patroni.spawn(as_database_user(["/usr/bin/patroni", self.work / "patroni.yml"]))

    def stop(self, mode="fast"):
        """`immediate` ends Patroni and the server as the loss of the machine would."""
        if mode != "immediate":
            # Patroni stops the server, and hands over first if it is the primary.
            self.patroni.stop(60)
        if self.patroni.is_running():
            self.patroni.process.kill()
            self.patroni.process.wait()
        if self.is_running():
            super().stop("immediate")

    def is_primary(self):
        """Whether it accepts writes and Patroni agrees."""
        try:
            with urllib.request.urlopen(f"http://{self.host}:8008/primary", timeout=2):
                # After a restart, Patroni may hold the lock before the server is up.
                return self.sql("SELECT pg_is_in_recovery()", "postgres") == "f"
        except (OSError, DatabaseError):
            return False


class PatroniDatabase(Database):
    """etcd, which knows who is primary, and two servers under Patroni."""

    server_type = PatroniServer

    def __init__(self, folder, network):
        super().__init__(folder, network)
        self.etcd, self.etcd_host = Process(folder, "etcd"), network.database_host(2)

    def start(self):
        is_new = not (self.folder / "database-url").exists()
        self.start_etcd()
        names = {
            "etcd_host": self.etcd_host,
            "superuser_password": self.password("postgres"),
            "replicator_password": self.password("replicator"),
        }
        for server in (self.primary, self.standby):
            server.configure_patroni(names)
            server.start()
            self.await_primary()
        if is_new:
            self.create_roles()
        self.await_standby()

    def start_etcd(self):
        client, peer = f"http://{self.etcd_host}:2379", f"http://{self.etcd_host}:2380"
        self.etcd.spawn([
            "etcd", "--name", "etcd", "--data-dir", self.folder / "etcd", "--logger", "zap", "--log-level", "warn",
            "--listen-client-urls", client, "--advertise-client-urls", client,
            "--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer, "--initial-cluster", f"etcd={peer}",
        ])

    def create_roles(self):
        """Patroni has created the role for replication."""
        self.create_database({"locum": "LOGIN"})

    def await_primary(self):
        """Waits until a server accepts writes, and knows which one it is."""
        end = time.monotonic() + SECONDS_TO_START
        while True:
            for server, other in ((self.primary, self.standby), (self.standby, self.primary)):
                if server.is_primary():
                    self.primary, self.standby = server, other
                    return
            if time.monotonic() > end:
                raise DatabaseError(f"no primary: see {self.primary.patroni.log}")
            time.sleep(0.1)

    def rebuild_standby(self):
        """Patroni rewinds a server that comes back, or copies the primary."""
        if not self.standby.patroni.is_running():
            self.standby.start()
        self.await_standby()

    def await_standby(self):
        end = time.monotonic() + SECONDS_TO_START
        while "sync" not in self.primary.sql("SELECT sync_state FROM pg_stat_replication", "postgres").split():
            if time.monotonic() > end:
                raise DatabaseError(f"{self.standby.name} does not follow: see {self.standby.patroni.log}")
            time.sleep(0.1)

    def stop(self):
        # The standby first, so that nothing is promoted.
        for server in (self.standby, self.primary):
            server.stop()
        self.etcd.stop()
