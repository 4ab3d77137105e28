"""The server under test: build, fill, start, request and measure."""

import hashlib
import http.client
import json
import os
import select
import shutil
import signal
import subprocess
import sys
import time
from contextlib import contextmanager, suppress
from pathlib import Path
from urllib.parse import urlsplit

import dataset

ROOT = Path(__file__).resolve().parent.parent
TICKS = os.sysconf("SC_CLK_TCK")
# Published limits times a factor that no load reaches; they are still counted.
RATE_LIMITS = "scale=100000"
# Arguments that select the database; none for SQLite.
DATABASE = []
# Seconds that a server may take to start.
START_PATIENCE = 300


class Failed(Exception):
    """An error that invalidates the measurement."""


def run_program(main):
    """Ends the process with the status that `main` returns, or with 1 and the reason."""
    try:
        sys.exit(main())
    except Failed as failed:
        sys.exit(f"{Path(sys.argv[0]).stem}: {failed}")


def say(text):
    print(text, file=sys.stderr, flush=True)


def cache():
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "locum-bench"


# By cargo profile: the folder of its builds.
BUILD_FOLDERS = {"release": "release", "dev": "debug"}


def build(profile="release"):
    """Builds the binary unless it is up to date."""
    command = ["cargo", "build", "--profile", profile, "--quiet", "-p", "locum"]
    subprocess.run(command, cwd=ROOT, check=True)


def binary(profile="release"):
    target = Path(os.environ.get("CARGO_TARGET_DIR") or ROOT / "target")
    path = (ROOT / target / BUILD_FOLDERS[profile] / "locum").resolve()
    if not path.exists():
        raise Failed(f"the {profile} binary does not exist: run without --no-build")
    return path


def environment():
    return {name: value for name, value in os.environ.items() if not name.startswith("LOCUM_")}


def children_cpu():
    """CPU seconds of terminated child processes."""
    times = os.times()
    return times.children_user + times.children_system


def run(binary, folder, *arguments):
    """Runs a locum command on a data directory; returns its JSON output."""
    command = [binary, *map(str, arguments), "--json", "--data-dir", folder, *DATABASE]
    ran = subprocess.run(
        command, cwd=folder, env=environment(), stdin=subprocess.DEVNULL, capture_output=True, text=True
    )
    if ran.returncode != 0:
        what = " ".join(map(str, arguments[:2]))
        raise Failed(f"locum {what} failed: {ran.stdout.strip()} {ran.stderr.strip()}")
    return json.loads(ran.stdout) if ran.stdout.strip() else None


# Data sets and data directories, both cached.


def checksum(*folders):
    """A digest of everything that determines the imported database."""
    digest = hashlib.sha256()
    for folder in folders:
        for path in sorted((ROOT / folder).rglob("*")):
            if path.is_file():
                digest.update(str(path.relative_to(ROOT)).encode())
                digest.update(path.read_bytes())
    return digest.hexdigest()[:12]


def label(size, audience):
    """The cache key of a data set."""
    return f"{size}a{audience}" if audience else f"{size}"


def lines(size, seed, audience=None):
    """The directory of a data set's files."""
    week, kind = dataset.anchor_ms() // dataset.DAY_MS, label(size, audience)
    folder = cache() / f"lines-{kind}-{seed}-{dataset.VERSION}-{week}"
    if (folder / "facts.json").exists():
        return folder
    for old in cache().glob(f"lines-{kind}-*"):
        shutil.rmtree(old)
    say(f"generating {size:,} posts")
    folder.mkdir(parents=True)
    dataset.make(folder, size, seed, audience)
    return folder


def create(binary, folder):
    """An empty data directory: started once and stopped."""
    folder.mkdir(parents=True)
    server = Server(binary, folder)
    server.start()
    server.stop()


def fill(binary, folder, source):
    """Imports a data set into a new data directory; returns elapsed and CPU seconds
    of each file."""
    create(binary, folder)
    took = {}
    for name in ("users", "posts", "follows", "lists"):
        begun, worked = time.monotonic(), children_cpu()
        run(binary, folder, "import", "jsonl", source / f"{name}.jsonl")
        took[name] = time.monotonic() - begun, children_cpu() - worked
        say(f"  {name} in {took[name][0]:.1f} s, {took[name][1]:.1f} s CPU")
    return took


def filled(binary, size, seed, audience=None):
    """A data directory with a data set, and the duration of its import."""
    source = lines(size, seed, audience)
    made_from = checksum("database/migrations", "transfer/src", "archive/src")
    folder = cache() / f"data-{source.name.removeprefix('lines-')}-{made_from}"
    note = folder.with_suffix(".json")
    if note.exists():
        return source, folder, json.loads(note.read_text())
    for old in cache().glob(f"data-{label(size, audience)}-*"):
        shutil.rmtree(old) if old.is_dir() else old.unlink()
    say(f"importing {size:,} posts")
    took = fill(binary, folder, source)
    note.write_text(json.dumps(took))
    return source, folder, took


@contextmanager
def filled_postgres(binary, size, seed):
    """A data set in a new database of the server that LOCUM_TEST_POSTGRES names; its files, a data
    directory and the duration of the import."""
    url = os.environ["LOCUM_TEST_POSTGRES"]
    name, folder = f"bench_{os.getpid()}", cache() / f"postgres-{os.getpid()}"
    psql = ["psql", "-qX", url, "-c"]
    subprocess.run([*psql, f"CREATE DATABASE {name}"], check=True)
    DATABASE[:] = ["--db", f"{url.rsplit('/', 1)[0]}/{name}"]
    try:
        source = lines(size, seed)
        yield source, folder, fill(binary, folder, source)
    finally:
        DATABASE.clear()
        shutil.rmtree(folder, ignore_errors=True)
        subprocess.run([*psql, f"DROP DATABASE {name} WITH (FORCE)"], check=True)


