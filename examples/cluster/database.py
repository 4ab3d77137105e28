"""Two PostgreSQL servers: one accepts writes, and the other one has every acknowledged write too."""

import os
import secrets
import shutil
import subprocess
import time
from pathlib import Path
from string import Template

CONFIG = Path(__file__).resolve().parent / "config"
BINARIES = Path("/usr/lib/postgresql")
SECONDS_TO_START = 120
NAMES = ("database_a", "database_b")


class DatabaseError(Exception):
    """A command of PostgreSQL failed."""


def binary(name):
    found = sorted(BINARIES.glob(f"*/bin/{name}"), key=lambda path: float(path.parts[-3]))
    if not found:
        raise DatabaseError(f"no {name} under {BINARIES}: install the package postgresql")
    return str(found[-1])


def as_database_user(command):
    """PostgreSQL refuses to run as root; the package created a user."""
    if os.getuid() == 0:
        return ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups", *command]
    return command


class DatabaseServer:
    def __init__(self, folder, name, host, network):
        self.name, self.host, self.network = name, host, network
        self.data, self.socket_dir = folder / name, folder / f"{name}-socket"
        self.log = folder / f"{name}.log"

    def run(self, command, **environment):
        ran = subprocess.run(
            as_database_user(list(map(str, command))),
            cwd=self.data.parent,
            env={**os.environ, **environment},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
        )
        if ran.returncode:
            raise DatabaseError(f"{' '.join(map(str, command))}: {ran.stderr.strip() or ran.stdout.strip()}")
        return ran.stdout.strip()

    def prepare_folders(self):
        for path in (self.data, self.socket_dir):
            path.mkdir(mode=0o700)
        self.log.touch()
        if os.getuid() == 0:
            for path in (self.data, self.socket_dir, self.log):
                shutil.chown(path, "postgres", "postgres")

    def create(self):
        self.prepare_folders()
        self.run([binary("initdb"), "-D", self.data, "-U", "postgres", "-E", "UTF8", "--locale=C", "-A", "trust"])
        self.configure()

    def configure(self):
        names = {"database_host": self.host, "socket_dir": self.socket_dir, "network": self.network}
        for source, target in (("postgresql.conf", "locum.conf"), ("pg_hba.conf", "pg_hba.conf")):
            path = self.data / target
            path.write_text(Template((CONFIG / source).read_text()).substitute(names))
            path.chmod(0o644)
        settings = self.data / "postgresql.conf"
        include = "include 'locum.conf'\n"
        if include not in settings.read_text():
            settings.write_text(settings.read_text() + include)

    def copy_from(self, primary, password):
        """Becomes the standby of a running server, with nothing of what it had before."""
        for path in (self.data, self.socket_dir):
            shutil.rmtree(path, ignore_errors=True)
        self.prepare_folders()
        source = f"host={primary.host} user=replicator application_name={self.name} password={password}"
        self.run([
            binary("pg_basebackup"), "-D", self.data, "-d", source, "-X", "stream", "-R", "--checkpoint=fast",
        ])
        self.configure()

    def start(self):
        self.run([binary("pg_ctl"), "-D", self.data, "-l", self.log, "-w", "-t", SECONDS_TO_START, "start"])

    def stop(self, mode="fast"):
        self.run([binary("pg_ctl"), "-D", self.data, "-m", mode, "-w", "stop"])

    def is_running(self):
        return (self.data / "postmaster.pid").exists()

    def sql(self, statement, database="locum"):
        """The result as text, columns separated by `|`."""
        return self.run([
            binary("psql"), "-h", self.socket_dir, "-U", "postgres", "-d", database, "-qAtX",
            "-v", "ON_ERROR_STOP=1", "-c", statement,
        ])

    def set(self, name, value):
        self.sql(f"ALTER SYSTEM SET {name} = '{value}'", "postgres")
        self.sql("SELECT pg_reload_conf()", "postgres")


class Database:
    """The primary, its synchronous standby, and the URL that nodes use."""

    server_type = DatabaseServer

    def __init__(self, folder, network):
        self.folder = folder
        servers = [
            self.server_type(folder, name, network.database_host(number), network.range)
            for number, name in enumerate(NAMES)
        ]
        self.primary, self.standby = servers
        # Nodes try this one first.
        self.first = self.primary
        self.hosts = ",".join(f"{server.host}:5432" for server in servers)

    def password(self, name):
        path = self.folder / f"{name}.password"
        if not path.exists():
            path.write_text(secrets.token_hex(16))
            path.chmod(0o600)
        return path.read_text()

    def start(self):
        """Creates what does not exist yet. A stopped cluster starts with the roles that it had."""
        if self.standby.data.exists() and not (self.standby.data / "standby.signal").exists():
            self.primary, self.standby = self.standby, self.primary
        is_new = not self.primary.data.exists()
        if is_new:
            self.primary.create()
        self.primary.start()
        if is_new:
            self.create_roles()
        if (self.standby.data / "standby.signal").exists():
            self.standby.start()
            self.await_standby()
        else:
            self.rebuild_standby()

    def create_roles(self):
        self.create_database({"locum": "LOGIN", "replicator": "LOGIN REPLICATION"})

    def create_database(self, roles):
        for name, attributes in roles.items():
            self.primary.sql(f"CREATE ROLE {name} {attributes} PASSWORD '{self.password(name)}'", "postgres")
        self.primary.sql("CREATE DATABASE locum OWNER locum", "postgres")
        url = f"postgres://locum:{self.password('locum')}@{self.hosts}/locum?target_session_attrs=read-write"
        path = self.folder / "database-url"
        path.write_text(url)
        path.chmod(0o600)

    def rebuild_standby(self):
        self.standby.copy_from(self.primary, self.password("replicator"))
        self.standby.start()
        self.await_standby()

    def await_standby(self):
        """From here on a write is acknowledged when both servers have it."""
        self.primary.set("synchronous_standby_names", self.standby.name)
        end = time.monotonic() + SECONDS_TO_START
        while "sync" not in self.primary.sql("SELECT sync_state FROM pg_stat_replication", "postgres").split():
            if time.monotonic() > end:
                raise DatabaseError(f"{self.standby.name} does not follow {self.primary.name}: see {self.standby.log}")
            time.sleep(0.05)

    def promote_standby(self):
        """The standby accepts writes from here on, alone. The old primary must not run."""
        self.standby.set("synchronous_standby_names", "")
        self.standby.sql("SELECT pg_promote(true, 30)", "postgres")
        self.primary, self.standby = self.standby, self.primary

    def stop(self):
        for server in (self.primary, self.standby):
            if server.is_running():
                server.stop("immediate" if server is self.standby else "fast")
