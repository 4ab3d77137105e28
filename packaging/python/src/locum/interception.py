"""Leads clients in this process that name the public hosts to a development server."""

from __future__ import annotations

import contextlib
import dataclasses
import inspect
import itertools
import os
import socket
import ssl
import threading
import urllib.parse
from collections.abc import Iterator
from typing import Any, Callable

from locum.server import Server, World

# Clients prefer the first.
BYPASS_VARIABLES = ("no_proxy", "NO_PROXY")


@contextlib.contextmanager
def intercept(target: Server | World) -> Iterator[None]:
    """While it is entered, connections of this process to the emulated hosts reach the server, over TLS with its own
    certificate authority. Other hosts are not affected. The keys that a client uses select the world. Interceptions of
    several tasks or threads may overlap; with several servers, the one entered last is reached.

    `socket.getaddrinfo` resolves their names to an address that `connect` of a socket replaces by the server's. A
    handshake for such a name uses a context that trusts the servers' authorities and nothing else, also if the client
    made its own context earlier. The client's context stays as it is.
    """
    server = target.server if isinstance(target, World) else target
    added = _interceptions.add(server)
    try:
        yield
    finally:
        _interceptions.remove(added)


@dataclasses.dataclass(frozen=True)
class Target:
    hosts: frozenset[str]
    # What the hosts resolve to. A connection to it that is not intercepted is refused at once.
    placeholder: str
    address: tuple[str | None, int | None]
    context: ssl.SSLContext
    ca_file: str


class Interceptions:
    """The active ones. The process is changed with the first, and restored with the last."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._targets: tuple[Target, ...] = ()
        self._numbers = itertools.count()
        self._changes = contextlib.ExitStack()
        self._bypassed: str | None = None

    def add(self, server: Server) -> Target:
        with self._lock:
            target = self._make_target(server)
            if not self._targets:
                self._change_process()
            self._targets += (target,)
            self._bypass_proxies()
        return target

    def remove(self, target: Target) -> None:
        with self._lock:
            self._targets = tuple(one for one in self._targets if one is not target)
            if self._targets:
                self._bypass_proxies()
            else:
                self._changes.close()

    def _make_target(self, server: Server) -> Target:
        url = urllib.parse.urlsplit(server.url)
        number = next(self._numbers) % 65536
        ca_file = str(server.ca_file)
        context = ssl.create_default_context(cafile=ca_file)
        # A connection may have been opened to another server before this one was added.
        for other in self._targets:
            context.load_verify_locations(cafile=other.ca_file)
        context.set_alpn_protocols(["http/1.1"])
        placeholder = f"127.76.{number // 256}.{number % 256}"
        return Target(server.emulated_hosts, placeholder, (url.hostname, url.port), context, ca_file)

    def _find(self, host: Any) -> Target | None:
        name = normalize_host(host)
        return next((target for target in reversed(self._targets) if name in target.hosts), None)

    def _change_process(self) -> None:
        change = self._changes.enter_context
        change(replaced(socket, "getaddrinfo", self._resolve_to_placeholders(socket.getaddrinfo)))
        for name in ("connect", "connect_ex"):
            change(replaced(socket.socket, name, self._connect_to_servers(getattr(socket.socket, name))))
        for name in ("wrap_socket", "wrap_bio"):
            change(replaced(ssl.SSLContext, name, self._trust_servers(getattr(ssl.SSLContext, name))))
        self._bypassed = os.environ.get("no_proxy") or os.environ.get("NO_PROXY")
        for name in BYPASS_VARIABLES:
            change(kept_variable(name))

    def _bypass_proxies(self) -> None:
        """A proxy that the environment names would resolve the hosts elsewhere."""
        # An asterisk stands for all hosts only if it is alone.
        if self._bypassed == "*":
            return
        hosts = sorted(frozenset().union(*(target.hosts for target in self._targets)))
        for name in BYPASS_VARIABLES:
            os.environ[name] = ",".join([*([self._bypassed] if self._bypassed else []), *hosts])

    def _resolve_to_placeholders(self, resolve: Callable[..., Any]) -> Callable[..., Any]:
        def getaddrinfo(host: Any, port: Any, *args: Any, **kwargs: Any) -> Any:
            target = self._find(host)
            return resolve(target.placeholder if target else host, port, *args, **kwargs)

        return getaddrinfo

    # Some clients take the address alone from what `getaddrinfo` returns, and the port from the URL.
    def _connect_to_servers(self, connect: Callable[..., Any]) -> Callable[..., Any]:
        def connect_to_server(connection: socket.socket, address: Any) -> Any:
            host = address[0] if isinstance(address, tuple) else None
            servers = [target.address for target in self._targets if target.placeholder == host]
            return connect(connection, servers[0] if servers else address)

        return connect_to_server

    def _trust_servers(self, wrap: Callable[..., Any]) -> Callable[..., Any]:
        signature = inspect.signature(wrap)

        def wrap_with_trusted_context(*args: Any, **kwargs: Any) -> Any:
            call = signature.bind(*args, **kwargs)
            if target := self._find(call.arguments.get("server_hostname")):
                call.arguments["self"] = target.context
                # A session belongs to the context in which it began.
                call.arguments.pop("session", None)
            return wrap(*call.args, **call.kwargs)

        return wrap_with_trusted_context


_interceptions = Interceptions()


def normalize_host(host: Any) -> str | None:
    text = host.decode("ascii", "replace") if isinstance(host, bytes) else host
    return text.lower().rstrip(".") if isinstance(text, str) else None


@contextlib.contextmanager
def replaced(owner: Any, name: str, value: Any) -> Iterator[None]:
    is_inherited = name not in vars(owner)
    original = getattr(owner, name)
    setattr(owner, name, value)
    try:
        yield
    finally:
        if is_inherited:
            delattr(owner, name)
        else:
            setattr(owner, name, original)


@contextlib.contextmanager
def kept_variable(name: str) -> Iterator[None]:
    original = os.environ.get(name)
    try:
        yield
    finally:
        if original is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = original
