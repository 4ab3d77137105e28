"""A development server as a child process, and its worlds."""

from __future__ import annotations

import functools
import itertools
import json
import os
import pathlib
import selectors
import shutil
import subprocess
import tempfile
import time
import urllib.parse
from collections.abc import Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any

from locum.binary import find_binary
from locum.control import Clock, ControlClient, Faults, Journal, JsonObject, Limits, LocumError, Snapshots

if TYPE_CHECKING:
    from typing_extensions import Self

MAIN_WORLD = "main"
WORLD_FILES = (".jsonl", ".toml")
STOP_SECONDS = 30
SHOWN_LOG_LINES = 20


class World:
    """An isolated world with keys and testing tools of its own."""

    def __init__(self, server: Server, name: str, env: dict[str, str]) -> None:
        self.server = server
        self.name = name
        self.env = env
        self.control = ControlClient(server.control_address, server.control_token, name)
        self.clock = Clock(self.control)
        self.faults = Faults(self.control)
        self.journal = Journal(self.control)
        self.limits = Limits(self.control)
        self.snapshots = Snapshots(self.control)
        self._is_closed = False

    @property
    def url(self) -> str:
        """The API's base URL. All worlds of a server share it: the keys select the world."""
        return self.env["LOCUM_BASE_URL"]

    @property
    def ads_url(self) -> str:
        return self.env["LOCUM_ADS_URL"]

    @property
    def ads_sandbox_url(self) -> str:
        return self.env["LOCUM_ADS_SANDBOX_URL"]

    def reset(self) -> None:
        """Returns to the seed: the same ids, keys and tokens as after the creation."""
        self.control.request("POST", "/reset")

    def run_command(self, *arguments: str) -> Any:
        """The output of a `locum` command on this world, such as `run_command("user", "show", "@ada")`."""
        return self.server._run_command(*arguments, world=self.name)

    def process_env(self) -> dict[str, str]:
        """Variables for a child process: the keys, and what leads its requests to the public hosts to this server, as
        a proxy."""
        return {**self.server._proxy_variables, **self.env}

    def close(self) -> None:
        """Removes the world with everything in it."""
        if not self._is_closed:
            self._is_closed = True
            self.server._remove_world(self.name)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class Server:
    """`locum dev` on free ports. It ends with `close()`, and when this process ends, however that happens.

    Without `data_dir`, its data is in a temporary folder that is removed at the end. `world` is the main world: `demo`,
    `ads`, `empty` or a world file. `clock` is `live`, `frozen` or a time. `timeout` is in seconds, until the server is
    ready. `arguments` are further arguments of `locum dev`.
    """

    def __init__(
        self,
        *,
        world: str | os.PathLike[str] = "demo",
        seed: int | None = None,
        clock: str = "live",
        data_dir: str | os.PathLike[str] | None = None,
        binary: str | None = None,
        timeout: float = 60,
        arguments: Sequence[str] = (),
    ) -> None:
        self.binary = binary or find_binary()
        self._is_temporary = data_dir is None
        self.data_dir = pathlib.Path(os.path.abspath(data_dir or tempfile.mkdtemp(prefix="locum-")))
        self._numbers = itertools.count(1)
        try:
            self._process = self._start(world_source(world), seed, clock, arguments)
        except BaseException as error:
            self._remove_temporary_data()
            if isinstance(error, OSError):
                raise LocumError(f"the server cannot be started: {error}") from error
            raise
        try:
            banner = self._wait_until_ready(timeout)
            self.control_address: str = banner["control"]
            self.control_token = (self.data_dir / "control.token").read_text().strip()
            self.emulated_hosts: frozenset[str] = frozenset(banner["emulated_hosts"])
            self._main = World(self, MAIN_WORLD, self._find_keys())
        except BaseException:
            self.close()
            raise

    def _start(self, world: str, seed: int | None, clock: str, arguments: Sequence[str]) -> subprocess.Popen[bytes]:
        command = [self.binary, "dev", "--json", "--until-eof", "--port", "0", "--control-port", "0"]
        command += ["--ads-sandbox-port", "0", "--data-dir", str(self.data_dir), "--world", world, "--clock", clock]
        if seed is not None:
            command += ["--seed", str(seed)]
        if self._is_temporary:
            command += ["--remove-data", "--db", "sqlite"]
        self.data_dir.mkdir(parents=True, exist_ok=True)
        with open(self.data_dir / "run.log", "wb") as log:
            # Its input is closed however this process ends. Ctrl-C is for the tests, which may still send requests.
            return subprocess.Popen(
                [*command, *arguments],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                start_new_session=True,
            )

    def _wait_until_ready(self, timeout: float) -> JsonObject:
        """What the server writes to its output once it is ready."""
        output = self._process.stdout
        assert output is not None
        text, end = b"", time.monotonic() + timeout
        with selectors.DefaultSelector() as selector:
            selector.register(output, selectors.EVENT_READ)
            while not text.endswith(b"\n}\n"):
                remaining = end - time.monotonic()
                if remaining <= 0 or not selector.select(remaining):
                    raise LocumError(f"the server is not ready after {timeout} s:\n{self._end_of_log()}")
                part = os.read(output.fileno(), 65536)
                if not part:
                    raise LocumError(f"the server did not start:\n{self._end_of_log()}")
                text += part
        banner: JsonObject = json.loads(text)
        return banner

    def _end_of_log(self) -> str:
        lines = (self.data_dir / "run.log").read_text(errors="replace").splitlines()
        return "\n".join(lines[-SHOWN_LOG_LINES:])

    def _find_keys(self) -> dict[str, str]:
        control = ControlClient(self.control_address, self.control_token)
        keys: dict[str, str] = control.request("GET", f"/worlds/{MAIN_WORLD}/keys")["variables"]
        return keys

    @property
    def url(self) -> str:
        return self._main.url

    @property
    def ads_url(self) -> str:
        return self._main.ads_url

    @property
    def ads_sandbox_url(self) -> str:
        return self._main.ads_sandbox_url

    @property
    def env(self) -> dict[str, str]:
        """The addresses, and the keys of the main world: the lines of `dev.env`."""
        return self._main.env

    @property
    def ca_file(self) -> pathlib.Path:
        """The certificate of the authority of the server's certificates (PEM)."""
        return self.data_dir / "ca" / "ca.pem"

    @property
    def main(self) -> World:
        return self._main

    def world(self, name: str | None = None, source: str | os.PathLike[str] = "demo") -> World:
        """Creates a world, by default with a name that this server has not had. `source` is `demo`, `ads`, `empty`, a
        world file or the name of a snapshot."""
        while True:
            chosen = name or f"world-{next(self._numbers)}"
            try:
                created = self._main.control.request("POST", "/worlds", {"name": chosen, "from": world_source(source)})
            except LocumError as error:
                # A kept data directory has the worlds of a server that was killed.
                if name or error.status != 409:
                    raise
            else:
                return World(self, chosen, created["variables"])

    def close(self) -> None:
        """Stops the server; removes its data if it is in a temporary folder."""
        # A forked child of this process may keep the input open.
        if self._is_temporary:
            self._process.kill()
        else:
            self._process.terminate()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe:
                pipe.close()
        try:
            self._process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._remove_temporary_data()

    def _remove_temporary_data(self) -> None:
        if self._is_temporary:
            shutil.rmtree(self.data_dir, ignore_errors=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _remove_world(self, name: str) -> None:
        # The worlds of a server that has ended are gone.
        if self._process.poll() is None:
            self._main.control.request("DELETE", f"/worlds/{urllib.parse.quote(name, safe='')}")

    def _run_command(self, *arguments: str, world: str) -> Any:
        place = ["--json", "--data-dir", str(self.data_dir)]
        if world != MAIN_WORLD:
            place += ["--world", world]
        done = subprocess.run([self.binary, *place, *arguments], check=False, capture_output=True, text=True)
        if done.returncode != 0:
            raise LocumError(f"locum {' '.join(arguments)}: {done.stderr.strip()}")
        return json.loads(done.stdout) if done.stdout else None

    @functools.cached_property
    def _proxy_variables(self) -> dict[str, str]:
        variables: dict[str, str] = self._run_command("env", "--intercept", world=MAIN_WORLD)
        # A world may lack some of the main one's keys.
        return {name: value for name, value in variables.items() if name not in self._main.env}


def world_source(source: str | os.PathLike[str]) -> str:
    """The server runs in another directory, or may have been started there."""
    text = os.fspath(source)
    return os.path.abspath(text) if text.endswith(WORLD_FILES) else text