def is_new(folder, since):
    """Whether a data directory was filled since a time."""
    return folder.with_suffix(".json").stat().st_mtime >= since


def timed_fill(binary, source):
    """Repeats the import into a temporary directory; returns its duration."""
    folder = cache() / f"import-{os.getpid()}"
    try:
        return fill(binary, folder, source)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def copy_of(folder):
    """A temporary copy of a data directory, on the same disk."""
    work = cache() / f"work-{os.getpid()}"
    shutil.rmtree(work, ignore_errors=True)
    subprocess.run(["cp", "-a", "--reflink=auto", folder, work], check=True)
    try:
        yield work
    finally:
        shutil.rmtree(work, ignore_errors=True)


def forget(*paths):
    """Drops these files from the system's file cache."""
    for path in paths:
        if path.exists():
            with open(path, "rb") as file:
                os.fsync(file.fileno())
                os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


class Server:
    """A server process on a data directory, with its own port."""

    def __init__(self, binary, folder, more=(), prefix=()):
        self.binary, self.folder, self.more = binary, Path(folder), list(more)
        # A program that runs the server, such as a profiler.
        self.prefix = list(prefix)
        self.process = None
        self.log = self.folder.parent / f"{self.folder.name}.log"

    def start(self):
        """Starts the server and waits until it reports its address."""
        reads, writes = os.pipe()
        command = [*self.prefix, self.binary, "dev", "--port", "0", "--control-port", "0"]
        command += ["--world", "empty", "--rate-limits", RATE_LIMITS, "--ready-fd", str(writes)]
        # Production servers have no journal.
        command += ["--set", "journal.size=0", "--data-dir", self.folder, *DATABASE, *self.more]
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(
                command,
                cwd=self.folder,
                env=environment(),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=log,
                pass_fds=[writes],
            )
        os.close(writes)
        with open(reads, encoding="utf-8") as pipe:
            is_ready = select.select([pipe], [], [], START_PATIENCE)[0]
            ready = pipe.readline() if is_ready else ""
        self.url = next((word for word in ready.split() if "://" in word), None)
        if self.url is None:
            if not is_ready:
                self.process.kill()
            code = self.process.wait()
            raise Failed(f"the server exited with {code}: {self.log.read_text()[-2000:]}")
        self.address = urlsplit(self.url).netloc

    def stop(self):
        if self.process is None:
            return
        self.process.send_signal(signal.SIGTERM)
        try:
            code = self.process.wait(30)
        except subprocess.TimeoutExpired:
            self.process.kill()
            code = self.process.wait()
        self.process = None
        if code != 0:
            raise Failed(f"the server exited with {code}: {self.log.read_text()[-2000:]}")
        self.log.unlink(missing_ok=True)

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, kind, *_):
        if kind is None:
            self.stop()
        elif self.process is not None:
            self.process.kill()
            self.process.wait()

    def forget_log(self):
        """Truncates the log, which grows by a line per request."""
        os.truncate(self.log, 0)

    def cpu(self):
        """CPU seconds of the process, user and system."""
        text = Path(f"/proc/{self.process.pid}/stat").read_text()
        fields = text.rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / TICKS

    def fine_cpu(self):
        """CPU seconds of the live threads, with microsecond precision."""
        return sum(int(text.split()[0]) for text in self.of_threads("schedstat")) / 1e9

    def is_running(self):
        """Whether one of its threads runs, or waits for a CPU or a disk."""
        return any(fields.rpartition(")")[2].split()[0] in "RD" for fields in self.of_threads("stat"))

    def of_threads(self, name):
        """A file of each of its threads under /proc."""
        for task in Path(f"/proc/{self.process.pid}/task").iterdir():
            with suppress(FileNotFoundError, ProcessLookupError): # it has just ended
                yield (task / name).read_text()

    def memory(self):
        """Resident memory in megabytes: total, and without file pages."""
        lines = Path(f"/proc/{self.process.pid}/status").read_text().splitlines()
        kilobytes = {line.split(":")[0]: line.split()[1] for line in lines if line.endswith("kB")}
        return int(kilobytes["VmRSS"]) / 1024, int(kilobytes["RssAnon"]) / 1024

    def client(self):
        return http.client.HTTPConnection(self.address, timeout=60)

    def get(self, path, bearer=None, client=None, headers=None):
        """Status, total length and body of a response."""
        headers = dict(headers or {})
        if bearer:
            headers["Authorization"] = f"Bearer {bearer}"
        client = client or self.client()
        client.request("GET", path, headers=headers)
        answer = client.getresponse()
        body = answer.read()
        heads = len(answer.reason) + 15 + sum(len(a) + len(b) + 4 for a, b in answer.getheaders()) + 2
        return answer.status, heads + len(body), body

    def change(self, method, path, bearer, body=None):
        """The data of a successful response to a write request."""
        headers = {"Authorization": f"Bearer {bearer}", "Content-Type": "application/json"}
        client = self.client()
        client.request(method, path, body and json.dumps(body), headers)
        answer = client.getresponse()
        said = answer.read()
        if answer.status >= 300:
            raise Failed(f"{method} {path} returned {answer.status}: {said[:500]!r}")
        return json.loads(said)["data"]

    def ask(self, path, bearer, client=None):
        """The body of a successful response."""
        status, _, body = self.get(path, bearer, client)
        if status != 200:
            raise Failed(f"GET {path} returned {status}: {body[:500]!r}")
        return json.loads(body)
